package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// databasePrograms are the clients of databases and the tools that migrate
// them.
func databasePrograms(name string) program {
	switch name {
	case "psql", "mysql", "mariadb", "sqlite3", "sqlite", "duckdb", "cockroach", "clickhouse", "clickhouse-client", "sqlcmd", "cqlsh", "usql", "pgcli", "mycli", "snowsql", "trino":
		return program{long: name == "sqlite3" || name == "sqlite" || name == "duckdb", values: sqlValues(name), run: sqlClient}
	case "mongosh", "mongo":
		return program{values: " --eval --host --port -u -p --username --password --authenticationDatabase --file ", run: mongo}
	case "redis-cli", "valkey-cli", "keydb-cli":
		return program{first: true, values: " -h -p -a -n -u -s --user --pass --eval ", run: redis}
	case "dropdb", "dropuser", "mysqladmin":
		return program{values: " -h -p -U -u -W --host --port --username ", run: dropDatabase}
	case "pg_restore", "pg_dump", "pg_dumpall", "mysqldump", "mongodump", "mongorestore", "pg_basebackup":
		return program{values: " -h -p -U -d -f -F -t -n -j -u --host --port --username --dbname --file --format --table --out --uri --db --archive ", run: dumps}
	case "prisma", "drizzle-kit", "knex", "sequelize", "sequelize-cli", "typeorm", "alembic", "rails", "rake", "flyway", "liquibase", "dbmate", "goose", "migrate", "mikro-orm", "atlas", "sqlx", "diesel", "artisan", "symfony", "doctrine", "manage.py", "django-admin", "flask", "payload":
		return program{values: " --schema --config -c --env -e --url -u --path -database -path ", run: migrates}
	}
	return program{}
}

func sqlValues(name string) string {
	switch name {
	case "psql":
		return " -c -f -h -p -U -d -v -o -F -P -R -T -L --command --file --host --port --username --dbname --set --variable --output "
	case "mysql", "mariadb":
		return " -e -h -P -u -D -S --execute --host --port --user --database --socket "
	case "sqlite3", "sqlite", "duckdb":
		return " -cmd -init -separator -c "
	case "sqlcmd":
		return " -Q -q -S -U -P -d -i -o "
	}
	return " -q --query -e --execute -h --host -p --port -u --user -d --database -f --file --queries-file -c --command --password "
}

// sqlClient runs the SQL of its options, its operands (sqlite) and its input.
func sqlClient(c *call) {
	o := c.opts
	c.process()
	code := o.all("-c", "--command", "-e", "--execute", "-q", "--query", "-Q", "-cmd")
	switch c.name {
	case "sqlite3", "sqlite", "duckdb":
		if len(o.operands) > 1 {
			code = append(code, o.operands[1:]...)
		}
		if len(o.operands) > 0 && !o.operand(0).is(":memory:") {
			c.reads(o.operand(0))
		}
	}
	for _, sql := range code {
		c.sql(sql)
	}
	for _, f := range o.all("-f", "--file", "-i", "--queries-file") {
		if text, ok := c.s.written(f); ok {
			c.sql(text)
		} else {
			c.reads(f)
		}
	}
	c.writes("write", o.all("-o", "--output")...)
	if in := c.s.frame.stdin; in != nil && len(code) == 0 {
		c.sql(*in)
	}
}

// sql looks for statements that destroy data.
func (c *call) sql(text arg) {
	what := destructiveSQL(text.text)
	if what == "" || c.name != "psql" && c.opts.operand(0).is(":memory:") { // which is gone when it ends
		c.sqlShell(text)
		return
	}
	c.signal(engine.SignalDatabaseDrop)
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: what, reversible: engine.R5}, word("database"))
	c.sqlShell(text)
}

// sqlShell finds the escapes to a shell of psql and sqlite.
func (c *call) sqlShell(text arg) {
	for _, line := range strings.Split(text.text, "\n") {
		line = strings.TrimSpace(line)
		for _, p := range []string{`\!`, ".shell ", ".system "} {
			if code, ok := strings.CutPrefix(line, p); ok {
				c.child(func() outcome { return c.s.embed(text.with(code), "sql", false) })
			}
		}
	}
}

// destructiveSQL is the verb of the first statement that destroys: DROP and
// TRUNCATE, and DELETE and UPDATE of all rows.
func destructiveSQL(text string) string {
	var st []string
	for _, t := range append(tokenize(text, syntaxSQL), token{kind: tokenPunct, text: ";"}) {
		switch {
		case t.kind == tokenLine:
		case t.kind == tokenPunct && t.text == ";":
			if verb := destructiveStatement(st); verb != "" {
				return verb
			}
			st = nil
		case t.kind == tokenString:
			st = append(st, "'")
		case t.kind != tokenPunct || t.text == "=":
			st = append(st, strings.ToUpper(t.text))
		}
	}
	return ""
}

