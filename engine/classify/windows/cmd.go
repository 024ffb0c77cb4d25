package windows

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// cmd runs code of the Windows command line.
func (w *interpreter) cmd(src string) {
	s := &cmdMachine{interpreter: w, src: w.checked(src)}
	s.list(false)
}

// InterpretCmd reports what code of the Windows command line would do.
func InterpretCmd(src string, in shell.Input) abstract.Script {
	w := newWindows(in)
	w.cmd(src)
	return w.Out
}

// start runs a program, whichever of the two shells asked for it.
func (w *interpreter) start(name abstract.Arg, args []abstract.Arg) *winCall {
	c := w.call(name, args)
	if name.Taint&abstract.Decoded != 0 {
		w.signal(engine.SignalObfuscated)
	}
	if c.name == "" || strings.ContainsAny(c.name, abstract.Holes) {
		w.signal(engine.SignalUnknownCommand)
		w.Opaque("command", name.Text)
		return c
	}
	c.run()
	return c
}

func (c *winCall) run() {
	w := c.w
	if text, ok := c.script(); ok {
		c.record()
		w.process(func() { c.runText(text) })
		return
	}
	if !w.Spend(len(c.args)) || c.shared() {
		return
	}
	if host := shareHost(c.path); host != "" {
		c.record()
		c.runsCode(c.path)
		return
	}
	c.external()
}

// shared runs a program that belongs to Windows; false if it is not one.
func (c *winCall) shared() bool {
	if isUnix(c) {
		return false
	}
	if f := winProgram(c.name); f != nil {
		c.record()
		f(c)
		return true
	}
	if slices.Contains(winReading, c.name) {
		c.record()
		return true
	}
	return false
}

// isUnix distinguishes a program from a Windows program of the same name by the form
// of its arguments.
func isUnix(c *winCall) bool {
	switch c.name {
	case "date", "time", "more", "where", "tree", "help", "hostname", "whoami", "ping", "arp", "netstat", "nslookup", "label", "net", "at", "replace", "expand", "format", "print", "shutdown", "bash":
		return slices.ContainsFunc(c.args, func(a abstract.Arg) bool { return strings.HasPrefix(a.Text, "--") || a.HasPrefix("-delete") })
	}
	return false
}

// script returns the text of the program, if the code itself wrote it.
func (c *winCall) script() (abstract.Arg, bool) {
	for _, ext := range []string{"", ".bat", ".cmd", ".ps1"} {
		if text, ok := c.w.written(c.path.With(c.path.Text + ext)); ok {
			return text, true
		}
	}
	return abstract.Arg{}, false
}

// runText runs a script by the ending of its name.
func (c *winCall) runText(text abstract.Arg) {
	w := c.w
	low := strings.ToLower(c.path.Text)
	switch {
	case strings.HasSuffix(low, ".ps1"):
		w.embed(text, "file", w.power)
	case strings.HasSuffix(low, ".exe") || strings.HasSuffix(low, ".vbs") || strings.HasSuffix(low, ".js"):
		w.unseen(text, "file")
	default:
		w.embed(text, "file", w.cmd)
	}
}

