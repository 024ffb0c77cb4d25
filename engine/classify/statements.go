package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// databaseRef is what a client says about the database that it opens.
type databaseRef struct {
	scheme  string
	dialect string // mysql, standard; empty: not known
	host    arg
	name    arg
}

// target writes a database as a URL without user and password. The host stays
// empty where it is not said: a socket, or what the environment holds.
func (d databaseRef) target() arg {
	if d.scheme == "sqlite" {
		return concat(word("sqlite:"), d.name)
	}
	return concat(concat(word(d.scheme+"://"), d.host), concat(word("/"), d.name))
}

// inMemory tells whether a database is gone when its client ends.
func (d databaseRef) inMemory() bool {
	return d.scheme == "sqlite" && (d.name.text == "" || d.name.is(":memory:") || d.name.hasPrefix("file::memory:"))
}

// address takes host and name out of a URL or a list of keys; false: it is
// neither.
func (d *databaseRef) address(a arg) bool {
	if scheme, rest, ok := strings.Cut(a.text, "://"); ok && scheme != "" {
		d.host, d.name = splitAddress(a.with(rest))
		return true
	}
	if !a.known() || !strings.Contains(a.text, "=") {
		return false
	}
	d.host, d.name = keyedAddress(a)
	return true
}

// splitAddress takes user@host:port/name?options apart.
func splitAddress(a arg) (host, name arg) {
	server, path, _ := strings.Cut(a.text, "/")
	server = server[strings.LastIndexByte(server, '@')+1:]
	path, _, _ = strings.Cut(path, "?")
	return a.with(server), a.with(path)
}

// keyedAddress reads "host=db port=5432 dbname=shop".
func keyedAddress(a arg) (host, name arg) {
	for _, field := range strings.Fields(a.text) {
		switch key, v, _ := strings.Cut(field, "="); key {
		case "host", "hostaddr":
			host = a.with(v)
		case "dbname":
			name = a.with(v)
		}
	}
	return host, name
}

// sql judges SQL of which nobody says where it runs.
func (c *call) sql(text arg) { c.sqlAt(databaseRef{scheme: "sql"}, text) }

// sqlAt judges a script that a client sends to a database.
func (c *call) sqlAt(d databaseRef, text arg) {
	if text.text == "" {
		return
	}
	code, own := c.sqlCommands(d, text)
	script := readSQL(code, d.dialect)
	for _, l := range script.losses {
		if !d.inMemory() || l.verb == "exec" { // what is in memory is gone when it ends
			c.loses(d, l.verb, l.object)
		}
	}
	for _, x := range append(script.code, own...) {
		switch what := text.with(x.text); x.what {
		case "shell":
			c.child(func() outcome { return c.s.embed(what, "sql", false) })
		case "read":
			c.reads(what)
		case "write":
			c.writes("write", what)
		}
	}
}

// loses is an effect on what a database holds. What a condition names is the
// daily work of a program; all else is not undone by anybody.
func (c *call) loses(d databaseRef, verb, object string) {
	e := rawEffect{kind: engine.EffectSystemCall, verb: verb, object: object, reversible: engine.R5}
	if object == "rows" {
		e.kind, e.reversible = engine.EffectProcess, ""
	} else if verb != "grant" && verb != "exec" && verb != "stop" {
		c.signal(engine.SignalDatabaseDrop)
	}
	c.emit(e, d.target())
}

// sqlCommands takes the lines out of a script that are for the client and not
// for the server: those of psql and mysql that begin with a backslash, those of
// sqlite that begin with a dot.
func (c *call) sqlCommands(d databaseRef, text arg) (string, []sqlCode) {
	if !strings.ContainsAny(text.text, `\.`) && !strings.Contains(text.text, "system ") {
		return text.text, nil
	}
	var own []sqlCode
	var rest []string
	for line := range strings.SplitSeq(text.text, "\n") {
		if codes, ok := clientCommand(d, strings.TrimSpace(line)); ok {
			own = append(own, codes...)
		} else {
			rest = append(rest, line)
		}
	}
	return strings.Join(rest, "\n"), own
}

func clientCommand(d databaseRef, line string) ([]sqlCode, bool) {
	line = strings.TrimLeft(strings.TrimPrefix(line, ";"), " ")
	name, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSuffix(strings.TrimSpace(rest), ";")
	switch {
	case strings.HasPrefix(line, `\!`):
		return []sqlCode{{"shell", line[2:]}}, true
	case strings.HasPrefix(name, "."):
		return dotCommand(name, rest), true
	case name == "system" && d.dialect == "mysql":
		return []sqlCode{{"shell", rest}}, true
	case strings.HasPrefix(name, `\`):
		return backslashCommand(name, rest), true
	}
	return nil, false
}

// backslashCommand is what psql does itself.
func backslashCommand(name, rest string) []sqlCode {
	switch name {
	case `\copy`:
		r := &sqlReader{own: map[string]bool{}}
		for _, st := range sqlStatements("COPY "+rest, false) {
			r.copies(st)
		}
		return r.code
	case `\o`, `\out`, `\g`, `\gx`, `\w`, `\write`:
		return []sqlCode{pipeOrFile("write", rest)}
	case `\i`, `\ir`, `\include`, `\.`, `\source`:
		return []sqlCode{pipeOrFile("read", rest)}
	case `\set`, `\setenv`:
		if _, code, ok := strings.Cut(rest, "`"); ok {
			return []sqlCode{{"shell", strings.TrimSuffix(code, "`")}}
		}
	}
	return nil
}

// dotCommand is what sqlite does itself.
func dotCommand(name, rest string) []sqlCode {
	switch name {
	case ".shell", ".system":
		return []sqlCode{{"shell", rest}}
	case ".output", ".once", ".excel", ".log", ".backup", ".save", ".clone":
		return []sqlCode{pipeOrFile("write", lastField(rest))}
	case ".read", ".import", ".load", ".restore", ".open":
		return []sqlCode{pipeOrFile("read", rest)}
	}
	return nil
}

func lastField(s string) string {
	if f := strings.Fields(s); len(f) > 0 && !strings.HasPrefix(s, "|") {
		return strings.Trim(f[len(f)-1], `'"`)
	}
	return s
}

func pipeOrFile(what, text string) sqlCode {
	text = strings.Trim(text, `'" `)
	if code, ok := strings.CutPrefix(text, "|"); ok {
		return sqlCode{"shell", code}
	}
	if what == "read" {
		text, _, _ = strings.Cut(text, " ")
	}
	if text == "" {
		return sqlCode{}
	}
	return sqlCode{what, text}
}
