package shell

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// IsShell reports whether a program is a shell of the Bourne family, or fish.
func IsShell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "rbash", "fish", "yash", "oksh", "pdksh"}, name)
}

// Language returns what an interpreter runs; empty if name is not one.
func Language(name string) string {
	switch {
	case IsShell(name):
		return "shell"
	case strings.HasPrefix(name, "python"), strings.HasPrefix(name, "pypy"):
		return "python"
	case name == "node" || name == "nodejs" || name == "bun" || name == "deno" || name == "ts-node" || name == "tsx":
		return "node"
	case strings.HasPrefix(name, "perl"):
		return "perl"
	case strings.HasPrefix(name, "ruby"), name == "irb":
		return "ruby"
	case strings.HasPrefix(name, "php"), name == "lua", name == "Rscript", name == "rscript", name == "osascript", name == "tclsh", name == "groovy":
		return strings.TrimRight(name, "0123456789.")
	}
	return ""
}

// codeBuiltin runs the builtins whose arguments are commands or code.
func (c *Call) codeBuiltin() (Outcome, bool) {
	s := c.Shell
	here := Outcome{Fail: s.Scope.Dirs}
	switch c.Name {
	case "emulate": // zsh
		if n := len(c.Args); n > 1 && c.Args[n-2].Is("-c") {
			return s.Embed(c.Args[n-1], "eval", true), true
		}
		return here, true
	case "eval":
		code := JoinWords(c.Args)
		if strings.TrimSpace(code.Text) == "" {
			return here, true
		}
		return s.Embed(code, "eval", true), true
	case ".", "source":
		return c.sourceFile(), true
	case "trap":
		c.trap()
		return here, true
	case "exec":
		return c.execute()
	}
	args := c.Args
	for len(args) > 0 && args[0].Is("-p", "--") {
		args = args[1:]
	}
	if len(args) == 0 || args[0].Is("-v", "-V") {
		c.Record()
		c.Finish()
		here.Out = ProgramPath(args[min(1, len(args)):])
		return here, true
	}
	saved := s.Frame
	s.Frame.Wrappers = AppendText(saved.Wrappers, c.Name)
	inner := *c
	inner.Path, inner.Args = args[0], args[1:]
	defer func() { s.Frame = saved }()
	if !inner.resolve() {
		return inner.unknown(), true
	}
	return inner.run(), true
}

// ProgramPath returns the output of which and command -v: some directory, then the
// name. For the guard's program it is a directory of programs, so that the path is
// recognised as the guard's.
func ProgramPath(names []abstract.Arg) abstract.Arg {
	if len(names) == 0 {
		return abstract.UnknownArg()
	}
	last := names[len(names)-1]
	if last.Is(place.GuardPrograms()...) {
		return last.With("/usr/local/bin/" + last.Text + "\n")
	}
	return last.With(abstract.HoleText + "/" + last.Text + "\n")
}

// execute runs exec: another program replaces the shell.
func (c *Call) execute() (Outcome, bool) {
	s := c.Shell
	o := options.Parse(c.Args, options.Grammar{First: true, Values: " -a "})
	if len(o.Operands) == 0 {
		c.Record()
		c.Finish()
		return Outcome{Fail: s.Scope.Dirs}, true
	}
	out := c.Nested(func() Outcome {
		s.Frame.Cleared, s.Frame.Renamed = s.Frame.Cleared || o.Has("-c"), s.Frame.Renamed || o.Has("-a")
		return s.Invoke(o.Operands, c.Node)
	})
	out.ends = true
	return out, true
}

// sourceFile runs a file's code in this shell.
func (c *Call) sourceFile() Outcome {
	s := c.Shell
	if len(c.Args) == 0 {
		return Outcome{Fail: s.Scope.Dirs}
	}
	file := c.Args[0]
	if class := s.classOf(s.Scope.Dirs[0], file.Value()); class != "" {
		s.sourced = class
	}
	switch code, ok := s.CodeIn(file, "shell"); {
	case file.From != nil:
		return s.Embed(*file.From, "source", true)
	case ok:
		if code.Via == "script" {
			c.Record()
			c.Reads(file)
			c.Finish()
		}
		return c.sources(code)
	case file.Is("/dev/stdin") && s.Frame.Stdin != nil:
		return s.Embed(*s.Frame.Stdin, "source", true)
	}
	c.Record()
	c.Reads(file)
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "exec"}, abstract.Word(c.Name)) // its code is unread, and may do anything
	c.Finish()
	return Outcome{Out: abstract.UnknownArg(), Fail: s.Scope.Dirs}
}

