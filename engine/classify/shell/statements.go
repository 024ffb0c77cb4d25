package shell

import (
	"cmp"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/sql"
)

// HttpVerb returns the verb of an HTTP method.
func HttpVerb(method string) string {
	switch strings.ToUpper(method) {
	case "GET", "HEAD", "OPTIONS":
		return "fetch"
	case "DELETE", "PURGE", "BAN":
		return "delete"
	}
	return "send"
}

// Database describes the database that a client opens.
type Database struct {
	Scheme  string
	Dialect string // mysql, standard; empty: unknown
	Host    abstract.Arg
	Name    abstract.Arg
	Server  string // port, socket or service, as the client names them; empty: the usual ones
}

// Target writes a database as a URL without user and password. The host is empty if it
// is not given: a socket, or the default of the environment.
func (d Database) Target() abstract.Arg {
	if d.Scheme == "sqlite" {
		return abstract.Concat(abstract.Word("sqlite:"), d.Name)
	}
	return abstract.Concat(abstract.Concat(abstract.Word(d.Scheme+"://"), d.Host), abstract.Concat(abstract.Word("/"), d.Name))
}

// InMemory reports whether a database is deleted when its client ends.
func (d Database) InMemory() bool {
	return d.Scheme == "sqlite" && (d.Name.Text == "" || d.Name.Is(":memory:") || d.Name.HasPrefix("file::memory:"))
}

// Address returns host and name from a URL or a list of keys; false: it is neither.
func (d *Database) Address(a abstract.Arg) bool {
	if scheme, rest, ok := strings.Cut(a.Text, "://"); ok && scheme != "" {
		d.Host, d.Name = SplitAddress(a.With(rest))
		_, options, _ := strings.Cut(rest, "?")
		d.named(strings.Split(options, "&")...)
		return true
	}
	if !a.Known() || !strings.Contains(a.Text, "=") {
		return false
	}
	d.Host, d.Name = keyedAddress(a)
	for _, field := range strings.Fields(a.Text) {
		if key, _, _ := strings.Cut(field, "="); key != "host" && key != "dbname" {
			d.named(field)
		}
	}
	return true
}

// named adds what a client names of the server besides its host.
func (d *Database) named(list ...string) {
	d.Server = strings.TrimSpace(strings.Join(append([]string{d.Server}, list...), " "))
}

// serverOptions and serverVariables are what a client takes the server from, besides its host.
var (
	serverOptions = map[string][]string{
		"postgres": {"-p", "--port", "--cluster"},
		"mysql": {"-P", "--port", "-S", "--socket", "--defaults-file", "--defaults-extra-file", "--defaults-group-suffix",
			"--login-path"},
		"clickhouseclient": {"--port", "--config-file", "-C", "--connection"},
		"sqlserver":        {"--port", "-L"},
	}
	serverVariables = map[string][]string{
		"postgres": {"PGPORT", "PGSERVICE", "PGSERVICEFILE", "PGHOSTADDR", "PGSYSCONFDIR", "PGCLUSTER"},
		"mysql":    {"MYSQL_TCP_PORT", "MYSQL_UNIX_PORT", "MYSQL_HOST", "MYSQL_HOME", "MYSQL_TEST_LOGIN_FILE"},
	}
)

// NameServer records the port, the socket or the service that options and variables of a client name.
func (d *Database) NameServer(c *Call) {
	for _, name := range serverOptions[d.Scheme] {
		for _, v := range c.Opts.All(name) {
			d.named(v.Show())
		}
	}
	for _, name := range serverVariables[d.Scheme] {
		if _, set := c.Shell.Scope.Lookup(name); set {
			d.named(name + "=" + c.Shell.Read(name).Show())
		}
	}
}

// SplitAddress splits user@host:port/name?options.
func SplitAddress(a abstract.Arg) (host, name abstract.Arg) {
	server, path, _ := strings.Cut(a.Text, "/")
	server = server[strings.LastIndexByte(server, '@')+1:]
	path, _, _ = strings.Cut(path, "?")
	return a.With(server), a.With(path)
}

