package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Knowledge returns what the shell's machine needs to know about programs.
func Knowledge(set *rows.Set) shell.Knowledge {
	return shell.Knowledge{
		Run:     runProgram,
		Program: func(name string) bool { return known(set, name) },
		Agent:   func(name string) bool { return kindOf(set, name) == rows.Agent },
		Code:    extract,
		Go:      escape,
	}
}

// known reports whether the effects of a program are known.
func known(set *rows.Set, name string) bool {
	k, ok, err := set.Program(name)
	return err == nil && ok && !k.Converted && k.Does()
}

func kindOf(set *rows.Set, name string) string {
	k, _, _ := set.Program(name)
	return k.Kind
}

// runProgram determines what a program does.
func runProgram(c *shell.Call) shell.Outcome {
	if service := serviceScript(c); service != nil {
		return c.Shell.Invoke(service, c.Node)
	}
	k, _, err := c.Shell.In.Rows.Program(c.Name)
	if err != nil {
		c.Shell.Opaque("command", c.Path.Text)
	}
	c.Known = !k.Converted && k.Does()
	if c.Known && c.Local() && k.ReadsOnly {
		c.Known = false // ./ls is not ls
	}
	c.Shell.Unmarked(k.Kind)
	c.Shell.SignalIf(!c.Known && (c.Shell.Frame.Cleared || c.Shell.Frame.Renamed), engine.SignalDisguised)
	if o, ok := wrapped(c, k); ok {
		addRows(c, k.Added)
		return o
	}
	converted := k.Program
	if k.Converted { // it must not hide anything that is seen without it
		k.Program = rows.Program{}
	}
	preset := fromVariables(c, k.Program)
	if rows.Has(k.Grammar, rows.Letters) && len(preset) == 0 && len(c.Args) > 0 && c.Args[0].Text != "" && !c.Args[0].HasPrefix("-") {
		c.Args[0].Text = "-" + c.Args[0].Text
	}
	c.Opts = options.Parse(slices.Concat(preset, c.Args), grammar(c, k.Program))
	c.Record()
	c.NoRow = !c.Known && !c.Local() && len(k.Hops) == 0
	does(c, k)
	answersQuestion(c)
	notes(c)
	if k.Converted {
		adds(c, converted)
	}
	addRows(c, k.Added)
	c.Strangers(!c.Known || k.Kind == "database")
	if len(c.Subs) > 0 && slices.Contains(c.Shell.In.Rows.Words("flows.publishes"), c.Name+"="+c.Subs[0]) {
		c.Hands(c.Name)
	}
	c.Finish()
	return shell.Outcome{Out: c.Out, Fail: c.Shell.Scope.Dirs}
}

// fromVariables returns the words that the program takes from variables that the script sets.
func fromVariables(c *shell.Call, p rows.Program) (words []abstract.Arg) {
	for _, name := range strings.Fields(p.Variables) {
		if _, set := c.Shell.Scope.Lookup(name); set {
			words = append(words, fieldsOf(c.Shell.Read(name))...)
		}
	}
	return words
}

// serviceScript returns the command equivalent to a system script for a service:
// /etc/init.d/web stop is service web stop.
func serviceScript(c *shell.Call) []abstract.Arg {
	name := path.Base(c.Path.Text)
	if !c.Path.Known() || !slices.Contains(c.Shell.In.Rows.Words("programs.service_scripts"), path.Dir(c.Path.Text)) {
		return nil
	}
	return slices.Concat([]abstract.Arg{abstract.Word("service"), c.Path.With(name)}, c.Args)
}

// does records the effects of a call according to the rows of its program.
func does(c *shell.Call, k rows.Known) {
	switch {
	case hops(c, k.Hops), bareSQL(c):
	case c.Known && asksHelp(c, k.Program):
		c.Shell.Signal(engine.SignalDryRun)
		c.Out = abstract.Arg{}
		c.Process()
	case c.Known:
		follow(c, k.Program)
	default:
		unlisted(c)
		guesses(c)
		if !k.Converted {
			follow(c, rows.Program{Notes: k.Notes})
		}
	}
}

// addRows applies the rows that may only add. They do not apply within each other, so that
// rows that refer to each other use no budget.
func addRows(c *shell.Call, added []rows.Row) {
	if len(added) == 0 || c.Shell.Frame.Adding {
		return
	}
	c.Shell.Frame.Adding = true
	for _, row := range added {
		if row.Reveals {
			reveals(c, row.Program)
			continue
		}
		c.Record()
		adds(c, row.Program)
	}
	c.Shell.Frame.Adding = false
}

// reveals applies a row that only defines which calls show secrets. It parses the arguments itself,
// and does not make the program known.
func reveals(c *shell.Call, row rows.Program) {
	own := *c
	own.Opts = options.Parse(c.Args, grammar(c, row))
	own.Subs = nil
	follow(&own, rows.Program{Notes: row.Notes})
}

// adds applies a row that may add to what is known but not remove anything: it parses the
// arguments itself, and its statements about the output are ignored.
func adds(c *shell.Call, row rows.Program) {
	own := *c
	own.Opts = options.Parse(c.Args, grammar(c, row))
	if row.Wraps != nil {
		wrapped(&own, rows.Known{Program: row})
	}
	if !row.Does() && !c.Known {
		unlisted(&own)
	}
	if !hops(&own, row.Hops) {
		follow(&own, row)
	}
}

// notes adds what applies to many programs alike, by their options alone.
func notes(c *shell.Call) {
	unchecked(c)
	exposes(c)
	c.Shell.SignalIf(posesAsClient(c), engine.SignalGuardTamper)
}

// asksHelp reports whether a program only prints its help or version. Options after a
// subcommand count too, unless those of the program must come first.
func asksHelp(c *shell.Call, p rows.Program) bool {
	if rows.Has(p.Grammar, rows.Own) || len(c.Args) == 0 {
		return false
	}
	if len(c.Args) == 1 && c.Args[0].Is("--help", "--version", "-help", "-version", "-V", "help", "version") {
		return c.Args[0].HasPrefix("-")
	}
	parsed := c.Opts
	if len(p.Subcommands) > 0 {
		p.Subcommands = nil
		c.Opts = options.Parse(c.Args, grammar(c, p))
	}
	asks := func(option string) bool { return c.Opts.Exact(option) && c.On(false, option) }
	if asks("--help") || asks("--version") && len(c.Args) <= 2 {
		return true
	}
	c.Opts = parsed
	return false
}
