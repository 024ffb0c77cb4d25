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

// dialectOf returns the SQL dialect of a scheme's clients; empty: unknown.
func dialectOf(scheme string) string {
	switch scheme {
	case "postgres", "sqlite", "sqlserver":
		return "standard"
	case "mysql":
		return "mysql"
	}
	return ""
}

// lowerLetter keeps the characters that the scheme of a URL may contain.
func lowerLetter(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r
	}
	return -1
}

// opened returns host and name of the database from a client's arguments.
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
	d.NameServer(c)
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

// sqlClient runs the SQL in its options, its operands (sqlite) and its input. The word
// operands in the row means that all operands are SQL, rest that those after the first are.
func sqlClient(c *shell.Call) {
	o := c.Opts
	c.Process()
	d := opened(c)
	statements := o.All("-c", "--command", "-e", "-execute", "--execute", "-q", "--query", "-Q", "-cmd", "--sql")
	code := slices.Clip(statements)
	if d.Scheme == "sqlite" && !d.InMemory() {
		c.Reads(o.Operands[:min(1, len(o.Operands))]...)
		if !o.Has("-readonly", "--readonly") {
			c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "modify", ForGuard: true}, o.Operands[:min(1, len(o.Operands))]...)
		}
	}
	code = append(code, sqlOperands(c, d)...)
	given := len(code) > 0
	code = readableOf(c, d, code)
	for _, f := range sqlFiles(c) {
		if text, ok := clientFile(c, d, f, "sql"); ok {
			code = append(code, text)
		}
		if given = true; !f.Is("-", "/dev/stdin") {
			c.Reads(f)
		} else if text, ok := clientInput(c, d); ok {
			code = append(code, text)
		}
	}
	c.Shell.SignalIf(!given && c.Shell.Frame.Stdin == nil && !hasArg(c.Args, "-l", "--list", "-V", "-version", "--version", "--help"),
		engine.SignalInteractive)
	if text, ok := clientInput(c, d); ok && !given {
		code = append(code, text)
	}
	c.MakesBy(d, statements, code)
	c.SqlAt(d, joinLines(code))
	c.Writes("write", o.All("-o", "--output")...)
}

// sqlOperands returns the operands that are SQL.
func sqlOperands(c *shell.Call, d shell.Database) []abstract.Arg {
	list := c.Opts.Operands
	switch {
	case slices.Contains(c.Words, "operands"):
		return list[min(len(c.Subs), len(list)):]
	case d.Scheme == "sqlite" || slices.Contains(c.Words, "rest"):
		return list[min(1, len(list)):]
	}
	return nil
}

// sqlFiles returns the scripts that a client runs. Some clients accept @FILE.
func sqlFiles(c *shell.Call) []abstract.Arg {
	list := c.Opts.All("-f", "--file", "--input", "-i",
		"--queries-file", "--filename", "-init", "--init-file", "-r", "--sql-file", "-tvf", "-tf", "-svf", "-svtf")
	for _, a := range c.Opts.Operands {
		if file, ok := strings.CutPrefix(a.Text, "@"); ok && file != "" && !strings.Contains(file, "://") {
			list = append(list, a.With(strings.TrimPrefix(file, "@")))
		}
	}
	return list
}

// clientFile returns the script in a file: written by the call itself, or on the disk. An
// unknown script is reported as unseen; the team has reviewed what is under version
// control.
func clientFile(c *shell.Call, d shell.Database, f abstract.Arg, lang string) (abstract.Arg, bool) {
	if f.From != nil {
		return readable(c, d, *f.From)
	}
	code, ok := c.Shell.CodeIn(f, lang)
	if !ok && !f.Is("-", "/dev/stdin", "/dev/null") && !c.Shell.InVersionControl(f) {
		c.LoadsUnseen(d, f)
	}
	return code.Text, ok
}

// clientInput returns the script that a client reads on its standard input.
func clientInput(c *shell.Call, d shell.Database) (abstract.Arg, bool) {
	if c.Shell.Frame.Stdin == nil {
		return abstract.Arg{}, false
	}
	return readable(c, d, *c.Shell.Frame.Stdin)
}