func destructiveStatement(st []string) string {
	if len(st) < 2 {
		return ""
	}
	for len(st) > 2 && (st[0] == "EXPLAIN" || st[0] == "BEGIN" || st[0] == "WITH") {
		if st[0] == "EXPLAIN" && st[1] != "ANALYZE" {
			return ""
		}
		i := 1
		for i < len(st) && st[i] != "DELETE" && st[i] != "UPDATE" && st[i] != "DROP" && st[i] != "TRUNCATE" {
			i++
		}
		st = st[i:]
		if len(st) < 2 {
			return ""
		}
	}
	switch st[0] {
	case "DROP":
		switch st[1] {
		case "TABLE", "DATABASE", "SCHEMA", "OWNED", "KEYSPACE", "COLLECTION", "TABLESPACE", "MATERIALIZED", "USER", "ROLE", "VIEW", "TYPE", "EXTENSION", "SEQUENCE":
			if st[1] == "VIEW" || st[1] == "MATERIALIZED" || st[1] == "TYPE" || st[1] == "EXTENSION" {
				return ""
			}
			return "drop"
		}
	case "TRUNCATE":
		return "truncate"
	case "DELETE":
		if st[1] == "FROM" && !bounded(st) {
			return "delete"
		}
	case "UPDATE":
		if contains(st, "SET") && !bounded(st) {
			return "update"
		}
	case "ALTER":
		if contains(st, "DROP") && (contains(st, "COLUMN") || contains(st, "PARTITION")) {
			return "alter"
		}
	case "FLUSHALL", "FLUSHDB":
		return "truncate"
	}
	return ""
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// bounded tells whether a statement names the rows that it is about: a WHERE
// that is not 1=1 or true.
func bounded(st []string) bool {
	for i, w := range st {
		if w != "WHERE" {
			continue
		}
		rest := strings.Join(st[i+1:], " ")
		return rest != "1 = 1" && rest != "TRUE" && rest != "1" && rest != "' = '" && rest != ""
	}
	return false
}

// mongo looks for calls that destroy in the code that the client runs.
func mongo(c *call) {
	c.process()
	code := c.opts.all("--eval")
	if in := c.s.frame.stdin; in != nil {
		code = append(code, *in)
	}
	for _, text := range code {
		tokens := tokenize(text.text, syntaxNode)
		for i, t := range tokens {
			if t.kind != tokenName || i+1 >= len(tokens) || tokens[i+1].text != "(" {
				continue
			}
			all := i+3 < len(tokens) && tokens[i+2].text == "{" && tokens[i+3].text == "}"
			switch t.text {
			case "dropDatabase", "drop", "dropCollection", "dropUser", "dropAllUsers", "deleteMany", "remove":
				if (t.text == "deleteMany" || t.text == "remove") && !all {
					continue
				}
				c.signal(engine.SignalDatabaseDrop)
				c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "drop", reversible: engine.R5}, word("database"))
			}
		}
	}
}

func redis(c *call) {
	c.process()
	lines := [][]arg{c.opts.operands}
	if in := c.s.frame.stdin; in != nil {
		for _, l := range strings.Split(in.text, "\n") {
			lines = append(lines, fieldsOf(word(l)))
		}
	}
	for _, l := range lines {
		switch strings.ToUpper(firstOr(l).text) {
		case "FLUSHALL", "FLUSHDB":
			c.signal(engine.SignalDatabaseDrop)
			c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "truncate", reversible: engine.R5}, word("database"))
		case "SHUTDOWN", "DEBUG":
			c.system("stop", word("database"))
		}
	}
}

func dropDatabase(c *call) {
	if c.name == "mysqladmin" && !c.opts.operand(0).is("drop", "shutdown") {
		c.process()
		return
	}
	if c.opts.has("-f", "--force") {
		c.signal(engine.SignalUnconfirmed)
	}
	c.signal(engine.SignalDatabaseDrop)
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "drop", forced: c.opts.has("-f", "--force"), reversible: engine.R5}, word("database"))
}

func dumps(c *call) {
	o := c.opts
	if strings.Contains(c.name, "restore") {
		c.reads(o.operands...)
		if o.has("-c", "--clean", "--drop") {
			c.signal(engine.SignalDatabaseDrop)
			c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "drop", reversible: engine.R5}, word("database"))
		}
		c.process()
		return
	}
	c.writes("write", o.all("-f", "--file", "--out", "--archive")...)
	c.process()
}

// migrates is the tools that change a schema; some throw the data away first.
func migrates(c *call) {
	o := c.opts
	c.subs = subName(o.operand(0))
	if o.has("--force-reset", "--accept-data-loss", "--force", "--yes", "-y") && !o.operand(0).is("generate") {
		c.signal(engine.SignalUnconfirmed)
	}
	if !resetsDatabase(c.name, o) {
		c.process()
		return
	}
	c.signal(engine.SignalDatabaseDrop)
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "drop", forced: o.has("--force", "-f", "--force-reset", "--accept-data-loss"), reversible: engine.R5}, word("database"))
}

func resetsDatabase(name string, o options) bool {
	if o.has("--force-reset", "--accept-data-loss") {
		return true
	}
	for i, a := range o.operands {
		if i > 2 {
			break
		}
		switch a.text {
		case "reset", "fresh", "drop", "clean", "drop-all", "schema:drop", "db:drop", "db:reset", "db:migrate:reset", "db:schema:load", "migrate:fresh", "migrate:reset", "migrate:refresh", "db:wipe", "flush", "reset_db", "db:drop:all", "db:migrate:undo:all", "doctrine:database:drop", "doctrine:schema:drop", "database:drop", "revert-all":
			return a.text != "clean" || name == "flyway"
		case "push":
			return name == "drizzle-kit" && o.has("--force")
		case "downgrade":
			return o.operand(i + 1).is("base")
		case "rollback":
			return o.has("--all")
		}
	}
	return false
}