// keyedAddress reads "host=db port=5432 dbname=shop".
func keyedAddress(a abstract.Arg) (host, name abstract.Arg) {
	for _, field := range strings.Fields(a.Text) {
		switch key, v, _ := strings.Cut(field, "="); key {
		case "host", "hostaddr":
			host = a.With(v)
		case "dbname":
			name = a.With(v)
		}
	}
	return host, name
}

// Sql interprets SQL for an unknown database.
func (c *Call) Sql(text abstract.Arg) { c.SqlAt(Database{Scheme: "sql"}, text) }

// SqlAt interprets a script that a client sends to a database.
func (c *Call) SqlAt(d Database, text abstract.Arg) {
	if text.Text == "" {
		return
	}
	code, own := c.sqlCommands(d, text)
	script := sql.Read(code, d.Dialect)
	for _, l := range script.Losses {
		if !d.InMemory() || l.Verb == "exec" { // a database in memory is deleted when its client ends
			c.Loses(d.called(text, d.asWritten(code, l.Name)), l.Verb, l.Object)
		}
	}
	for _, x := range append(script.Code, own...) {
		switch what := text.With(x.Text); x.What {
		case "shell":
			c.Child(func() Outcome { return c.Shell.Embed(what, "sql", false) })
		case "read":
			c.Reads(what)
		case "write":
			c.Writes("write", what)
		case "script":
			c.includes(d, what)
		case "unseen":
			c.LoadsUnseen(d, what)
		}
	}
}

// asWritten returns a name in the letters in which a script has it, where the database tells capital letters
// apart: standard SQL does not. Several: they differ.
func (d Database) asWritten(code, name string) string {
	if d.Dialect == "standard" || name == "" || name == sql.Several {
		return name
	}
	written := ""
	for folded := strings.ToLower(code); ; {
		i := strings.Index(folded, name)
		if i < 0 || len(folded) != len(code) {
			return cmp.Or(written, name)
		}
		if found := code[i : i+len(name)]; written != "" && found != written {
			return sql.Several
		} else {
			written = found
		}
		code, folded = code[i+len(name):], folded[i+len(name):]
	}
}

// called returns the database with a name that a script gives, which may differ from
// its client's. It is unknown if the name is, and if there are several.
func (d Database) called(text abstract.Arg, name string) Database {
	switch {
	case name == sql.Several || strings.ContainsAny(name, abstract.Holes):
		d.Name = abstract.Arg{}
	case name != "":
		d.Name = text.With(name)
	}
	return d
}

// includes interprets a script file that another script makes the client run.
func (c *Call) includes(d Database, file abstract.Arg) {
	s := c.Shell
	c.Reads(file)
	code, ok := s.CodeIn(file, "sql")
	switch {
	case !ok && !s.InVersionControl(file):
		c.LoadsUnseen(d, file)
	case ok && s.Frame.Depth >= MaxDepth:
		s.OverBudget(c.Name)
	case ok:
		c.Child(func() Outcome {
			s.inFile(code, file, func() { c.SqlAt(d, code.Text) })
			return Outcome{}
		})
	}
}

// Loses adds an effect that destroys data of a database. Changing rows that match a condition
// is everyday work; everything else cannot be undone.
func (c *Call) Loses(d Database, verb, object string) {
	e := abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb, Object: object, Reversible: engine.R5}
	if object == "rows" || verb == "rename" {
		e.Kind, e.Reversible = engine.EffectProcess, ""
	} else if verb != "grant" && verb != "exec" && verb != "stop" {
		c.Signal(engine.SignalDatabaseDrop)
	}
	c.OnDatabase(d, e)
}