// readable returns what is known about a script. If that is nothing, the script is reported
// as unseen.
func readable(c *shell.Call, d shell.Database, text abstract.Arg) (abstract.Arg, bool) {
	switch known := strings.Trim(text.Text, abstract.Holes+" \t\r\n;") != ""; {
	case text.Part != nil:
		return abstract.Concat(abstract.Concat(text, abstract.Word(";\n")), *text.Part), true
	case text.Known():
		return text, true
	case known:
		return text, true
	case text.Taint&abstract.Vouched == 0:
		c.LoadsUnseen(d, text)
	}
	return abstract.Arg{}, false
}

// readableOf returns the pieces of code about which something is known.
func readableOf(c *shell.Call, d shell.Database, list []abstract.Arg) (some []abstract.Arg) {
	for _, text := range list {
		if text, ok := readable(c, d, text); ok {
			some = append(some, text)
		}
	}
	return some
}

// sqlScripts judges SQL that a tool sends to its database in another way: from the files of
// the options that the row names, from its last operand (last), or else from its input.
func sqlScripts(c *shell.Call) {
	d := shell.Database{Scheme: "sql"}
	var files []abstract.Arg
	for _, word := range c.Words {
		if n := len(c.Opts.Operands); word == "last" && n > 0 {
			files = append(files, c.Opts.Operands[n-1])
		}
		files = append(files, c.Opts.All(word)...)
	}
	for _, f := range files {
		if text, ok := clientFile(c, d, f, "sql"); ok {
			c.Sql(text)
		}
		c.Reads(f)
	}
	if text, ok := clientInput(c, d); ok && len(files) == 0 {
		c.Sql(text)
	}
}

// joinLines concatenates pieces of code: one session runs them all.
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

// bareSQL handles an SQL statement in place of a command: its author mistook the shell for a
// client, and the next one may really be one. It counts as what it would do.
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

// mongo looks for destructive calls in the code that the client runs.
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
	given := len(code) > 0
	for _, f := range append(c.Opts.All("--file", "-f"), c.Opts.Operands...) {
		if !f.Is(c.Opts.Operand(0).Text) || strings.HasSuffix(f.Text, "js") {
			given = true
			code = append(code, mongoScript(c, d, f)...)
		}
	}
	if text, ok := clientInput(c, d); ok && !given {
		code = append(code, text)
	}
	for i := 0; i < len(code) && i < shell.MaxCodeFiles; i++ {
		tokens := languages.Tokenize(code[i].Text, languages.SyntaxNode)
		mongoCode(c, d, tokens)
		for _, f := range loadedFiles(tokens) {
			code = append(code, mongoScript(c, d, f)...)
		}
		if code[i].Known() {
			c.Extract("node", code[i], c.Name+"-e") // its shell runs JavaScript, with everything that Node has
		}
	}
}

// mongoScript returns the code in a file.
func mongoScript(c *shell.Call, d shell.Database, f abstract.Arg) []abstract.Arg {
	c.Reads(f)
	if text, ok := clientFile(c, d, f, "node"); ok {
		return []abstract.Arg{text}
	}
	return nil
}

// loadedFiles returns the files that code loads: load("a.js").
func loadedFiles(tokens []languages.Token) (list []abstract.Arg) {
	for i, t := range tokens {
		if t.Kind == languages.TokenName && t.Text == "load" && i+2 < len(tokens) && tokens[i+1].Text == "(" &&
			tokens[i+2].Kind == languages.TokenString {
			list = append(list, abstract.Word(tokens[i+2].Text))
		}
	}
	return list
}

