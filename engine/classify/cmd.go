package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// cmd runs code of the Windows command line.
func (w *windows) cmd(src string) {
	s := &cmdShell{windows: w, src: w.checked(src)}
	s.list(false)
}

// interpretCmd says what code of the Windows command line would do.
func interpretCmd(src string, in shellInput) script {
	w := newWindows(in)
	w.cmd(src)
	return w.out
}

// start runs a program, whichever of the two shells asked for it.
func (w *windows) start(name arg, args []arg) *winCall {
	c := w.call(name, args)
	if name.taint&decoded != 0 {
		w.signal(engine.SignalObfuscated)
	}
	if c.name == "" || strings.ContainsAny(c.name, holes) {
		w.signal(engine.SignalUnknownCommand)
		w.opaque("command", name.text)
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
	if !w.spend(len(c.args)) || c.shared() {
		return
	}
	if host := shareHost(c.path); host != "" {
		c.record()
		c.runsCode(c.path)
		return
	}
	c.external()
}

// shared runs a program that belongs to Windows; false: it is none.
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

// isUnix tells a program from one of the same name that Windows has: by how
// its arguments are written.
func isUnix(c *winCall) bool {
	switch c.name {
	case "date", "time", "more", "where", "tree", "help", "hostname", "whoami", "ping", "arp", "netstat", "nslookup", "label", "net", "at", "replace", "expand", "format", "print", "shutdown", "bash":
		return slices.ContainsFunc(c.args, func(a arg) bool { return strings.HasPrefix(a.text, "--") || a.hasPrefix("-delete") })
	}
	return false
}

// script is the text of the program, where the code itself has written it.
func (c *winCall) script() (arg, bool) {
	for _, ext := range []string{"", ".bat", ".cmd", ".ps1"} {
		if text, ok := c.w.written(c.path.with(c.path.text + ext)); ok {
			return text, true
		}
	}
	return arg{}, false
}

// runText runs a script by the ending of its name.
func (c *winCall) runText(text arg) {
	w := c.w
	low := strings.ToLower(c.path.text)
	switch {
	case strings.HasSuffix(low, ".ps1"):
		w.embed(text, "file", w.power)
	case strings.HasSuffix(low, ".exe") || strings.HasSuffix(low, ".vbs") || strings.HasSuffix(low, ".js"):
		w.unseen(text, "file")
	default:
		w.embed(text, "file", w.cmd)
	}
}

// cmdBuiltin finds a command that cmd itself runs; nil: it is none.
func cmdBuiltin(name string) func(s *cmdShell, c *winCall, rest arg) {
	switch name {
	case "cd", "chdir", "pushd":
		return (*cmdShell).changeDir
	case "popd":
		return func(s *cmdShell, _ *winCall, _ arg) { s.dirs = limitDirs(unionValues([]value{s.in.cwd}, s.dirs)) }
	case "set":
		return (*cmdShell).set
	case "echo":
		return func(_ *cmdShell, c *winCall, rest arg) { c.record(); c.out = rest.with(rest.text + "\n") }
	case "del", "erase":
		return (*cmdShell).del
	case "rd", "rmdir":
		return (*cmdShell).removeDir
	case "md", "mkdir":
		return func(_ *cmdShell, c *winCall, _ arg) { c.record(); c.writes("mkdir", c.operands()...) }
	case "copy":
		return (*cmdShell).copyFiles
	case "move":
		return (*cmdShell).move
	case "ren", "rename":
		return func(_ *cmdShell, c *winCall, _ arg) {
			c.record()
			c.writes("move", c.operands()[:min(1, len(c.operands()))]...)
		}
	case "type":
		return (*cmdShell).typeFile
	case "dir":
		return func(_ *cmdShell, c *winCall, _ arg) { c.record(); c.reads(c.operands()...) }
	case "start":
		return (*cmdShell).startProgram
	case "call":
		return (*cmdShell).callAgain
	case "assoc", "ftype":
		return (*cmdShell).association
	case "setlocal", "endlocal", "goto", "exit", "shift", "pause", "path", "verify", "break", "ver", "date", "time", "cls", "title", "color", "vol", "prompt", "echo.":
		return func(s *cmdShell, c *winCall, rest arg) {
			s.delayed = s.delayed || strings.Contains(strings.ToLower(rest.text), "enabledelayedexpansion")
			c.record()
		}
	case "timeout", "find":
		return (*cmdShell).lookAlike
	}
	return nil
}

// lookAlike is a program of Windows whose name means another one elsewhere.
func (s *cmdShell) lookAlike(c *winCall, _ arg) {
	first := firstOr(c.args)
	switch {
	case c.name == "timeout" && (isSwitch(first) && first.hasPrefix("/") || strings.Trim(first.text, "0123456789") == "" && len(c.args) == 1):
		c.record()
	case c.name == "find" && (first.quoted || first.hasPrefix("/")):
		c.record()
		c.reads(c.operands()[min(1, len(c.operands())):]...)
	default:
		c.external()
	}
}

func (s *cmdShell) changeDir(c *winCall, rest arg) {
	c.record()
	text := strings.TrimSpace(rest.text)
	if low := strings.ToLower(text); strings.HasPrefix(low, "/d") {
		text = strings.TrimSpace(text[2:])
	}
	if text = strings.Trim(text, `"`); text != "" {
		s.enter(rest.with(text), false)
		s.moved = true
	}
}

// set is set NAME=VALUE, which takes all of the line.
func (s *cmdShell) set(c *winCall, rest arg) {
	c.record()
	text := strings.TrimLeft(rest.text, " \t")
	low := strings.ToLower(text)
	if strings.TrimSpace(text) == "" {
		s.signal(engine.SignalEnvDump)
		return
	}
	if strings.HasPrefix(low, "/a") || strings.HasPrefix(low, "/p") {
		name, v, ok := strings.Cut(strings.Trim(strings.TrimSpace(text[2:]), `"`), "=")
		if low[1] == 'p' || strings.Trim(v, "0123456789 ") != "" {
			v = holeText
		}
		if ok {
			s.setEnv(strings.TrimSpace(name), word(v))
		}
		return
	}
	if strings.HasPrefix(text, `"`) {
		if end := strings.LastIndexByte(text, '"'); end > 0 {
			text = text[1:end]
		}
	}
	if name, v, ok := strings.Cut(text, "="); ok {
		s.setEnv(strings.TrimSpace(name), rest.with(v))
	}
}

// switched takes switches that are written together apart: del/s/q.
func (c *winCall) switched() {
	var list []arg
	for _, a := range c.args {
		if a.quoted || !a.hasPrefix("/") {
			list = append(list, a)
			continue
		}
		for part := range strings.SplitSeq(a.text[1:], "/") {
			list = append(list, word("/"+part))
		}
	}
	c.args = list
}

func (s *cmdShell) del(c *winCall, _ arg) {
	c.switched()
	c.record()
	e := rawEffect{kind: engine.EffectFileDelete, verb: "delete", forced: c.has("f"), recursive: c.has("s")}
	for _, t := range c.operands() {
		if e.recursive {
			t, e.recursive = belowAll(t)
		}
		c.emit(e, t)
		e.recursive = c.has("s")
	}
}

// belowAll is a pattern as del /s reads it: in each folder below, and whether
// it takes all that is there.
func belowAll(t arg) (arg, bool) {
	text := strings.ReplaceAll(t.text, `\`, "/")
	i := strings.LastIndexByte(text, '/')
	last := text[i+1:]
	if !strings.ContainsAny(last, "*?") || last == "*" || last == "*.*" {
		return t, true
	}
	return t.with(text[:i+1] + "**/" + last), false
}

func (s *cmdShell) removeDir(c *winCall, _ arg) {
	c.switched()
	c.record()
	c.emit(rawEffect{kind: engine.EffectFileDelete, verb: "delete", recursive: c.has("s"), forced: c.has("q")}, c.operands()...)
}

// copyFiles is copy a+b dest.
func (s *cmdShell) copyFiles(c *winCall, _ arg) {
	c.record()
	var list []arg
	for _, a := range c.operands() {
		for part := range strings.SplitSeq(a.text, "+") {
			if part != "" {
				list = append(list, a.with(part))
			}
		}
	}
	c.copies(list, "copy")
}

func (s *cmdShell) move(c *winCall, _ arg) {
	c.record()
	list := c.operands()
	if len(list) == 0 {
		return
	}
	sources, dest := list[:1], word(".")
	if len(list) > 1 {
		sources, dest = list[:len(list)-1], list[len(list)-1]
	}
	kind := engine.EffectFileDelete
	if inPlace(dest) && !slices.ContainsFunc(sources, func(a arg) bool { return !inPlace(a) }) {
		kind = engine.EffectFileWrite // it stays below the present directory
	}
	c.emit(rawEffect{kind: kind, verb: "move", recursive: kind == engine.EffectFileDelete}, sources...)
	c.writes("write", dest)
	for _, src := range sources {
		if text, ok := s.written(src); ok {
			s.store(dest, text, false)
		}
	}
}

// inPlace says that a path stays in the directory from which it is seen.
func inPlace(a arg) bool {
	v := winPath(a)
	return v.sure == literal && v.text != "/dev/null" && !drive(v.text) && !strings.HasPrefix(v.text, "/") && !strings.HasPrefix(v.text, "~") && !strings.Contains(v.text, "..")
}

func (s *cmdShell) typeFile(c *winCall, _ arg) {
	c.record()
	c.reads(c.operands()...)
	c.out = arg{}
	for _, a := range c.operands() {
		text, ok := s.written(a)
		if !ok {
			text = arg{text: holeText, taint: filed}
		}
		c.out = concat(c.out, text)
	}
}

// startProgram is start ["title"] [/d DIR] [/wait …] program arguments.
func (s *cmdShell) startProgram(c *winCall, _ arg) {
	c.record()
	rest := c.args
	if len(rest) > 0 && rest[0].quoted {
		rest = rest[1:]
	}
	s.process(func() {
		for len(rest) > 0 && isSwitch(rest[0]) {
			if strings.EqualFold(rest[0].text, "/d") && len(rest) > 1 {
				s.enter(rest[1], true)
				rest = rest[1:]
			}
			rest = rest[1:]
		}
		switch {
		case len(rest) == 0:
		case isURL(rest[0]):
			c.fetches(rest[0])
		default:
			s.under("start", true, func() { s.startWords(rest) })
		}
	})
}

// startWords runs words as a command of cmd, builtins too.
func (s *cmdShell) startWords(words []arg) {
	t := &cmdShell{windows: s.windows, loops: s.loops, delayed: s.delayed}
	t.invoke(words, joinQuoted(words[1:]))
}

// callAgain is call, which reads its line once more.
func (s *cmdShell) callAgain(c *winCall, rest arg) {
	c.record()
	if text := strings.TrimSpace(rest.text); text != "" && text[0] != ':' && s.frame.depth < maxDepth {
		s.frame.depth++
		t := &cmdShell{windows: s.windows, src: text, loops: s.loops, delayed: s.delayed}
		t.list(false)
		s.frame.depth--
	}
}

func (s *cmdShell) association(c *winCall, rest arg) {
	c.record()
	if strings.Contains(rest.text, "=") {
		c.installs("set", "file association")
	}
}

// joinQuoted puts words together again so that they can be taken apart.
func joinQuoted(words []arg) arg {
	list := slices.Clone(words)
	for i, a := range list {
		if strings.ContainsAny(a.text, " \t&|<>()") && !strings.Contains(a.text, `"`) {
			list[i] = a.with(`"` + a.text + `"`)
		}
	}
	return joinBy(list, word(" "))
}

