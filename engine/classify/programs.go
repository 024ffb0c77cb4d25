package classify

import "github.com/agent-reviewer/reviewer/engine"

// programKnowledge is what the shell's machine is handed.
func programKnowledge() knowledge {
	return knowledge{
		run:     runProgram,
		program: func(name string) bool { _, ok := lookup(name); return ok },
		agent:   func(name string) bool { return agentPrograms(name).run != nil },
		code:    extract,
	}
}

// lookup finds a program in the tables of the families.
func lookup(name string) (program, bool) {
	for _, family := range []func(string) program{
		readPrograms, filePrograms, gitPrograms, netPrograms, systemPrograms, packagePrograms,
		containerPrograms, cloudPrograms, databasePrograms, agentPrograms, buildPrograms, carrierPrograms,
	} {
		if p := family(name); p.run != nil {
			return p, true
		}
	}
	return program{}, false
}

// runProgram finds out what a program does.
func runProgram(c *call) outcome {
	if o, ok := c.wrapper(); ok {
		return o
	}
	p, ok := lookup(c.name)
	if ok && c.local() && p.reads() {
		ok = false // ./ls is not ls
	}
	c.known = ok
	c.opts = parseOptions(c.args, p)
	c.record()
	switch {
	case c.hop():
	case c.bareSQL():
	case !ok:
		c.unlisted()
	case c.asksHelp(p):
		c.s.signal(engine.SignalDryRun)
		c.out = arg{}
		c.process()
	default:
		p.run(c)
	}
	c.notes()
	c.finish()
	return outcome{out: c.out, fail: c.s.scope.dirs}
}

// notes adds what holds of many programs alike, by their options alone.
func (c *call) notes() {
	c.reveals()
	c.unchecked()
	c.indexes()
	c.exposes()
	c.unlocks()
	c.s.signalIf(c.speaksAsClient(), engine.SignalGuardTamper)
}

// asksHelp tells whether a program only prints its help or version.
func (c *call) asksHelp(p program) bool {
	if p.own || len(c.args) == 0 {
		return false
	}
	if len(c.args) == 1 && c.args[0].is("--help", "--version", "-help", "-version", "-V", "help", "version") {
		return c.args[0].hasPrefix("-")
	}
	return c.opts.exact("--help") || c.opts.exact("--version") && len(c.args) <= 2
}