// cmdBuiltin returns the function for a builtin of cmd; nil if it is not one.
func cmdBuiltin(name string) func(s *cmdMachine, c *winCall, rest abstract.Arg) {
	switch name {
	case "cd", "chdir", "pushd":
		return (*cmdMachine).changeDir
	case "popd":
		return func(s *cmdMachine, _ *winCall, _ abstract.Arg) {
			s.dirs = limitDirs(abstract.UnionValues([]abstract.Value{s.in.Cwd}, s.dirs))
		}
	case "set":
		return (*cmdMachine).set
	case "echo":
		return func(_ *cmdMachine, c *winCall, rest abstract.Arg) { c.record(); c.out = rest.With(rest.Text + "\n") }
	case "del", "erase":
		return (*cmdMachine).del
	case "rd", "rmdir":
		return (*cmdMachine).removeDir
	case "md", "mkdir":
		return func(_ *cmdMachine, c *winCall, _ abstract.Arg) { c.record(); c.writes("mkdir", c.operands()...) }
	case "copy":
		return (*cmdMachine).copyFiles
	case "move":
		return (*cmdMachine).move
	case "ren", "rename":
		return func(_ *cmdMachine, c *winCall, _ abstract.Arg) {
			c.record()
			c.writes("move", c.operands()[:min(1, len(c.operands()))]...)
		}
	case "type":
		return (*cmdMachine).typeFile
	case "dir":
		return func(_ *cmdMachine, c *winCall, _ abstract.Arg) { c.record(); c.reads(c.operands()...) }
	case "start":
		return (*cmdMachine).startProgram
	case "call":
		return (*cmdMachine).callAgain
	case "assoc", "ftype":
		return (*cmdMachine).association
	case "setlocal", "endlocal", "goto", "exit", "shift", "pause", "path", "verify", "break", "ver", "date", "time", "cls", "title", "color", "vol", "prompt", "echo.":
		return func(s *cmdMachine, c *winCall, rest abstract.Arg) {
			s.delayed = s.delayed || strings.Contains(strings.ToLower(rest.Text), "enabledelayedexpansion")
			c.record()
		}
	case "timeout", "find":
		return (*cmdMachine).lookAlike
	}
	return nil
}

// lookAlike runs a Windows program whose name means another program on other systems.
func (s *cmdMachine) lookAlike(c *winCall, _ abstract.Arg) {
	first := abstract.FirstOr(c.args)
	switch {
	case c.name == "timeout" && (isSwitch(first) && first.HasPrefix("/") || strings.Trim(first.Text, "0123456789") == "" && len(c.args) == 1):
		c.record()
	case c.name == "find" && (first.Quoted || first.HasPrefix("/")):
		c.record()
		c.reads(c.operands()[min(1, len(c.operands())):]...)
	default:
		c.external()
	}
}

func (s *cmdMachine) changeDir(c *winCall, rest abstract.Arg) {
	c.record()
	text := strings.TrimSpace(rest.Text)
	if low := strings.ToLower(text); strings.HasPrefix(low, "/d") {
		text = strings.TrimSpace(text[2:])
	}
	if text = strings.Trim(text, `"`); text != "" {
		s.enter(rest.With(text), false)
		s.moved = true
	}
}

// set runs set NAME=VALUE, which uses the whole line.
func (s *cmdMachine) set(c *winCall, rest abstract.Arg) {
	c.record()
	text := strings.TrimLeft(rest.Text, " \t")
	low := strings.ToLower(text)
	if strings.TrimSpace(text) == "" {
		s.signal(engine.SignalEnvDump)
		return
	}
	if strings.HasPrefix(low, "/a") || strings.HasPrefix(low, "/p") {
		name, v, ok := strings.Cut(strings.Trim(strings.TrimSpace(text[2:]), `"`), "=")
		if low[1] == 'p' || strings.Trim(v, "0123456789 ") != "" {
			v = abstract.HoleText
		}
		if ok {
			s.setEnv(strings.TrimSpace(name), abstract.Word(v))
		}
		return
	}
	if strings.HasPrefix(text, `"`) {
		if end := strings.LastIndexByte(text, '"'); end > 0 {
			text = text[1:end]
		}
	}
	if name, v, ok := strings.Cut(text, "="); ok {
		s.setEnv(strings.TrimSpace(name), rest.With(v))
	}
}

// switched splits switches that are written together: del/s/q.
func (c *winCall) switched() {
	var list []abstract.Arg
	for _, a := range c.args {
		if a.Quoted || !a.HasPrefix("/") {
			list = append(list, a)
			continue
		}
		for part := range strings.SplitSeq(a.Text[1:], "/") {
			list = append(list, abstract.Word("/"+part))
		}
	}
	c.args = list
}

