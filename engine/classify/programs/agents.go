package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// reports adds the files that a command of reviewer writes in a format: json=FILE.
func reports(c *shell.Call) {
	for _, f := range c.Opts.All("-f", "--format") {
		if _, file, named := strings.Cut(f.Text, "="); named {
			c.Writes("create", f.With(file))
		}
	}
}

// formats handles `reviewer policy fmt`, which changes files unless it only lists or shows
// the changes.
func formats(c *shell.Call) {
	if !c.On(false, "--check", "--diff") {
		c.Writes("modify", c.Opts.Operands[2:]...)
	}
}

// trash handles `reviewer trash`: like rm, but undoable. Only reviewer itself is trusted to
// do that, and only with the trash of its own state.
func trash(c *shell.Call) {
	o, operands := c.Opts, c.Opts.Operands[1:]
	to, elsewhere := o.Get("--to")
	switch {
	case on(o, "--empty"):
		c.Signal(engine.SignalGuardTamper) // what could be undone no longer can
		c.Process()
	case c.On(false, "--list"), !genuine(c):
		c.Process()
	case elsewhere:
		c.Process()
		c.Writes("create", to)
	case on(o, "--restore"):
		c.Process()
		for _, a := range operands {
			if strings.Trim(a.Text, "0123456789-") != "" { // a path, not an id
				c.Writes("create", a)
			}
		}
	case o.Has("--home"):
		c.Deletes(true, false, operands...)
	default:
		c.Out = abstract.Arg{}
		c.Removes(abstract.RawEffect{Verb: "trash", Recursive: true, Reversible: engine.R1}, operands...)
	}
}

// on reports whether a switch is set and not unset, as by --list=false.
func on(o options.Options, name string) bool {
	on := false
	for _, opt := range o.List {
		if opt.Matches(name) {
			on = !opt.Has || !opt.Value.Is("false", "False", "FALSE", "f", "F", "0")
		}
	}
	return on
}

// genuine reports whether this is reviewer, and not a file of the project with its name, or
// something that the code itself has put in its place.
func genuine(c *shell.Call) bool {
	if c.Shell.In.Program != "" && c.Path.Is(c.Shell.In.Program) {
		return true
	}
	_, moved := c.Shell.Scope.Lookup("PATH")
	return !c.Local() && !moved
}
