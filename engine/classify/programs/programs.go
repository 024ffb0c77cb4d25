package programs

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Knowledge is what the shell's machine is handed.
func Knowledge(set *rows.Set) shell.Knowledge {
	return shell.Knowledge{
		Run:     runProgram,
		Program: func(name string) bool { return known(set, name) },
		Agent:   func(name string) bool { return kindOf(set, name) == rows.Agent },
		Code:    languages.Extract,
		Go:      escape,
	}
}

// known reports whether it is known what a program does.
func known(set *rows.Set, name string) bool {
	k, ok, err := set.Program(name)
	return err == nil && ok && !k.Converted && k.Does() || shell.Language(name) != ""
}

func kindOf(set *rows.Set, name string) string {
	k, _, _ := set.Program(name)
	return k.Kind
}

// runProgram finds out what a program does.
func runProgram(c *shell.Call) shell.Outcome {
	k, _, err := c.Shell.In.Rows.Program(c.Name)
	if err != nil {
		c.Shell.Opaque("command", c.Path.Text)
	}
	if shell.Language(c.Name) != "" {
		k.Program, k.Converted = rows.Program{Grammar: rows.Own, Go: "interpreter"}, false
	}
	c.Known = !k.Converted && k.Does()
	if c.Known && c.Local() && k.ReadsOnly {
		c.Known = false // ./ls is not ls
	}
	if o, ok := wrapped(c, k); ok {
		return o
	}
	converted := k.Program
	if k.Converted { // nothing of what is seen without it may go away
		k.Program = rows.Program{}
	}
	if rows.Has(k.Grammar, rows.Letters) && len(c.Args) > 0 && c.Args[0].Text != "" && !c.Args[0].HasPrefix("-") {
		c.Args[0].Text = "-" + c.Args[0].Text
	}
	c.Opts = shell.ParseOptions(c.Args, grammar(k.Program))
	c.Record()
	does(c, k)
	notes(c)
	if k.Converted {
		adds(c, converted)
	}
	if !c.Shell.Frame.Adding { // so that rows that lead to each other use up nothing
		c.Shell.Frame.Adding = true
		for _, row := range k.Added {
			adds(c, row.Program)
		}
		c.Shell.Frame.Adding = false
	}
	c.Finish()
	return shell.Outcome{Out: c.Out, Fail: c.Shell.Scope.Dirs}
}

// does notes what a call does by what is known of its program.
func does(c *shell.Call, k rows.Known) {
	switch {
	case hops(c), bareSQL(c):
	case c.Known && asksHelp(c, rows.Has(k.Grammar, rows.Own)):
		c.Shell.Signal(engine.SignalDryRun)
		c.Out = abstract.Arg{}
		c.Process()
	case c.Known:
		follow(c, k.Program)
	default:
		unlisted(c)
	}
}

// adds follows a row that may add to what is known, and take nothing away: it
// has its own reading of the arguments, and what it says of the output is not
// heard.
func adds(c *shell.Call, row rows.Program) {
	own := *c
	own.Opts = shell.ParseOptions(c.Args, grammar(row))
	if row.Wraps != nil {
		wrapped(&own, rows.Known{Program: row})
	}
	if !row.Does() && !c.Known {
		unlisted(&own)
	}
	follow(&own, row)
}

// notes adds what holds of many programs alike, by their options alone.
func notes(c *shell.Call) {
	reveals(c)
	unchecked(c)
	indexes(c)
	exposes(c)
	unlocks(c)
	c.Shell.SignalIf(speaksAsClient(c), engine.SignalGuardTamper)
}

// asksHelp reports whether a program only prints its help or version; own: it
// reads --help itself.
func asksHelp(c *shell.Call, own bool) bool {
	if own || len(c.Args) == 0 {
		return false
	}
	if len(c.Args) == 1 && c.Args[0].Is("--help", "--version", "-help", "-version", "-V", "help", "version") {
		return c.Args[0].HasPrefix("-")
	}
	return c.Opts.Exact("--help") || c.Opts.Exact("--version") && len(c.Args) <= 2
}
