package classify

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

func (w *windows) call(name arg, args []arg) *winCall {
	return &winCall{w: w, path: name, name: winName(name.text), args: args, index: -1, out: arg{text: holeText}}
}

// winName is a program's name without path and ending.
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

// record enters the command into the list of commands: switches apart from the
// rest, as Windows' programs write them.
func (c *winCall) record() {
	if c.index >= 0 {
		return
	}
	e := engine.Command{Name: c.name}
	for _, a := range c.args {
		if isSwitch(a) {
			e.Flags = append(e.Flags, strings.ToLower(a.show()))
		} else {
			e.Operands = append(e.Operands, a.show())
		}
	}
	c.enter(e)
}

func (c *winCall) enter(e engine.Command) {
	w := c.w
	if len(w.out.commands) >= maxCommands {
		w.overBudget("commands")
		return
	}
	e.Wrappers, e.Via = w.frame.wrappers, w.frame.via
	c.index = len(w.out.commands)
	w.out.commands = append(w.out.commands, e)
}

// isSwitch tells /s and -s from a path: what follows the slash has no further one.
func isSwitch(a arg) bool {
	return !a.quoted && len(a.text) > 1 && (a.text[0] == '-' || a.text[0] == '/' && strings.IndexByte(a.text[1:], '/') < 0)
}

// has says that one of the switches is given, with / or -, in any case.
func (c *winCall) has(names ...string) bool {
	_, ok := c.find(names)
	return ok
}

func (c *winCall) find(names []string) (int, bool) {
	for i, a := range c.args {
		if len(a.text) < 2 || a.text[0] != '/' && a.text[0] != '-' {
			continue
		}
		flag, _, _ := strings.Cut(strings.ToLower(a.text[1:]), ":")
		if slices.Contains(names, flag) {
			return i, true
		}
	}
	return 0, false
}

// value is what stands behind a switch: /tn X or /tn:X.
func (c *winCall) value(names ...string) (arg, bool) {
	i, ok := c.find(names)
	if !ok {
		return arg{}, false
	}
	if _, v, glued := strings.Cut(c.args[i].text, ":"); glued {
		return c.args[i].with(v), true
	}
	if i+1 < len(c.args) {
		return c.args[i+1], true
	}
	return arg{}, false
}

// operands are the arguments that are no switches.
func (c *winCall) operands() []arg {
	return slices.DeleteFunc(slices.Clone(c.args), isSwitch)
}

// sub is the i-th operand in lower case.
func (c *winCall) sub(i int) string {
	if list := c.operands(); i < len(list) {
		return strings.ToLower(list[i].text)
	}
	return ""
}

func (c *winCall) emit(e rawEffect, targets ...arg) {
	e.command = c.index
	c.w.emit(e, targets...)
}

func (c *winCall) reads(targets ...arg) {
	c.emit(rawEffect{kind: engine.EffectFileRead, verb: "read"}, targets...)
}

func (c *winCall) writes(verb string, targets ...arg) {
	c.emit(rawEffect{kind: engine.EffectFileWrite, verb: verb}, targets...)
}

func (c *winCall) system(verb, target string) {
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: verb}, word(target))
}

// installs is a change that outlives the session.
func (c *winCall) installs(verb, target string) {
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: verb, persistence: true}, word(target))
}

func (c *winCall) fetches(from arg) {
	c.out.taint |= fetched
	if host := shareHost(from); host != "" {
		from = from.with(host)
	}
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: "fetch"}, from)
}

func (c *winCall) sends(verb string, to arg) {
	c.emit(rawEffect{kind: engine.EffectNetwork, verb: verb, egress: true}, to)
}

func (c *winCall) execs() {
	c.emit(rawEffect{kind: engine.EffectProcess, verb: "exec"}, c.path)
}

// external is a program that is no one's of Windows: it does the same under any
// shell.
func (c *winCall) external() {
	w := c.w
	if w.frame.depth >= maxDepth {
		w.overBudget(c.name)
		return
	}
	s := newShell(w.in)
	s.scope.dirs = w.dirs
	s.steps, s.bytes, s.parsed = w.steps, w.bytes, w.parsed
	s.frame = frame{host: w.frame.host, wrappers: w.frame.wrappers, via: w.frame.via, privileged: w.frame.privileged, muted: w.frame.muted, stdin: w.frame.stdin, piped: w.frame.stdin != nil, depth: w.frame.depth + 1}
	for name, v := range w.env {
		s.scope.setText(strings.ToUpper(name), v)
	}
	argv := []arg{c.path.with(programPathOf(c.path.text))}
	for _, a := range c.args {
		argv = append(argv, w.slashed(a))
	}
	maps.Copy(s.files, w.files)
	o := s.invoke(argv, nil)
	for name, text := range s.files {
		w.files[strings.ToLower(name)] = text
	}
	first := len(w.out.commands)
	w.merge(s.out)
	w.steps, w.bytes, w.parsed = s.steps, s.bytes, s.parsed
	if c.out = o.out; c.index < 0 && len(w.out.commands) > first {
		c.index = first
	}
	c.downloads(s.out)
}

// programPathOf is a program as the shell's tables look for it.
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
func (w *windows) slashed(a arg) arg {
	t := a.text
	home := strings.ReplaceAll(w.in.home, "/", `\`)
	if strings.HasPrefix(t, `\tmp\`) || home != "" && (t == home || strings.HasPrefix(t, home+`\`)) || drive(t) || strings.HasPrefix(t, `.\`) || strings.HasPrefix(t, `..\`) || strings.HasPrefix(t, `~\`) || strings.HasPrefix(t, `\\`) {
		a = a.with(strings.ReplaceAll(t, `\`, "/"))
	}
	a.glob = a.glob || !a.quoted && strings.ContainsAny(a.text, "*?") && !isURL(a)
	return a
}

// downloads notes a URL among the arguments of a program that no table knows:
// many of Windows' own programs fetch what they are given.
func (c *winCall) downloads(sub script) {
	if slices.ContainsFunc(sub.effects, func(e rawEffect) bool { return e.kind == engine.EffectNetwork }) {
		return
	}
	if c.w.in.knows.program(c.name) {
		return
	}
	for _, a := range c.args {
		if a.known() && webURL(a.text) {
			c.fetches(a)
		}
	}
}