func mongoCode(c *shell.Call, d shell.Database, tokens []languages.Token) {
	for i, t := range tokens {
		if t.Kind != languages.TokenName && t.Kind != languages.TokenString || i+1 >= len(tokens) {
			continue
		}
		if t.Text == "shutdown" && tokens[i+1].Text == ":" && i >= 3 && strings.HasSuffix(strings.ToLower(tokens[i-3].Text), "command") {
			c.System("stop", abstract.Word("mongod")) // db.adminCommand({shutdown: 1})
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
			c.System("stop", abstract.Word("mongod"))
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
	redisCommand(c, d, c.Opts.Operands)
	if f, ok := c.Opts.Get("--eval"); ok {
		if text, ok := clientFile(c, d, f, "lua"); ok {
			redisCommand(c, d, []abstract.Arg{abstract.Word("EVAL"), text})
		}
		return
	}
	if text, ok := clientInput(c, d); ok && (len(c.Opts.Operands) == 0 || !c.Opts.Has("-x", "-X")) {
		redisLines(c, d, text.Text)
	}
}

// redisLines handles the commands of a script, one per line.
func redisLines(c *shell.Call, d shell.Database, text string) {
	for l := range strings.SplitSeq(strings.ReplaceAll(text, `\r`, ""), "\n") {
		redisCommand(c, d, fieldsOf(abstract.Word(strings.Trim(l, "\r\"' "))))
	}
}

func redisCommand(c *shell.Call, d shell.Database, words []abstract.Arg) {
	if len(words) == 0 {
		return
	}
	switch strings.ToUpper(words[0].Text) {
	case "FLUSHALL", "FLUSHDB", "FLUSH_ALL":
		c.Loses(d, "truncate", "database")
	case "SWAPDB":
		c.Loses(d, "alter", "database")
	case "DEL", "UNLINK":
		c.Loses(d, "delete", "rows")
	case "SHUTDOWN", "DEBUG":
		c.System("stop", abstract.Word("redis"))
	case "EVAL", "EVAL_RO", "FUNCTION", "SCRIPT":
		if len(words) > 1 && strings.Contains(strings.ToUpper(words[1].Text), "FLUSH") {
			c.Loses(d, "truncate", "database")
		}
	case "MODULE":
		if len(words) > 2 && strings.EqualFold(words[1].Text, "LOAD") {
			c.Loses(d, "exec", "code")
		}
	case "CONFIG": // the location of the dump can turn a key into anyone's file
		if len(words) > 3 && strings.EqualFold(words[1].Text, "SET") &&
			(strings.EqualFold(words[2].Text, "dir") || strings.EqualFold(words[2].Text, "dbfilename")) {
			c.Loses(d, "exec", "code")
		}
	}
}

// dropsDatabase, dropsRole and stopsServer handle the client's own programs.
func dropsDatabase(c *shell.Call) { c.Loses(administered(c), "drop", "database") }

// makesDatabase handles programs that make a database, and fail if there already is one of that name.
func makesDatabase(c *shell.Call) {
	c.Process()
	d := administered(c)
	d.Name = c.Opts.Operand(len(c.Subs))
	c.MakesDatabase(d)
}

func dropsRole(c *shell.Call) { c.Loses(administered(c), "drop", "role") }

func stopsServer(c *shell.Call) { c.Loses(administered(c), "stop", "server") }

// administered returns the database that a program is given after the operation.
func administered(c *shell.Call) shell.Database {
	d := opened(c)
	if len(c.Subs) > 0 {
		d.Name = c.Opts.Operand(1)
	}
	return d
}

// restoresDatabase handles a restore that first drops the existing data.
func restoresDatabase(c *shell.Call) {
	d := opened(c)
	d.Name, _ = c.Opts.Get("-d", "--dbname", "--db")
	c.Loses(d, "restore", "database")
}

// resetsDatabase handles a database that is rebuilt, or the operation that the row names
// after the function; forced if the command accepts the loss of its data.
func resetsDatabase(c *shell.Call) {
	verb := "reset"
	if len(c.Words) > 0 {
		verb = c.Words[0]
	}
	c.OnDatabase(configured(c), abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb, Object: "database", Reversible: engine.R5,
		Forced: c.Opts.Has("--force-reset", "--accept-data-loss", "--force", "-f")})
}

// configured returns the database of a project's own configuration: only the environment is
// known about it.
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