// cmdProgram is cmd /c CODE.
func cmdProgram(c *winCall) {
	w := c.w
	for i, a := range c.args {
		low := strings.ToLower(a.text)
		if strings.HasPrefix(low, "//") {
			low = low[1:] // as it is written for shells that make paths of /c
		}
		if len(low) < 2 || low[0] != '/' || !strings.ContainsRune("ckr", rune(low[1])) {
			continue
		}
		words := c.args[i+1:]
		if len(low) > 2 { // /cCODE
			words = append([]arg{a.with(a.text[len(a.text)-len(low)+2:])}, words...)
		}
		c.runCmd(words)
		return
	}
	if in := w.frame.stdin; in != nil {
		w.process(func() { w.embed(*in, "pipe", w.cmd) })
	}
}

// runCmd runs the words behind /c, which are one text.
func (c *winCall) runCmd(words []arg) {
	w := c.w
	code := joinQuoted(words)
	if len(words) == 1 {
		code = words[0]
	}
	text := strings.TrimSpace(code.text)
	if n := strings.Count(text, `"`); n >= 2 && text[0] == '"' && !programFirst(text) {
		end := strings.LastIndexByte(text, '"')
		text = text[1:end] + text[end+1:]
	}
	delayed := slices.ContainsFunc(c.args, func(a arg) bool { return strings.EqualFold(a.text, "/v:on") || strings.EqualFold(a.text, "/v") })
	stdin := w.frame.stdin
	w.process(func() {
		w.embed(code.with(text), "cmd", func(src string) {
			w.frame.stdin = stdin
			s := &cmdShell{windows: w, src: w.checked(src), delayed: delayed}
			c.out = s.list(false)
		})
	})
}

// programFirst says that a text begins with the name of a program in quotes,
// so that these quotes do not hold the whole of it.
func programFirst(text string) bool {
	end := strings.IndexByte(text[1:], '"') + 1
	name := strings.ToLower(text[1:end])
	rest := text[end+1:]
	if strings.ContainsAny(name, "&|<>()@^") || rest != "" && !blank(rest[0]) {
		return false
	}
	if rest != "" {
		return true
	}
	ends := strings.HasSuffix(name, ".exe") || strings.HasSuffix(name, ".bat") || strings.HasSuffix(name, ".cmd")
	return ends && !strings.Contains(name, " /") && (!strings.Contains(name, " ") || drive(name) || strings.HasPrefix(name, `\`))
}
