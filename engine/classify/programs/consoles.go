package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/operation"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Lists of names of methods whose meaning does not depend on the receiver.
const (
	callsDrop    = "calls.drops"
	callsEmpty   = "calls.empties"
	callsDelete  = "calls.deletes"
	callsSQL     = "calls.sql"
	callsSome    = "calls.some"
	callsAll     = "calls.all"
	callsFakes   = "calls.fakes"
	callsFlushes = "calls.flushes"
	callsEnds    = "calls.services"
)

// extract finds the effects of code in another language. In code on the command line,
// methods that drop or empty a database count too even if the receiver is unknown: a person
// who writes User.delete_all means it.
func extract(c *shell.Call, lang string, code abstract.Arg) {
	if lang == rows.Unread {
		foreign(c, code)
	} else {
		languages.Extract(c, lang, code)
	}
	if slices.Contains(c.Shell.Frame.Via, "script") {
		return // of a file, most calls are of functions that nobody calls now
	}
	p := plainCode{c: c, lang: lang, tokens: languages.Tokenize(code.Text, languages.SyntaxNode), holds: map[string]bool{}}
	if p.any(callsFakes) || !p.opens() {
		return
	}
	for i, t := range p.tokens {
		switch {
		case t.Kind != languages.TokenName:
		case p.isMethod(i):
			p.method(i)
		case p.text(i+1) == "(" && p.listed("calls.functions", t.Text): // db_query("DROP TABLE users")
			p.statement(i)
		}
	}
}

// plainCode is code that is interpreted by the names of its methods.
type plainCode struct {
	c      *shell.Call
	lang   string
	tokens []languages.Token
	db     shell.Database
	holds  map[string]bool // list of words -> a token of the code is in it
}

func (p *plainCode) text(i int) string {
	if i < 0 || i >= len(p.tokens) {
		return ""
	}
	return p.tokens[i].Text
}

func (p *plainCode) listed(list, name string) bool {
	return slices.Contains(p.c.Shell.In.Rows.Words(list), name)
}

// any reports whether a name or a string of the code is in a list.
func (p *plainCode) any(list string) bool {
	holds, known := p.holds[list]
	if !known {
		holds = slices.ContainsFunc(p.tokens, func(t languages.Token) bool { return p.listed(list, t.Text) })
		p.holds[list] = holds
	}
	return holds
}

// opens determines which database the code opens: by an address in it, or else by the
// environment. It returns false for an in-memory database.
func (p *plainCode) opens() bool {
	p.db = shell.Database{Scheme: "sql", Name: configured(p.c).Name, Host: configured(p.c).Host}
	for _, t := range p.tokens {
		scheme, rest, ok := strings.Cut(t.Text, "://")
		if t.Kind != languages.TokenString || !ok || strings.ContainsAny(scheme, " \n") {
			continue
		}
		switch base, _, _ := strings.Cut(scheme, "+"); base {
		case "sqlite":
			p.db = shell.Database{Scheme: base, Name: abstract.Word(strings.TrimPrefix(rest, "/"))}
		case "postgres", "postgresql", "mysql", "mariadb", "mongodb", "redis", "rediss", "ecto":
			p.db = shell.Database{Scheme: strings.TrimSuffix(base, "ql")}
			p.db.Host, p.db.Name = shell.SplitAddress(abstract.Word(rest))
		}
	}
	return !p.db.InMemory()
}

// isMethod reports whether the name at i is called as a method.
func (p *plainCode) isMethod(i int) bool {
	before := p.text(i - 1)
	return before != "" && strings.ContainsAny(before[len(before)-1:], ".>:!$")
}

// method records what the method at i does to a database, judging by its name.
func (p *plainCode) method(i int) {
	name, next := p.text(i), p.text(i+1)
	empty := next != "(" || p.text(i+2) == ")" || p.text(i+2) == "{" && p.text(i+3) == "}"
	some := p.chained(i, callsSome) || !empty && p.conditioned(i+2)
	switch {
	case p.listed(callsFlushes, name):
		p.flushes()
	case p.listed(callsDrop, name):
		p.c.Loses(p.named(i), "drop", "database")
	case p.listed(callsEmpty, name), name == "truncate" && p.truncates(i, empty):
		p.c.Loses(p.db, "truncate", "table")
	case name == "drop" && empty && p.any("calls.libraries"):
		p.c.Loses(p.db, "drop", "collection")
	case p.listed("calls.rebuilds", name) && p.afresh(i):
		p.c.Loses(p.db, "drop", "table")
	case p.text(i-1) == ":" && strings.HasSuffix(p.text(i-2), "&") && p.listed("calls.each", name): // find_each(&:destroy)
		p.c.Loses(p.db, "delete", "table")
	case p.listed(callsDelete, name) && some, p.deletes(i, empty) && some:
		p.c.Loses(p.db, "delete", "rows")
	case p.listed(callsDelete, name), p.deletes(i, empty):
		p.c.Loses(p.db, "delete", "table")
	case p.listed(callsSQL, name) && next == "(" || p.listed(callsSQL, name+next):
		p.statement(i)
	case p.any(callsEnds):
		p.ends(name)
	}
}

