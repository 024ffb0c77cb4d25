package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/sql"
)

// dialectOf is what SQL the clients of a scheme speak; empty: it is not known.
func dialectOf(scheme string) string {
	switch scheme {
	case "postgres", "sqlite", "sqlserver":
		return "standard"
	case "mysql":
		return "mysql"
	}
	return ""
}

// lowerLetter keeps what the scheme of a URL may hold.
func lowerLetter(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r
	}
	return -1
}

// opened reads host and name of the database from a client's arguments.
func opened(c *shell.Call) shell.Database {
	o := c.Opts
	var d shell.Database
	d.Scheme = strings.Map(lowerLetter, c.Service.Text)
	d.Dialect = dialectOf(d.Scheme)
	if d.Scheme == "sqlite" {
		d.Name = o.Operand(0)
		return d
	}
	d.Host, _ = o.Get("-h", "--host", "--server")
	d.Name, _ = o.Get("-d", "--dbname", "--database", "-D")
	switch {
	case d.Scheme == "postgres":
		d.Host, d.Name = orVariable(c, d.Host, "PGHOST"), orVariable(c, d.Name, "PGDATABASE")
	case d.Scheme == "sqlserver":
		d.Host, _ = o.Get("-S", "--server")
	case d.Scheme == "mysql" && o.Has("-S", "--socket"):
		d.Host = abstract.Word("localhost")
	}
	for _, a := range append(o.All("--url", "--dsn", "--uri"), d.Name, o.Operand(0)) {
		if d.Address(a) {
			return d
		}
	}
	if d.Name.Text == "" && !o.Has("--file") {
		d.Name = o.Operand(0)
	}
	return d
}

func orVariable(c *shell.Call, a abstract.Arg, name string) abstract.Arg {
	if _, set := c.Shell.Scope.Lookup(name); a.Text == "" && set {
		return c.Shell.Read(name)
	}
	return a
}

// sqlClient runs the SQL of its options, its operands (sqlite) and its input.
func sqlClient(c *shell.Call) {
	o := c.Opts
	c.Process()
	d := opened(c)
	code := o.All("-c", "--command", "-e", "--execute", "-q", "--query", "-Q", "-cmd")
	if d.Scheme == "sqlite" && len(o.Operands) > 0 {
		code = append(code, o.Operands[1:]...)
		if !d.InMemory() {
			c.Reads(o.Operand(0))
		}
	}
	given := len(code) > 0
	for _, f := range append(o.All("-f", "--file", "-i", "--queries-file", "-init"), o.All("-r")...) {
		if text, ok := sqlFile(c, f); ok {
			code = append(code, text)
		}
		if !f.Is("-") {
			c.Reads(f)
		}
	}
	if in := c.Shell.Frame.Stdin; in != nil && (!given || len(o.All("-f", "--file")) > 0) {
		code = append(code, *in)
	}
	c.SqlAt(d, joinLines(code))
	c.Writes("write", o.All("-o", "--output")...)
}

// sqlFile is the script in a file: of the call itself, or of the disk.
func sqlFile(c *shell.Call, f abstract.Arg) (abstract.Arg, bool) {
	code, ok := c.Shell.CodeIn(f, "sql")
	return code.Text, ok
}

// joinLines puts pieces of code behind each other: one session runs them all.
func joinLines(code []abstract.Arg) abstract.Arg {
	var out abstract.Arg
	for i, text := range code {
		if i > 0 {
			out = abstract.Concat(out, abstract.Word(";\n"))
		}
		out = abstract.Concat(out, text)
	}
	return out
}

// bareSQL is a statement where a command belongs: whoever wrote it took the
// shell for a client, and the next may really be one. It counts for what it
// would do.
func bareSQL(c *shell.Call) bool {
	first := strings.ToLower(c.Path.Text)
	changes := slices.Contains([]string{"drop", "truncate", "delete", "update", "grant", "alter"}, first)
	if !changes || len(c.Args) == 0 || len(c.Opts.List) > 0 {
		return false
	}
	losses := sql.Read(shell.JoinWords(append([]abstract.Arg{c.Path}, c.Args...)).Text, "").Losses
	for _, l := range losses {
		c.Loses(shell.Database{Scheme: "sql"}, l.Verb, l.Object)
	}
	return len(losses) > 0
}

// mongo looks for calls that destroy in the code that the client runs.
func mongo(c *shell.Call) {
	c.Process()
	d := shell.Database{Scheme: "mongodb"}
	d.Host, _ = c.Opts.Get("--host")
	if _, rest, ok := strings.Cut(c.Opts.Operand(0).Text, "://"); ok {
		d.Host, d.Name = shell.SplitAddress(c.Opts.Operand(0).With(rest))
	} else if !strings.HasSuffix(c.Opts.Operand(0).Text, ".js") {
		d.Name = c.Opts.Operand(0)
	}
	code := c.Opts.All("--eval")
	for _, f := range append(c.Opts.All("--file"), c.Opts.Operands...) {
		if text, ok := c.Shell.Written(f); ok {
			code = append(code, text)
		}
	}
	if in := c.Shell.Frame.Stdin; in != nil {
		code = append(code, *in)
	}
	for _, text := range code {
		mongoCode(c, d, languages.Tokenize(text.Text, languages.SyntaxNode))
	}
}