// OnDatabase adds an effect on a database. One of another host, or of a
// project's configuration, is not part of the container in which its client
// runs.
func (c *Call) OnDatabase(d Database, e abstract.RawEffect) {
	elsewhere := d.Host.Text != "" && !place.Loopback(d.Host.Text) || d.Scheme == "config" || d.Scheme == "sql"
	if frame := c.Shell.Frame; frame.Isolated && elsewhere {
		c.Shell.Frame.Isolated = false
		defer func() { c.Shell.Frame = frame }()
	}
	e.Server = d.Server
	c.Emit(e, d.Target())
}

// MakesDatabase records that a client makes a database, and fails if there already is one of that name.
func (c *Call) MakesDatabase(d Database) {
	if at := d.Target(); at.Known() && d.Name.Text != "" && !strings.ContainsAny(d.Name.Text, "=:/") {
		c.Makes(engine.Made{Object: engine.MadeDatabase, Name: at.Text, Server: d.Server})
	}
}

// MakesBy records that the only statement of a client makes a database.
func (c *Call) MakesBy(d Database, statements, code []abstract.Arg) {
	if len(statements) == 1 && len(code) == 1 && statements[0].Known() {
		d.Name = abstract.Word(sql.Made(statements[0].Text, d.Dialect))
		c.MakesDatabase(d)
	}
}

// Makes records that a command makes something.
func (c *Call) Makes(m engine.Made) {
	if c.Index >= 0 && len(c.Shell.Out.Makes) < engine.MaxMade {
		m.Host, m.Command = c.Shell.Frame.Host, c.Index
		c.Shell.Out.Makes = append(c.Shell.Out.Makes, m)
	}
}

// LoadsUnseen records a script that a client runs and that cannot be read beforehand.
func (c *Call) LoadsUnseen(d Database, text abstract.Arg) {
	if d.InMemory() {
		return
	}
	c.Shell.SignalIf(text.Taint&abstract.Fetched != 0, engine.SignalRemoteCode)
	c.Shell.SignalIf(text.Taint&abstract.Decoded != 0, engine.SignalObfuscated)
	c.OnDatabase(d, abstract.RawEffect{Kind: engine.EffectProcess, Verb: "load", Object: "script"})
}

// sqlCommands removes the lines of a script that are for the client and not for the
// server: those of psql and mysql that begin with a backslash, those of sqlite that
// begin with a dot.
func (c *Call) sqlCommands(d Database, text abstract.Arg) (string, []sql.Code) {
	if !strings.ContainsAny(text.Text, `\.!@`) && !hasClientWord().MatchString(text.Text) {
		return text.Text, nil
	}
	var own []sql.Code
	var rest []string
	for line := range strings.SplitSeq(text.Text, "\n") {
		codes, ok := clientCommand(d, strings.TrimSpace(line))
		if own = append(own, codes...); !ok {
			rest = append(rest, line)
		}
	}
	return strings.Join(rest, "\n"), own
}

// hasClientWord finds commands of clients that need no prefix.
var hasClientWord = engine.Regexp(`(?i)(^|[;\n])\s*(system|source|start|host|run|pager|:r)\b`)

// sourced finds a script that mysql, cqlsh and others run in the middle of a line.
var sourced = engine.Regexp(`(?i)(?:^|;)\s*(?:source|\\\.)\s+['"]?([^;'"\s]+)['"]?\s*(?:;|$)`)

