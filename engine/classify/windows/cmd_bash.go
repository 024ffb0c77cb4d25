package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// WindowsShell runs cmd or PowerShell where another shell has started it.
func WindowsShell(c *shell.Call) {
	s := c.Shell
	if c.Index < 0 {
		return // over budget
	}
	w := newWindows(s.In)
	w.dirs = s.Scope.Dirs
	for name, text := range s.Files {
		w.files[strings.ToLower(name)] = text
	}
	w.Steps, w.Bytes, w.Parsed, w.Out.Secrets = s.Steps, s.Bytes, s.Parsed, slices.Clone(s.Out.Secrets)
	w.frame = winFrame{host: s.Frame.Host, wrappers: s.Frame.Wrappers, via: s.Frame.Via, privileged: s.Frame.Privileged, muted: s.Frame.Muted,
		stdin: s.Frame.Stdin, depth: s.Frame.Depth + 1}
	inner := w.call(abstract.Word(c.Name), switches(c.Args))
	inner.index = 0 // the command that started it is recorded already
	w.Out.Commands = append(w.Out.Commands, s.Out.Commands[c.Index])
	if run := winProgram(inner.name); run != nil {
		run(inner)
	}
	s.Steps, s.Bytes, s.Parsed = w.Steps, w.Bytes, w.Parsed
	c.Out, s.Out.Secrets = inner.out, w.Out.Secrets
	adopt(c, w.Out)
}

// switches returns the arguments as the program receives them: Git Bash converts /f to
// a path, and //f to /f.
func switches(args []abstract.Arg) []abstract.Arg {
	out := slices.Clone(args)
	for i, a := range out {
		if strings.HasPrefix(a.Text, "//") && len(a.Text) > 2 && strings.IndexByte(a.Text[2:], '/') < 0 && !strings.Contains(a.Text, `\`) {
			out[i] = a.With(a.Text[1:])
		}
	}
	return out
}

// WindowsProgram runs a Windows program that another shell starts by its full name
// with extension; the name alone is a program of another system.
func WindowsProgram(c *shell.Call) {
	if strings.HasSuffix(strings.ToLower(c.Path.Text), ".exe") {
		WindowsShell(c)
		return
	}
	c.Process()
}

// adopt merges the effects of another interpreter's code into those of this command,
// which is its first command.
func adopt(c *shell.Call, sub abstract.Script) {
	s := c.Shell
	base := len(s.Out.Commands) - 1
	if base+len(sub.Commands) > shell.MaxCommands {
		s.OverBudget(c.Name)
		return
	}
	for _, cmd := range sub.Commands[1:] {
		s.Out.Commands = append(s.Out.Commands, cmd)
		s.Out.Origins = append(s.Out.Origins, abstract.Origin{})
	}
	for _, e := range sub.Effects {
		if e.Command > 0 {
			e.Command += base
		} else {
			e.Command = c.Index
		}
		if !s.Frame.Isolated || !shell.Walled(e.Kind) {
			s.Add(e)
			continue
		}
		for _, m := range s.ThroughMounts(e, e.Target.Arg()) {
			e.Host, e.Target = m.On, m.Host.Value()
			s.Add(e)
		}
	}
	for _, f := range sub.Flows {
		if f.Command = max(f.Command, 0); f.Command == 0 {
			f.Command = c.Index - base
		}
		f.Command += base
		s.Out.Flows = append(s.Out.Flows, f)
	}
	for id, on := range sub.Signals {
		if on {
			s.Signal(id)
		}
	}
	s.Out.Waits = s.Out.Waits || sub.Waits
	s.Out.Starts = append(s.Out.Starts, sub.Starts...)
	s.Out.Remotes = append(s.Out.Remotes, sub.Remotes...)
	s.Out.Taken = append(s.Out.Taken, sub.Taken...)
	for _, o := range sub.Opaque {
		s.Opaque(o.Reason, o.Where)
	}
}