func mongoCode(c *shell.Call, d shell.Database, tokens []languages.Token) {
	for i, t := range tokens {
		if t.Kind != languages.TokenName && t.Kind != languages.TokenString || i+1 >= len(tokens) {
			continue
		}
		opens := tokens[i+1].Text == "(" || t.Kind == languages.TokenString && i+2 < len(tokens) && tokens[i+2].Text == "(" // db["drop"](…)
		if !opens {
			continue
		}
		all := i+3 < len(tokens) && (tokens[i+2].Text == ")" || tokens[i+2].Text == "{" && tokens[i+3].Text == "}")
		switch t.Text {
		case "dropDatabase":
			c.Loses(d, "drop", "database")
		case "drop", "dropCollection":
			c.Loses(d, "drop", "collection")
		case "dropUser", "dropAllUsers", "dropRole", "dropAllRoles":
			c.Loses(d, "drop", "role")
		case "deleteMany", "remove", "updateMany":
			verb, object := "delete", "rows"
			if all {
				object = "collection"
			}
			if t.Text == "updateMany" {
				verb = "update"
			}
			c.Loses(d, verb, object)
		case "shutdownServer":
			c.System("stop", abstract.Word("database"))
		}
	}
}

func redis(c *shell.Call) {
	c.Process()
	d := shell.Database{Scheme: "redis", Host: abstract.Word("127.0.0.1")} // no variable names another
	if h, ok := c.Opts.Get("-h"); ok {
		d.Host = h
	}
	d.Name, _ = c.Opts.Get("-n")
	if u, ok := c.Opts.Get("-u"); ok {
		_, rest, _ := strings.Cut(u.Text, "://")
		d.Host, d.Name = shell.SplitAddress(u.With(rest))
	}
	lines := [][]abstract.Arg{c.Opts.Operands}
	if in := c.Shell.Frame.Stdin; in != nil {
		for _, l := range strings.Split(in.Text, "\n") {
			lines = append(lines, fieldsOf(abstract.Word(l)))
		}
	}
	for _, l := range lines {
		redisCommand(c, d, l)
	}
}

func redisCommand(c *shell.Call, d shell.Database, words []abstract.Arg) {
	if len(words) == 0 {
		return
	}
	switch strings.ToUpper(words[0].Text) {
	case "FLUSHALL", "FLUSHDB":
		c.Loses(d, "truncate", "database")
	case "SWAPDB":
		c.Loses(d, "alter", "database")
	case "DEL", "UNLINK":
		c.Loses(d, "delete", "rows")
	case "SHUTDOWN", "DEBUG":
		c.System("stop", abstract.Word("database"))
	case "EVAL":
		if len(words) > 1 && strings.Contains(strings.ToUpper(words[1].Text), "FLUSH") {
			c.Loses(d, "truncate", "database")
		}
	case "MODULE":
		if len(words) > 2 && strings.EqualFold(words[1].Text, "LOAD") {
			c.Loses(d, "exec", "code")
		}
	case "CONFIG": // where the dump lands is how a key becomes a file of anybody's
		if len(words) > 3 && strings.EqualFold(words[1].Text, "SET") &&
			(strings.EqualFold(words[2].Text, "dir") || strings.EqualFold(words[2].Text, "dbfilename")) {
			c.Loses(d, "exec", "code")
		}
	}
}

// dropsDatabase, dropsRole and stopsServer are what the client's own programs do.
func dropsDatabase(c *shell.Call) { c.Loses(administered(c), "drop", "database") }

func dropsRole(c *shell.Call) { c.Loses(administered(c), "drop", "role") }

func stopsServer(c *shell.Call) { c.Loses(administered(c), "stop", "server") }

// administered is the database that a program is told of behind what it does.
func administered(c *shell.Call) shell.Database {
	d := opened(c)
	if len(c.Subs) > 0 {
		d.Name = c.Opts.Operand(1)
	}
	return d
}

// restoresDatabase is a restore that first drops what is there.
func restoresDatabase(c *shell.Call) {
	d := opened(c)
	d.Name, _ = c.Opts.Get("-d", "--dbname", "--db")
	c.Loses(d, "restore", "database")
}

// resetsDatabase is a database that is built anew; forced where the command says
// that the loss of its data is accepted.
func resetsDatabase(c *shell.Call) {
	c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "reset", Object: "database", Reversible: engine.R5,
		Forced: c.Opts.Has("--force-reset", "--accept-data-loss", "--force", "-f")}, configured(c).Target())
}

// configured is the database of a project's own configuration: all that is
// known of it is the environment.
func configured(c *shell.Call) shell.Database {
	d := shell.Database{Scheme: "config"}
	d.Name, _ = c.Opts.Get("--env", "-e", "--environment")
	for _, name := range c.Shell.In.Rows.Words("programs.environments") {
		d.Name = orVariable(c, d.Name, name)
	}
	if _, rest, ok := strings.Cut(d.Name.Text, "://"); ok {
		d.Host, d.Name = shell.SplitAddress(d.Name.With(rest))
	}
	return d
}