func clientCommand(d Database, line string) ([]sql.Code, bool) {
	line = strings.TrimLeft(strings.TrimPrefix(line, ";"), " ")
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSuffix(strings.TrimSpace(rest), ";")
	lower := strings.ToLower(name)
	if m := sourced().FindStringSubmatch(line); m != nil && d.Scheme != "postgres" && d.Scheme != "sqlite" {
		return []sql.Code{{What: "script", Text: m[1]}}, lower == "source" || lower == `\.`
	}
	switch {
	case strings.HasPrefix(line, `\!`):
		return []sql.Code{{What: "shell", Text: line[2:]}}, true
	case strings.HasPrefix(line, "!!") || strings.HasPrefix(line, ":!!"): // sqlcmd
		return []sql.Code{{What: "shell", Text: strings.TrimLeft(line, ":!")}}, true
	case lower == ":r": // sqlcmd
		return []sql.Code{{What: "script", Text: strings.Trim(rest, `'" `)}}, true
	case d.Scheme == "oracle":
		return oracleCommand(lower, line, rest)
	case strings.HasPrefix(name, "."):
		return dotCommand(name, rest), true
	case lower == "system" && d.Dialect == "mysql":
		return []sql.Code{{What: "shell", Text: rest}}, true
	case (lower == "pager" || name == `\P`) && d.Dialect == "mysql": // what follows a semicolon may be SQL
		rest, _, _ = strings.Cut(rest, ";")
		return []sql.Code{{What: "shell", Text: rest}}, false
	case strings.HasPrefix(name, `\`):
		return backslashCommand(name, rest), true
	case strings.HasSuffix(line, `\gexec`): // what the statement prints is run
		return []sql.Code{{What: "unseen", Text: abstract.HoleText}}, false
	}
	return nil, false
}

// oracleCommand interprets a command of sqlplus itself.
func oracleCommand(name, line, rest string) ([]sql.Code, bool) {
	switch {
	case strings.HasPrefix(line, "@"):
		file, _, _ := strings.Cut(strings.TrimLeft(line, "@ "), " ")
		return []sql.Code{{What: "script", Text: strings.TrimSuffix(file, ";")}}, true
	case name == "start" && rest != "" && !strings.Contains(strings.ToLower(rest), "transaction"):
		file, _, _ := strings.Cut(rest, " ")
		return []sql.Code{{What: "script", Text: file}}, true
	case name == "host":
		return []sql.Code{{What: "shell", Text: rest}}, true
	case strings.HasPrefix(line, "!"):
		return []sql.Code{{What: "shell", Text: line[1:]}}, true
	}
	return nil, false
}

// backslashCommand interprets a command of psql itself.
func backslashCommand(name, rest string) []sql.Code {
	switch name {
	case `\copy`:
		r := &sql.Reader{Own: map[string]bool{}}
		for _, st := range sql.Statements("COPY "+rest, false) {
			r.Copies(st)
		}
		return r.Code
	case `\o`, `\out`, `\g`, `\gx`, `\w`, `\write`:
		return []sql.Code{pipeOrFile("write", rest)}
	case `\i`, `\ir`, `\include`, `\.`, `\source`:
		return []sql.Code{pipeOrFile("script", rest)}
	case `\set`, `\setenv`:
		if _, code, ok := strings.Cut(rest, "`"); ok {
			return []sql.Code{{What: "shell", Text: strings.TrimSuffix(code, "`")}}
		}
	}
	return nil
}

// dotCommand interprets a command of sqlite itself.
func dotCommand(name, rest string) []sql.Code {
	switch name {
	case ".shell", ".system":
		return []sql.Code{{What: "shell", Text: rest}}
	case ".output", ".once", ".excel", ".log", ".backup", ".save", ".clone":
		return []sql.Code{pipeOrFile("write", lastField(rest))}
	case ".read":
		return []sql.Code{pipeOrFile("script", rest)}
	case ".import", ".load", ".restore", ".open":
		return []sql.Code{pipeOrFile("read", rest)}
	}
	return nil
}

func lastField(s string) string {
	if f := strings.Fields(s); len(f) > 0 && !strings.HasPrefix(s, "|") {
		return strings.Trim(f[len(f)-1], `'"`)
	}
	return s
}

func pipeOrFile(what, text string) sql.Code {
	text = strings.Trim(text, `'" `)
	if code, ok := strings.CutPrefix(text, "|"); ok {
		return sql.Code{What: "shell", Text: code}
	}
	if what == "read" || what == "script" {
		text, _, _ = strings.Cut(text, " ")
	}
	if text == "" {
		return sql.Code{}
	}
	return sql.Code{What: what, Text: text}
}
