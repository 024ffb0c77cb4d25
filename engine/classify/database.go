package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// databasePrograms are the clients of databases and the tools that migrate
// them.
func databasePrograms(name string) program {
	switch name {
	case "psql", "mysql", "mariadb", "sqlite3", "sqlite", "duckdb", "cockroach", "clickhouse", "clickhouse-client", "sqlcmd", "cqlsh", "usql", "pgcli", "mycli", "snowsql", "trino":
		return program{long: name == "sqlite3" || name == "sqlite" || name == "duckdb", values: sqlValues(name), glued: sqlGlued(name), run: sqlClient}
	case "mongosh", "mongo":
		return program{values: " --eval --host --port -u -p --username --password --authenticationDatabase --file ", run: mongo}
	case "redis-cli", "valkey-cli", "keydb-cli":
		return program{first: true, values: " -h -p -a -n -u -s --user --pass --eval ", run: redis}
	case "mysqladmin":
		return program{values: " -h -P -u -S --host --port --user --socket ", glued: " -p ", run: dropDatabase}
	case "dropdb", "dropuser":
		return program{values: " -h -p -U -u -W --host --port --username ", run: dropDatabase}
	case "mysqldump":
		return program{values: " -h -P -u -S -r -T --host --port --user --socket --result-file --tab ", glued: " -p ", run: dumps}
	case "pg_restore", "pg_dump", "pg_dumpall", "mongodump", "mongorestore", "pg_basebackup":
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

// sqlGlued are the options whose value is no word of its own: mysql asks for a
// password where -p has none, and the next word is the database.
func sqlGlued(name string) string {
	switch name {
	case "mysql", "mariadb":
		return " -p "
	}
	return ""
}

// sqlDialects says, of clients, how their addresses begin and what they speak.
func sqlDialect(name string) (scheme, dialect string) {
	switch name {
	case "psql", "pgcli", "cockroach", "pg_restore", "dropdb", "dropuser", "vacuumdb", "yugabyte", "ysqlsh":
		return "postgres", "standard"
	case "mysql", "mariadb", "mycli", "mysqladmin", "mysqlsh", "singlestore":
		return "mysql", "mysql"
	case "sqlite3", "sqlite", "duckdb":
		return "sqlite", "standard"
	case "sqlcmd", "mssql-cli", "tsql":
		return "sqlserver", "standard"
	}
	return strings.Map(lowerLetter, name), ""
}

// lowerLetter keeps what the scheme of a URL may hold.
func lowerLetter(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r
	}
	return -1
}

// opened reads host and name of the database from a client's arguments.
func (c *call) opened() databaseRef {
	o := c.opts
	var d databaseRef
	d.scheme, d.dialect = sqlDialect(c.name)
	if d.scheme == "sqlite" {
		d.name = o.operand(0)
		return d
	}
	d.host, _ = o.get("-h", "--host", "--server")
	d.name, _ = o.get("-d", "--dbname", "--database", "-D")
	switch {
	case d.scheme == "postgres":
		d.host, d.name = c.orVariable(d.host, "PGHOST"), c.orVariable(d.name, "PGDATABASE")
	case d.scheme == "sqlserver":
		d.host, _ = o.get("-S", "--server")
	case d.scheme == "mysql" && o.has("-S", "--socket"):
		d.host = word("localhost")
	}
	for _, a := range append(o.all("--url", "--dsn", "--uri"), d.name, o.operand(0)) {
		if d.address(a) {
			return d
		}
	}
	if d.name.text == "" && !o.has("--file") {
		d.name = o.operand(0)
	}
	return d
}

func (c *call) orVariable(a arg, name string) arg {
	if _, set := c.s.scope.lookup(name); a.text == "" && set {
		return c.s.read(name)
	}
	return a
}

// sqlClient runs the SQL of its options, its operands (sqlite) and its input.
func sqlClient(c *call) {
	o := c.opts
	c.process()
	d := c.opened()
	code := o.all("-c", "--command", "-e", "--execute", "-q", "--query", "-Q", "-cmd")
	if d.scheme == "sqlite" && len(o.operands) > 0 {
		code = append(code, o.operands[1:]...)
		if !d.inMemory() {
			c.reads(o.operand(0))
		}
	}
	given := len(code) > 0
	for _, f := range append(o.all("-f", "--file", "-i", "--queries-file", "-init"), o.all("-r")...) {
		if text, ok := c.sqlFile(f); ok {
			code = append(code, text)
		}
		if !f.is("-") {
			c.reads(f)
		}
	}
	if in := c.s.frame.stdin; in != nil && (!given || len(o.all("-f", "--file")) > 0) {
		code = append(code, *in)
	}
	c.sqlAt(d, joinLines(code))
	c.writes("write", o.all("-o", "--output")...)
}

// sqlFile is the script in a file: of the call itself, or of the disk.
func (c *call) sqlFile(f arg) (arg, bool) {
	code, ok := c.s.codeIn(f, "sql")
	return code.text, ok
}

// joinLines puts pieces of code behind each other: one session runs them all.
func joinLines(code []arg) arg {
	var out arg
	for i, text := range code {
		if i > 0 {
			out = concat(out, word(";\n"))
		}
		out = concat(out, text)
	}
	return out
}

// bareSQL is a statement where a command belongs: whoever wrote it took the
// shell for a client, and the next may really be one. It counts for what it
// would do.
func (c *call) bareSQL() bool {
	first := strings.ToLower(c.path.text)
	changes := slices.Contains([]string{"drop", "truncate", "delete", "update", "grant", "alter"}, first)
	if !changes || len(c.args) == 0 || len(c.opts.list) > 0 {
		return false
	}
	losses := readSQL(joinWords(append([]arg{c.path}, c.args...)).text, "").losses
	for _, l := range losses {
		c.loses(databaseRef{scheme: "sql"}, l.verb, l.object)
	}
	return len(losses) > 0
}

// mongo looks for calls that destroy in the code that the client runs.
func mongo(c *call) {
	c.process()
	d := databaseRef{scheme: "mongodb"}
	d.host, _ = c.opts.get("--host")
	if _, rest, ok := strings.Cut(c.opts.operand(0).text, "://"); ok {
		d.host, d.name = splitAddress(c.opts.operand(0).with(rest))
	} else if !strings.HasSuffix(c.opts.operand(0).text, ".js") {
		d.name = c.opts.operand(0)
	}
	code := c.opts.all("--eval")
	for _, f := range append(c.opts.all("--file"), c.opts.operands...) {
		if text, ok := c.s.written(f); ok {
			code = append(code, text)
		}
	}
	if in := c.s.frame.stdin; in != nil {
		code = append(code, *in)
	}
	for _, text := range code {
		c.mongoCode(d, tokenize(text.text, syntaxNode))
	}
}

func (c *call) mongoCode(d databaseRef, tokens []token) {
	for i, t := range tokens {
		if t.kind != tokenName && t.kind != tokenString || i+1 >= len(tokens) {
			continue
		}
		opens := tokens[i+1].text == "(" || t.kind == tokenString && i+2 < len(tokens) && tokens[i+2].text == "(" // db["drop"](…)
		if !opens {
			continue
		}
		all := i+3 < len(tokens) && (tokens[i+2].text == ")" || tokens[i+2].text == "{" && tokens[i+3].text == "}")
		switch t.text {
		case "dropDatabase":
			c.loses(d, "drop", "database")
		case "drop", "dropCollection":
			c.loses(d, "drop", "collection")
		case "dropUser", "dropAllUsers", "dropRole", "dropAllRoles":
			c.loses(d, "drop", "role")
		case "deleteMany", "remove", "updateMany":
			verb, object := "delete", "rows"
			if all {
				object = "collection"
			}
			if t.text == "updateMany" {
				verb = "update"
			}
			c.loses(d, verb, object)
		case "shutdownServer":
			c.system("stop", word("database"))
		}
	}
}

func redis(c *call) {
	c.process()
	d := databaseRef{scheme: "redis", host: word("127.0.0.1")} // no variable names another
	if h, ok := c.opts.get("-h"); ok {
		d.host = h
	}
	d.name, _ = c.opts.get("-n")
	if u, ok := c.opts.get("-u"); ok {
		_, rest, _ := strings.Cut(u.text, "://")
		d.host, d.name = splitAddress(u.with(rest))
	}
	lines := [][]arg{c.opts.operands}
	if in := c.s.frame.stdin; in != nil {
		for _, l := range strings.Split(in.text, "\n") {
			lines = append(lines, fieldsOf(word(l)))
		}
	}
	for _, l := range lines {
		c.redisCommand(d, l)
	}
}

func (c *call) redisCommand(d databaseRef, words []arg) {
	if len(words) == 0 {
		return
	}
	switch strings.ToUpper(words[0].text) {
	case "FLUSHALL", "FLUSHDB":
		c.loses(d, "truncate", "database")
	case "SWAPDB":
		c.loses(d, "alter", "database")
	case "DEL", "UNLINK":
		c.loses(d, "delete", "rows")
	case "SHUTDOWN", "DEBUG":
		c.system("stop", word("database"))
	case "EVAL":
		if len(words) > 1 && strings.Contains(strings.ToUpper(words[1].text), "FLUSH") {
			c.loses(d, "truncate", "database")
		}
	case "MODULE":
		if len(words) > 2 && strings.EqualFold(words[1].text, "LOAD") {
			c.loses(d, "exec", "code")
		}
	case "CONFIG": // where the dump lands is how a key becomes a file of anybody's
		if len(words) > 3 && strings.EqualFold(words[1].text, "SET") && (strings.EqualFold(words[2].text, "dir") || strings.EqualFold(words[2].text, "dbfilename")) {
			c.loses(d, "exec", "code")
		}
	}
}

func dropDatabase(c *call) {
	d := c.opened()
	object := "database"
	if c.name == "dropuser" {
		object = "role"
	}
	if c.name == "mysqladmin" {
		sub := c.opts.operand(0)
		if d.name = c.opts.operand(1); !sub.is("drop", "shutdown") {
			c.process()
			return
		}
		if sub.is("shutdown") {
			object = "server"
		}
	}
	if c.opts.has("-f", "--force") {
		c.signal(engine.SignalUnconfirmed)
	}
	verb := "drop"
	if object == "server" {
		verb = "stop"
	}
	c.loses(d, verb, object)
}

func dumps(c *call) {
	o := c.opts
	if strings.Contains(c.name, "restore") {
		c.reads(o.operands...)
		if o.has("-c", "--clean", "--drop") {
			d := c.opened()
			d.name, _ = o.get("-d", "--dbname", "--db")
			c.loses(d, "restore", "database")
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
	if resetsDatabase(c.name, o) {
		c.resets(o.has("--force-reset", "--accept-data-loss", "--force", "-f"))
		return
	}
	c.process()
}

// resets is a database that is built anew; forced where the command says that
// the loss of its data is accepted.
func (c *call) resets(forced bool) {
	c.signal(engine.SignalDatabaseDrop)
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "reset", object: "database", forced: forced, reversible: engine.R5}, c.configured().target())
}

// configured is the database of a project's own configuration: all that is
// known of it is the environment.
func (c *call) configured() databaseRef {
	d := databaseRef{scheme: "config"}
	d.name, _ = c.opts.get("--env", "-e", "--environment")
	for _, name := range []string{"RAILS_ENV", "RACK_ENV", "NODE_ENV", "APP_ENV", "DJANGO_ENV", "FLASK_ENV", "MIX_ENV", "DATABASE_URL"} {
		d.name = c.orVariable(d.name, name)
	}
	if _, rest, ok := strings.Cut(d.name.text, "://"); ok {
		d.host, d.name = splitAddress(d.name.with(rest))
	}
	return d
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