func (s *cmdMachine) del(c *winCall, _ abstract.Arg) {
	c.switched()
	c.record()
	e := abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Forced: c.has("f"), Recursive: c.has("s")}
	for _, t := range c.operands() {
		if e.Recursive {
			t, e.Recursive = belowAll(t)
		}
		c.emit(e, t)
		e.Recursive = c.has("s")
	}
}

// belowAll returns a pattern as del /s reads it, for each folder below, and whether it
// matches everything there.
func belowAll(t abstract.Arg) (abstract.Arg, bool) {
	text := strings.ReplaceAll(t.Text, `\`, "/")
	i := strings.LastIndexByte(text, '/')
	last := text[i+1:]
	if !strings.ContainsAny(last, "*?") || last == "*" || last == "*.*" {
		return t, true
	}
	return t.With(text[:i+1] + "**/" + last), false
}

func (s *cmdMachine) removeDir(c *winCall, _ abstract.Arg) {
	c.switched()
	c.record()
	c.emit(abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "delete", Recursive: c.has("s"), Forced: c.has("q")}, c.operands()...)
}

// copyFiles runs copy a+b dest.
func (s *cmdMachine) copyFiles(c *winCall, _ abstract.Arg) {
	c.record()
	var list []abstract.Arg
	for _, a := range c.operands() {
		for part := range strings.SplitSeq(a.Text, "+") {
			if part != "" {
				list = append(list, a.With(part))
			}
		}
	}
	c.copies(list, "copy")
}

func (s *cmdMachine) move(c *winCall, _ abstract.Arg) {
	c.record()
	list := c.operands()
	if len(list) == 0 {
		return
	}
	sources, dest := list[:1], abstract.Word(".")
	if len(list) > 1 {
		sources, dest = list[:len(list)-1], list[len(list)-1]
	}
	kind := engine.EffectFileDelete
	if inPlace(dest) && !slices.ContainsFunc(sources, func(a abstract.Arg) bool { return !inPlace(a) }) {
		kind = engine.EffectFileWrite // it stays under the current directory
	}
	c.emit(abstract.RawEffect{Kind: kind, Verb: "move", Recursive: kind == engine.EffectFileDelete}, sources...)
	c.writes("write", dest)
	for _, src := range sources {
		if text, ok := s.written(src); ok {
			s.store(dest, text, false)
		}
	}
}

// inPlace reports whether a path stays in its directory.
func inPlace(a abstract.Arg) bool {
	v := winPath(a)
	return v.Sure == abstract.Literal && v.Text != "/dev/null" && !place.Drive(v.Text) && !strings.HasPrefix(v.Text, "/") &&
		!strings.HasPrefix(v.Text, "~") && !strings.Contains(v.Text, "..")
}

func (s *cmdMachine) typeFile(c *winCall, _ abstract.Arg) {
	c.record()
	c.reads(c.operands()...)
	c.out = abstract.Arg{}
	for _, a := range c.operands() {
		text, ok := s.written(a)
		if !ok {
			text = abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}
		}
		c.out = abstract.Concat(c.out, text)
	}
}

// startProgram runs start ["title"] [/d DIR] [/wait …] program arguments.
func (s *cmdMachine) startProgram(c *winCall, _ abstract.Arg) {
	c.record()
	rest := c.args
	if len(rest) > 0 && rest[0].Quoted {
		rest = rest[1:]
	}
	s.process(func() {
		for len(rest) > 0 && isSwitch(rest[0]) {
			if strings.EqualFold(rest[0].Text, "/d") && len(rest) > 1 {
				s.enter(rest[1], true)
				rest = rest[1:]
			}
			rest = rest[1:]
		}
		switch {
		case len(rest) == 0:
		case abstract.IsURL(rest[0]):
			c.fetches(rest[0])
		default:
			s.under("start", true, func() { s.startWords(rest) })
		}
	})
}

// startWords runs words as a command of cmd, builtins too.
func (s *cmdMachine) startWords(words []abstract.Arg) {
	t := &cmdMachine{interpreter: s.interpreter, loops: s.loops, delayed: s.delayed}
	t.invoke(words, joinQuoted(words[1:]))
}

// callAgain runs call, which parses its line once more.
func (s *cmdMachine) callAgain(c *winCall, rest abstract.Arg) {
	c.record()
	if text := strings.TrimSpace(rest.Text); text != "" && text[0] != ':' && s.frame.depth < shell.MaxDepth {
		s.frame.depth++
		t := &cmdMachine{interpreter: s.interpreter, src: text, loops: s.loops, delayed: s.delayed}
		t.list(false)
		s.frame.depth--
	}
}

func (s *cmdMachine) association(c *winCall, rest abstract.Arg) {
	c.record()
	if strings.Contains(rest.Text, "=") {
		c.installs("set", "file association")
	}
}

// joinQuoted joins words into a line that can be parsed again.
func joinQuoted(words []abstract.Arg) abstract.Arg {
	list := slices.Clone(words)
	for i, a := range list {
		if strings.ContainsAny(a.Text, " \t&|<>()") && !strings.Contains(a.Text, `"`) {
			list[i] = a.With(`"` + a.Text + `"`)
		}
	}
	return joinBy(list, abstract.Word(" "))
}