// afresh reports whether the arguments of the method at i request that tables are dropped
// first: sync({force: true}), synchronize(true).
func (p *plainCode) afresh(i int) bool {
	said := p.text(i) == "synchronize"
	for k := i + 1; k < len(p.tokens) && k < i+maxArguments && p.text(k) != ")"; k++ {
		said = said || p.listed("calls.afresh", p.text(k))
		if said && (p.text(k) == "true" || p.text(k) == "True") {
			return true
		}
	}
	return false
}

// flushes records that a key-value store is emptied: the one on this machine if no other is
// named.
func (p *plainCode) flushes() {
	d := p.db
	if d.Scheme == "sql" {
		d = shell.Database{Scheme: "redis", Host: abstract.Word("127.0.0.1")}
	}
	for i := range p.tokens {
		if p.text(i) == "host" && i+2 < len(p.tokens) {
			d.Host = abstract.Word(p.text(i + 2))
		}
	}
	p.c.Loses(d, "truncate", "database")
}

// named returns the database whose name is an argument of the method at i.
func (p *plainCode) named(i int) shell.Database {
	d := p.db
	if p.text(i+1) == "(" && i+2 < len(p.tokens) && p.tokens[i+2].Kind == languages.TokenString {
		d.Name = abstract.Word(p.tokens[i+2].Text)
	}
	return d
}

// chained reports whether one of the methods before i in the same expression is in a list.
// Expressions with more tokens than examined are not written by people.
func (p *plainCode) chained(i int, list string) bool {
	const most = 128
	for k := i - 1; k >= max(0, i-most) && p.text(k) != ";" && p.text(k) != "\n"; k-- {
		if p.tokens[k].Kind == languages.TokenName && p.listed(list, p.text(k)) {
			return true
		}
	}
	return false
}

// conditioned reports whether the arguments that start at i restrict which rows are
// affected.
func (p *plainCode) conditioned(i int) bool {
	return p.text(i) == "{" && p.text(i+1) != "}" || p.listed(callsSome, p.text(i)) || p.listed(callsSome, p.text(i+1))
}

// deletes handles a delete of everything that a query returns: User.objects.all().delete().
func (p *plainCode) deletes(i int, empty bool) bool {
	name := p.text(i)
	return empty && (name == "delete" || name == "destroy" || name == "remove") && p.chained(i, callsAll)
}

// truncates distinguishes truncating a table from truncating a string or a file.
func (p *plainCode) truncates(i int, empty bool) bool {
	owner := p.text(i - 2)
	if p.text(i-1) == ":" {
		owner = p.text(i - 3)
	}
	capital := owner != "" && owner[0] >= 'A' && owner[0] <= 'Z' && owner != "File" && p.lang != "python"
	switch p.lang {
	case "php":
		return empty || p.chained(i, callsAll)
	case "ruby":
		return owner == "connection"
	case "node":
		return (empty || p.text(i+2) == "{") && (capital || owner == ")")
	}
	return empty && capital
}

// statement judges the SQL that is an argument of the method at i.
func (p *plainCode) statement(i int) {
	if p.lang == "python" && (p.text(i) == "execute" || p.text(i) == "executescript") && p.text(i+2) != "text" {
		return // what it is called on is known better
	}
	for k := i + 1; k < len(p.tokens) && k < i+maxArguments && p.text(k) != ";"; k++ {
		if p.tokens[k].Kind == languages.TokenString {
			p.c.SqlAt(p.db, abstract.Word(p.text(k)))
		}
	}
}

// maxArguments limits how far after a method its arguments are searched for.
const maxArguments = 12

// ends handles an operation of a service's library whose name shows what it ends:
// terminate_instances.
func (p *plainCode) ends(name string) {
	verb, object := operation.WordsOf(p.c.Shell.In.Rows).Ending(name)
	if verb == "" || object == "" {
		return
	}
	p.c.Signal(engine.SignalInfraDelete)
	p.c.Emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: verb, Object: object, Egress: true, Reversible: engine.R5},
		abstract.Word(p.c.Name))
}

// console handles the console of a project's framework: the code in the options and
// operands that the row names after the language, or on its standard input.
func console(c *shell.Call) {
	c.Process()
	lang, found := c.Words[0], false
	for _, word := range c.Words[1:] {
		list := c.Opts.All(word)
		if n := len(c.Opts.Operands); word == "last" && n > 1 {
			list = c.Opts.Operands[n-1:]
		}
		for _, code := range list {
			found = true
			consoleCode(c, lang, code)
		}
	}
	if in := c.Shell.Frame.Stdin; in != nil && !found {
		languageInput(c, lang)
	}
}

// consoleCode returns the code of a console, or the file that contains it.
func consoleCode(c *shell.Call, lang string, code abstract.Arg) {
	if file, ok := c.Shell.CodeIn(code, lang); ok && !strings.ContainsAny(code.Text, " (") {
		c.Reads(code)
		c.RunsCode(file, []abstract.Arg{code})
		return
	}
	c.Extract(lang, code, c.Name+"-e")
}
