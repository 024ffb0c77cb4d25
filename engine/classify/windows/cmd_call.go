package windows

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

func (w *interpreter) call(name abstract.Arg, args []abstract.Arg) *winCall {
	return &winCall{w: w, path: name, name: winName(name.Text), args: args, index: -1, out: abstract.Arg{Text: abstract.HoleText}}
}

// winName returns a program's name without path and extension.
func winName(text string) string {
	low := strings.ToLower(strings.Trim(text, `"`))
	if i := strings.LastIndexAny(low, `/\`); i >= 0 {
		low = low[i+1:]
	}
	for _, ext := range []string{".exe", ".com", ".cmd", ".bat"} {
		low = strings.TrimSuffix(low, ext)
	}
	return low
}

// record adds the command to the list of commands, with its switches separate from its
// operands.
func (c *winCall) record() {
	if c.index >= 0 {
		return
	}
	e := engine.Command{Name: c.name}
	for _, a := range c.args {
		if isSwitch(a) {
			e.Flags = append(e.Flags, strings.ToLower(a.Show()))
		} else {
			e.Operands = append(e.Operands, a.Show())
		}
	}
	c.enter(e)
}

func (c *winCall) enter(e engine.Command) {
	w := c.w
	if len(w.Out.Commands) >= shell.MaxCommands {
		w.OverBudget("commands")
		return
	}
	e.Wrappers, e.Via = w.frame.wrappers, w.frame.via
	c.index = len(w.Out.Commands)
	w.Out.Commands = append(w.Out.Commands, e)
}

// isSwitch distinguishes /s and -s from a path, which has a second slash.
func isSwitch(a abstract.Arg) bool {
	return !a.Quoted && len(a.Text) > 1 && (a.Text[0] == '-' || a.Text[0] == '/' && strings.IndexByte(a.Text[1:], '/') < 0)
}

// has reports whether one of the switches is given, with / or -, in any case.
func (c *winCall) has(names ...string) bool {
	_, ok := c.find(names)
	return ok
}

func (c *winCall) find(names []string) (int, bool) {
	for i, a := range c.args {
		if len(a.Text) < 2 || a.Text[0] != '/' && a.Text[0] != '-' {
			continue
		}
		flag, _, _ := strings.Cut(strings.ToLower(a.Text[1:]), ":")
		if slices.Contains(names, flag) {
			return i, true
		}
	}
	return 0, false
}

// value returns the value of a switch: /tn X or /tn:X.
func (c *winCall) value(names ...string) (abstract.Arg, bool) {
	i, ok := c.find(names)
	if !ok {
		return abstract.Arg{}, false
	}
	if _, v, glued := strings.Cut(c.args[i].Text, ":"); glued {
		return c.args[i].With(v), true
	}
	if i+1 < len(c.args) {
		return c.args[i+1], true
	}
	return abstract.Arg{}, false
}

// operands are the arguments that are not switches.
func (c *winCall) operands() []abstract.Arg { return slices.DeleteFunc(slices.Clone(c.args), isSwitch) }

// sub is the i-th operand in lower case.
func (c *winCall) sub(i int) string {
	if list := c.operands(); i < len(list) {
		return strings.ToLower(list[i].Text)
	}
	return ""
}

func (c *winCall) emit(e abstract.RawEffect, targets ...abstract.Arg) {
	e.Command = c.index
	before := len(c.w.Out.Effects)
	c.w.emit(e, targets...)
	if e.Kind == engine.EffectNetwork {
		values := make([]handed, 0, len(c.args)+1)
		for _, a := range c.args {
			values = append(values, handed{text: a})
		}
		if in := c.w.frame.stdin; in != nil {
			values = append(values, handed{text: *in})
		}
		c.w.hands(before, values...)
	}
}

func (c *winCall) reads(targets ...abstract.Arg) {
	c.emit(abstract.RawEffect{Kind: engine.EffectFileRead, Verb: "read"}, targets...)
}

func (c *winCall) writes(verb string, targets ...abstract.Arg) {
	c.emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: verb}, targets...)
}

func (c *winCall) system(verb, target string) {
	c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb}, abstract.Word(target))
}

// installs notes a change that outlives the session.
func (c *winCall) installs(verb, target string) {
	c.emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb, Persistence: true}, abstract.Word(target))
}

func (c *winCall) fetches(from abstract.Arg) {
	c.out.Taint |= abstract.Fetched
	if host := shareHost(from); host != "" {
		from = from.With(host)
	}
	c.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "fetch"}, from)
}

func (c *winCall) sends(verb string, to abstract.Arg) {
	c.emit(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: verb, Egress: true}, to)
}

func (c *winCall) execs() {
	c.emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "exec"}, c.path)
}

// external runs a program that is not part of Windows: it behaves the same under any
// shell.
func (c *winCall) external() {
	w := c.w
	if w.frame.depth >= shell.MaxDepth {
		w.OverBudget(c.name)
		return
	}
	s := shell.New(w.in)
	s.Scope.Dirs = w.dirs
	s.Steps, s.Bytes, s.Parsed = w.Steps, w.Bytes, w.Parsed
	s.Frame = shell.Frame{Host: w.frame.host, Wrappers: w.frame.wrappers, Via: w.frame.via, Privileged: w.frame.privileged,
		Muted: w.frame.muted, Stdin: w.frame.stdin, Piped: w.frame.stdin != nil, Depth: w.frame.depth + 1}
	for name, v := range w.env {
		s.Scope.SetText(strings.ToUpper(name), v)
	}
	argv := []abstract.Arg{c.path.With(programPathOf(c.path.Text))}
	for _, a := range c.args {
		argv = append(argv, w.slashed(a))
	}
	maps.Copy(s.Files, w.files)
	s.Out.Secrets = slices.Clone(w.Out.Secrets)
	o := s.Invoke(argv, nil)
	w.Out.Secrets = s.Out.Secrets
	for name, text := range s.Files {
		w.files[strings.ToLower(name)] = text
	}
	first := len(w.Out.Commands)
	w.merge(s.Out)
	w.Steps, w.Bytes, w.Parsed = s.Steps, s.Bytes, s.Parsed
	if c.out = o.Out; c.index < 0 && len(w.Out.Commands) > first {
		c.index = first
	}
	c.downloads(s.Out)
}

// programPathOf returns a program as the shell's tables name it.
func programPathOf(text string) string {
	text = strings.ReplaceAll(strings.Trim(text, `"`), `\`, "/")
	for _, ext := range []string{".cmd", ".bat", ".com", ".exe"} {
		if len(text) > len(ext) && strings.EqualFold(text[len(text)-len(ext):], ext) {
			text = text[:len(text)-len(ext)]
		}
	}
	return text
}

// slashed writes the paths of Windows so that programs of other systems see
// the same file.
func (w *interpreter) slashed(a abstract.Arg) abstract.Arg {
	t := a.Text
	home := strings.ReplaceAll(w.in.Home, "/", `\`)
	if strings.HasPrefix(t, `\tmp\`) || home != "" && (t == home || strings.HasPrefix(t, home+`\`)) || place.Drive(t) ||
		strings.HasPrefix(t, `.\`) || strings.HasPrefix(t, `..\`) || strings.HasPrefix(t, `~\`) || strings.HasPrefix(t, `\\`) {
		a = a.With(strings.ReplaceAll(t, `\`, "/"))
	}
	a.Glob = a.Glob || !a.Quoted && strings.ContainsAny(a.Text, "*?") && !abstract.IsURL(a)
	return a
}

// downloads notes a URL among the arguments of an unknown program: many Windows
// programs can download files.
func (c *winCall) downloads(sub abstract.Script) {
	if slices.ContainsFunc(sub.Effects, func(e abstract.RawEffect) bool { return e.Kind == engine.EffectNetwork }) {
		return
	}
	if c.w.in.Knows.Program(c.name) {
		return
	}
	for _, a := range c.args {
		if a.Known() && abstract.WebURL(a.Text) {
			c.fetches(a)
		}
	}
}

// invoke runs words: a builtin, else a program.
func (s *cmdMachine) invoke(words []abstract.Arg, rest abstract.Arg) abstract.Arg {
	if !s.Spend(len(words)) {
		return abstract.Arg{}
	}
	c := s.call(words[0], words[1:])
	if f := cmdBuiltin(strings.ToLower(words[0].Text)); f != nil {
		c.name = strings.ToLower(words[0].Text)
		f(s, c, rest)
		return c.out
	}
	if c.name == "cmd" {
		c.record()
		s.cmdLine(c, rest)
		return c.out
	}
	return s.start(words[0], words[1:]).out
}

// cmdLine runs cmd /c in cmd, which uses the rest of the line as it is written.
func (s *cmdMachine) cmdLine(c *winCall, rest abstract.Arg) {
	low := strings.ToLower(rest.Text)
	for i := 0; i+1 < len(low); i++ {
		if low[i] == '/' && strings.IndexByte("ckr", low[i+1]) >= 0 && (i == 0 || strings.IndexByte(" \t/", low[i-1]) >= 0) {
			c.runCmd([]abstract.Arg{rest.With(rest.Text[i+2:])})
			return
		}
		if low[i] == '"' {
			break
		}
	}
	cmdProgram(c)
}