// cmdProgram runs cmd /c CODE.
func cmdProgram(c *winCall) {
	w := c.w
	for i, a := range c.args {
		low := strings.ToLower(a.Text)
		if strings.HasPrefix(low, "//") {
			low = low[1:] // as written for shells that convert /c to a path
		}
		if len(low) < 2 || low[0] != '/' || !strings.ContainsRune("ckr", rune(low[1])) {
			continue
		}
		words := c.args[i+1:]
		if len(low) > 2 { // /cCODE
			words = append([]abstract.Arg{a.With(a.Text[len(a.Text)-len(low)+2:])}, words...)
		}
		c.runCmd(words)
		return
	}
	if in := w.frame.stdin; in != nil {
		w.process(func() { w.embed(*in, "pipe", w.cmd) })
	}
}

// runCmd runs the words after /c, which are one string.
func (c *winCall) runCmd(words []abstract.Arg) {
	w := c.w
	code := joinQuoted(words)
	if len(words) == 1 {
		code = words[0]
	}
	text := strings.TrimSpace(code.Text)
	if n := strings.Count(text, `"`); n >= 2 && text[0] == '"' && !programFirst(text) {
		end := strings.LastIndexByte(text, '"')
		text = text[1:end] + text[end+1:]
	}
	delayed := slices.ContainsFunc(c.args, func(a abstract.Arg) bool {
		return strings.EqualFold(a.Text, "/v:on") || strings.EqualFold(a.Text, "/v")
	})
	stdin := w.frame.stdin
	w.process(func() {
		w.embed(code.With(text), "cmd", func(src string) {
			w.frame.stdin = stdin
			s := &cmdMachine{interpreter: w, src: w.checked(src), delayed: delayed}
			c.out = s.list(false)
		})
	})
}

// programFirst reports whether a string begins with the name of a program in quotes, so
// that the quotes do not enclose the whole text.
func programFirst(text string) bool {
	end := strings.IndexByte(text[1:], '"') + 1
	name := strings.ToLower(text[1:end])
	rest := text[end+1:]
	if strings.ContainsAny(name, "&|<>()@^") || rest != "" && !mask.Blank(rest[0]) {
		return false
	}
	if rest != "" {
		return true
	}
	ends := strings.HasSuffix(name, ".exe") || strings.HasSuffix(name, ".bat") || strings.HasSuffix(name, ".cmd")
	return ends && !strings.Contains(name, " /") && (!strings.Contains(name, " ") || place.Drive(name) || strings.HasPrefix(name, `\`))
}