// trap stores code for later. It runs in a later state, which is treated as unknown.
// For code that runs at the end, a variable without a value is empty or has its later
// value.
func (c *Call) trap() {
	args := c.Args
	for len(args) > 0 && args[0].Is("--", "-p", "-l") {
		args = args[1:]
	}
	for _, a := range args[min(1, len(args)):] {
		c.Shell.traps = c.Shell.traps || !args[0].Is("-") && !a.Is("EXIT", "ERR", "DEBUG", "RETURN", "0")
	}
	if len(args) < 2 || args[0].Is("-", "") {
		return
	}
	c.Signal(engine.SignalDeferred)
	unset := c.Shell.unset
	c.Shell.unset = unset || !slices.ContainsFunc(args[1:], func(a abstract.Arg) bool { return !atEnd(a) })
	c.Shell.runTrap(args[0])
	c.Shell.unset = unset
	if len(c.Shell.pending) < MaxDepth {
		c.Shell.pending = append(c.Shell.pending, args[0])
	} else {
		c.Shell.OverBudget("trap")
	}
}

// atEnd reports whether a trap's condition is the end of the shell, or a signal
// that ends it.
func atEnd(condition abstract.Arg) bool {
	return condition.Is("EXIT", "0", "INT", "TERM", "HUP", "QUIT", "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "1", "2", "3", "15")
}

func (s *Machine) runTrap(code abstract.Arg) {
	if s.trees[code.Text] == nil {
		if list, ok := Parse(code.Text); ok {
			s.trees[code.Text] = list
		}
	}
	s.Subshell(func() Outcome { return s.Embed(code, "trap", true) })
}

// leave runs the traps where the shell may end.
func (s *Machine) leave() {
	if s.leaving {
		return
	}
	s.leaving = true
	defer func() { s.leaving = false }()
	for _, code := range s.pending {
		s.runTrap(code)
	}
}

// runTraps runs the traps again at the end, with the variables, functions and
// directory of that time.
func (s *Machine) runTraps(from int) {
	list := s.pending[from:]
	s.pending = s.pending[:from:from]
	for _, code := range list {
		s.runTrap(code)
	}
}

// Bound runs code with $0, $1 … set.
func (c *Call) Bound(code abstract.Arg, via string, args []abstract.Arg, errexit bool) {
	c.Out = c.Child(func() Outcome {
		s := c.Shell
		s.Scope.args, s.Scope.bound, s.Scope.name = nil, true, abstract.Arg{}
		s.Scope.errexit = errexit
		s.Scope.funcs, s.Scope.aliases = nil, nil
		if len(args) > 0 {
			s.Scope.name, s.Scope.args = args[0], args[1:]
		} else {
			s.Scope.bound = false
		}
		from := len(s.pending)
		o := s.Embed(code, via, true)
		s.Frame.Via = AppendText(s.Frame.Via, via)
		s.runTraps(from)
		return o
	}).Out
}

// Nested runs f as a child process of this command, which is a wrapper of what
// f runs.
func (c *Call) Nested(f func() Outcome) Outcome {
	s := c.Shell
	if s.nesting++; s.nesting > MaxNesting {
		s.OverBudget(c.Name)
	}
	defer func() { s.nesting-- }()
	return s.Subshell(func() Outcome {
		s.Frame.Wrappers = AppendText(s.Frame.Wrappers, c.Name)
		return f()
	})
}

// Child runs f as a process that this command starts.
func (c *Call) Child(f func() Outcome) Outcome {
	c.Shell.Frame.Depth++
	defer func() { c.Shell.Frame.Depth-- }()
	return c.Shell.Subshell(f)
}

// Extract finds the effects of code in another language.
func (c *Call) Extract(lang string, code abstract.Arg, via string) {
	s := c.Shell
	if code.Taint&abstract.Decoded != 0 {
		s.Signal(engine.SignalObfuscated)
	}
	if strings.Trim(code.Text, abstract.Holes+" \t\n") == "" && !code.Known() {
		s.Unseen(code, via)
		return
	}
	if pushesInput(code.Text) {
		s.Unseen(code, via)
	}
	if s.Frame.Depth >= MaxDepth || s.Parsed+len(code.Text) > MaxEmbedded {
		s.OverBudget(via)
		return
	}
	s.Parsed += len(code.Text)
	s.Out.Modules = append(s.Out.Modules, modules(code.Text)...)
	c.Record()
	since := len(s.Out.Effects)
	c.Child(func() Outcome {
		s.Frame.Via = AppendText(s.Frame.Via, via)
		s.In.Knows.Code(c, lang, code)
		return Outcome{}
	})
	c.codeFlows(since, code)
	c.Out = abstract.Arg{Text: abstract.HoleText}
}
