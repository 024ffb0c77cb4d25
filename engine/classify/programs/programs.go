package programs

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// Knowledge is what the shell's machine is handed.
func Knowledge() shell.Knowledge {
	return shell.Knowledge{
		Run:     runProgram,
		Program: func(name string) bool { _, ok := lookup(name); return ok },
		Agent:   func(name string) bool { return agentPrograms(name).Run != nil },
		Code:    languages.Extract,
	}
}

// lookup finds a program in the tables of the families.
func lookup(name string) (shell.Program, bool) {
	for _, family := range []func(string) shell.Program{
		readPrograms, filePrograms, gitPrograms, netPrograms, systemPrograms, packagePrograms,
		containerPrograms, cloudPrograms, databasePrograms, agentPrograms, buildPrograms, carrierPrograms,
	} {
		if p := family(name); p.Run != nil {
			return p, true
		}
	}
	return shell.Program{}, false
}

// runProgram finds out what a program does.
func runProgram(c *shell.Call) shell.Outcome {
	if o, ok := wrapped(c); ok {
		return o
	}
	p, ok := lookup(c.Name)
	if ok && c.Local() && p.Reads() {
		ok = false // ./ls is not ls
	}
	c.Known = ok
	c.Opts = shell.ParseOptions(c.Args, p)
	c.Record()
	switch {
	case hops(c):
	case bareSQL(c):
	case !ok:
		unlisted(c)
	case asksHelp(c, p):
		c.Shell.Signal(engine.SignalDryRun)
		c.Out = abstract.Arg{}
		c.Process()
	default:
		p.Run(c)
	}
	notes(c)
	c.Finish()
	return shell.Outcome{Out: c.Out, Fail: c.Shell.Scope.Dirs}
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

// asksHelp tells whether a program only prints its help or version.
func asksHelp(c *shell.Call, p shell.Program) bool {
	if p.Own || len(c.Args) == 0 {
		return false
	}
	if len(c.Args) == 1 && c.Args[0].Is("--help", "--version", "-help", "-version", "-V", "help", "version") {
		return c.Args[0].HasPrefix("-")
	}
	return c.Opts.Exact("--help") || c.Opts.Exact("--version") && len(c.Args) <= 2
}
