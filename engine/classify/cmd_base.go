package classify

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// windows is what the interpreters of cmd and PowerShell share: either starts
// the other, and both start the same programs. Like the shell's interpreter it
// notes what each command would do, decides nothing and runs nothing.
type windows struct {
	in      shellInput
	out     script
	dirs    []value        // where it may be, the likeliest first
	env     map[string]arg // variables of the environment that the code sets, in lower case
	files   map[string]arg // what the code has written to a file so far
	frame   winFrame
	seen    map[rawEffect]bool
	opaques map[engine.Opaque]bool
	steps   int
	bytes   int
	parsed  int // bytes of code found in code
	maybe   int // branches around the code that runs, which may not be taken
	full    bool
}

// winFrame is how the code that runs now came to run.
type winFrame struct {
	wrappers   []string
	via        []string
	host       string // where it runs; empty: on this machine
	privileged bool
	muted      bool
	stdin      *arg // what standard input holds; nil: the terminal
	depth      int
}

func newWindows(in shellInput) *windows {
	return &windows{
		in: in, dirs: []value{in.cwd}, out: script{signals: map[engine.Signal]bool{}},
		env: map[string]arg{}, files: map[string]arg{}, seen: map[rawEffect]bool{}, opaques: map[engine.Opaque]bool{},
	}
}

// checked returns code as the interpreters read it: what a text can hide in is
// reported, and lines end in one way.
func (w *windows) checked(src string) string {
	for i, r := range src {
		if misleading(r) && r != '\r' || r == utf8.RuneError {
			w.opaque("encoding", strings.ToValidUTF8(src[i:min(len(src), i+16)], "?"))
			break
		}
	}
	if len(src) > maxSource {
		w.overBudget(src[:64])
		src = src[:maxSource]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(src, holeText), "\r\n", "\n")
}

func (w *windows) signal(ids ...engine.Signal) {
	for _, id := range ids {
		w.out.signals[id] = true
	}
}

// opaque notes what was not understood, once.
func (w *windows) opaque(reason, where string) {
	o := engine.Opaque{Reason: reason, Where: arg{text: clip(where, 200)}.show()}
	if w.opaques[o] || len(w.out.opaque) >= 64 && reason != "budget" {
		return
	}
	w.opaques[o] = true
	w.out.opaque = append(w.out.opaque, o)
}

func (w *windows) overBudget(where string) {
	if !w.full {
		w.full = true
		w.opaque("budget", where)
	}
}

// spend takes one step and n bytes from the budget.
func (w *windows) spend(n int) bool {
	w.steps++
	w.bytes += n
	if w.steps > maxSteps || w.bytes > maxBytes {
		w.overBudget("steps")
	}
	return !w.full
}

// unseen notes that code runs that nobody has seen.
func (w *windows) unseen(code arg, via string) {
	w.opaque("code", via)
	if code.taint&fetched != 0 {
		w.signal(engine.SignalRemoteCode)
	}
	if code.taint&decoded != 0 {
		w.signal(engine.SignalObfuscated)
	}
}

// embed runs code found in code; run reads it.
func (w *windows) embed(code arg, via string, run func(src string)) {
	if w.frame.depth >= maxDepth || w.parsed+len(code.text) > maxEmbedded {
		w.overBudget(via)
		return
	}
	if !code.known() && strings.Trim(code.text, holes+" \t\r\n\"'") == "" {
		w.unseen(code, via)
		return
	}
	if code.taint&decoded != 0 {
		w.signal(engine.SignalObfuscated)
	}
	w.parsed += len(code.text)
	w.under(via, false, func() {
		w.frame.depth++
		run(code.text)
	})
}

// under runs f as what a command starts: code that it holds, or with wrapper
// another program.
func (w *windows) under(name string, wrapper bool, f func()) {
	saved := w.frame
	if wrapper {
		w.frame.wrappers = appendText(saved.wrappers, name)
	} else {
		w.frame.via = appendText(saved.via, name)
	}
	f()
	w.frame = saved
}

// process runs f as a process of its own: where it goes does not count after it.
func (w *windows) process(f func()) {
	dirs := w.dirs
	f()
	w.dirs = dirs
}

// elsewhere runs f as code of another machine.
func (w *windows) elsewhere(name string, host arg, f func()) {
	w.process(func() {
		w.dirs = []value{{sure: unknown}}
		w.under(name, true, func() {
			w.frame.host, w.frame.muted, w.frame.privileged = "winrm:"+host.show(), false, false
			f()
		})
	})
}

// branch runs f, which may not run.
func (w *windows) branch(f func()) {
	dirs := w.dirs
	w.maybe++
	f()
	w.maybe--
	w.dirs = limitDirs(unionValues(w.dirs, dirs))
}

func limitDirs(dirs []value) []value {
	if len(dirs) > maxDirs {
		return []value{{sure: unknown}}
	}
	return dirs
}

// enter is a change of directory, which fails where sure is false.
func (w *windows) enter(to arg, sure bool) {
	dir := value{sure: unknown}
	if v := winPath(to); v.sure == literal {
		if dir = anchor(v, w.dirs[0]); !strings.HasPrefix(dir.text, "/") && !drive(dir.text) && !strings.HasPrefix(dir.text, "~") {
			dir = joinDir(w.dirs[0], word(dir.text))
		} else if drive(dir.text) {
			dir.text = windowsClean(dir.text)
		} else if strings.HasPrefix(dir.text, "~") && w.in.home != "" {
			dir.text = path.Join(w.in.home, dir.text[1:])
		}
	}
	if sure {
		w.dirs = []value{dir}
	} else {
		w.dirs = limitDirs(unionValues([]value{dir}, w.dirs))
	}
}

// emit adds an effect on each target, seen from each directory in which the
// code may be.
func (w *windows) emit(e rawEffect, targets ...arg) {
	e.privileged, e.host = e.privileged || w.frame.privileged, w.frame.host
	for _, t := range targets {
		for _, dir := range w.dirs {
			one := e
			one.dir, one.target = dir, t.value()
			if onFiles(e.kind) {
				w.emitPath(one, t)
				continue
			}
			w.add(one)
			break
		}
	}
}

func onFiles(k engine.EffectKind) bool {
	return k == engine.EffectFileDelete || k == engine.EffectFileWrite || k == engine.EffectFileRead
}

// emitPath adds an effect on a path, which may lie on another machine.
func (w *windows) emitPath(e rawEffect, t arg) {
	e.target = anchor(winPath(t), e.dir)
	if device := rawDevice(t); device && e.kind != engine.EffectFileRead {
		w.signal(engine.SignalDiskWrite)
		e.kind, e.verb = engine.EffectSystemCall, "write"
	}
	if e.target.sure == glob && everything(e.target.text) {
		e.contents = true
	}
	w.add(e)
	if host := shareHost(t); host != "" && e.kind == engine.EffectFileWrite {
		w.add(rawEffect{kind: engine.EffectNetwork, verb: "send", target: value{text: host}, dir: e.dir, egress: true, command: e.command, host: e.host})
	}
}

func (w *windows) add(e rawEffect) {
	if w.seen[e] {
		return
	}
	if len(w.out.effects) >= maxEffects {
		w.overBudget("effects")
		return
	}
	w.seen[e] = true
	w.out.effects = append(w.out.effects, e)
	if w.frame.muted && changes(e) {
		w.signal(engine.SignalMuted)
	}
}

// merge adds what code of another language would do.
func (w *windows) merge(s script) {
	base := len(w.out.commands)
	if base+len(s.commands) > maxCommands {
		w.overBudget("commands")
		return
	}
	w.out.commands = append(w.out.commands, s.commands...)
	for _, e := range s.effects {
		if e.command >= 0 {
			e.command += base
		}
		if onFiles(e.kind) {
			e.target = anchor(e.target, e.dir)
		}
		w.add(e)
	}
	for id, on := range s.signals {
		w.out.signals[id] = w.out.signals[id] || on
	}
	w.out.waits = w.out.waits || s.waits
	for _, o := range s.opaque {
		w.opaque(o.Reason, o.Where)
	}
}

// store notes what a file holds; written returns it.
func (w *windows) store(file, text arg, add bool) {
	for _, dir := range w.dirs {
		if v := fileKey(file, dir); v != "" && len(w.files) < 256 {
			if add {
				text = concat(w.files[v], text)
			}
			w.files[v] = text
		}
	}
}

func (w *windows) written(file arg) (arg, bool) {
	if len(w.files) == 0 {
		return arg{}, false
	}
	for _, dir := range w.dirs {
		if text, ok := w.files[fileKey(file, dir)]; ok {
			return text, true
		}
	}
	return arg{}, false
}

// fileKey names a file for the two above; nothing where it is not known.
func fileKey(file arg, dir value) string {
	v := anchor(winPath(file), dir)
	if v.sure != literal || v.text == "" {
		return ""
	}
	if !strings.HasPrefix(v.text, "/") && !drive(v.text) {
		v = joinDir(dir, word(v.text))
	}
	if v.sure != literal {
		return ""
	}
	return strings.ToLower(path.Clean(v.text))
}

// joinBy puts texts together with sep between them.
func joinBy(list []arg, sep arg) arg {
	var b strings.Builder
	var all taint
	for i, a := range list {
		if i > 0 {
			b.WriteString(sep.text)
			all |= sep.taint
		}
		b.WriteString(a.text)
		if all |= a.taint; b.Len() > maxText {
			return arg{text: cutText(b.String()), taint: all}
		}
	}
	return arg{text: b.String(), taint: all}
}

// winPath is a path as a value: with slashes, and without what Windows takes off.
func winPath(a arg) value {
	text := a.text
	if i := strings.Index(text, "::"); i >= 0 && strings.HasSuffix(strings.ToLower(text[:i]), "filesystem") {
		text = text[i+2:]
	}
	text = strings.ReplaceAll(strings.Trim(text, `"`), `\`, "/")
	for _, lead := range []string{"//?/", "//./", "/??/"} {
		if rest, ok := strings.CutPrefix(text, lead); ok && (len(rest) < 2 || rest[1] == ':') {
			text = rest
		}
	}
	if len(text) > 2 && text[1] == ':' && text[2] != '/' && (text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z') {
		text = text[:2] + "/" + text[2:] // the drive's present directory, which may be its root
	}
	if slices.Contains([]string{"nul", "con", "prn", "aux", "$null", "conin$", "conout$"}, strings.ToLower(text)) {
		text = "/dev/null"
	}
	text = shortNames(text)
	if rest, ok := strings.CutSuffix(text, "*.*"); ok && (rest == "" || strings.HasSuffix(rest, "/")) {
		text = rest + "*"
	}
	known, _, _ := strings.Cut(text, holeText)
	known, _, _ = strings.Cut(known, vacancyText)
	return arg{text: text, glob: strings.ContainsAny(known, "*?")}.value()
}

// shortNames writes the names out that Windows makes for old programs.
func shortNames(text string) string {
	if !strings.Contains(text, "~") {
		return text
	}
	parts := strings.Split(text, "/")
	for i, p := range parts {
		switch strings.ToLower(p) {
		case "progra~1":
			parts[i] = "Program Files"
		case "progra~2":
			parts[i] = "Program Files (x86)"
		case "progra~3":
			parts[i] = "ProgramData"
		case "docume~1":
			parts[i] = "Users"
		}
	}
	return strings.Join(parts, "/")
}

// anchor makes a path of a drive absolute: the rest of the program knows
// relative paths only below a root.
func anchor(v, dir value) value {
	if v.sure == unknown || dir.sure != literal || !drive(slashes(dir.text)) || drive(v.text) || strings.HasPrefix(v.text, "~") || strings.HasPrefix(v.text, "//") || v.text == "/dev/null" {
		return v
	}
	base := slashes(dir.text)
	if strings.HasPrefix(v.text, "/") {
		v.text = base[:2] + v.text
		return v
	}
	v.text = strings.TrimSuffix(base, "/") + "/" + v.text
	return v
}

// rawDevice says that a path is a disk itself.
func rawDevice(a arg) bool {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(a.text), "/", `\`), `\\.\`)
	if !ok {
		return false
	}
	return strings.HasPrefix(rest, "physicaldrive") || strings.HasPrefix(rest, "harddisk") || len(rest) <= 3 && len(rest) >= 2 && rest[1] == ':'
}

// shareHost is the host of \\host\share\x; nothing for this machine.
func shareHost(a arg) string {
	text := strings.ReplaceAll(a.text, `\`, "/")
	rest, ok := strings.CutPrefix(text, "//")
	if !ok || rest == "" || rest[0] == '?' || rest[0] == '.' {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "@")
	if host == "" || strings.ContainsAny(host, holes) ||
		slices.Contains([]string{"localhost", "127.0.0.1", "wsl$", "wsl.localhost"}, strings.ToLower(host)) {
		return ""
	}
	return host
}

// variable is a variable of the environment; false where it is not known.
func (w *windows) variable(name string) (arg, bool) {
	low := strings.ToLower(name)
	if v, ok := w.env[low]; ok {
		return v, true
	}
	if v, ok := w.in.env[name]; ok {
		return v.arg(), true
	}
	home, user := w.in.home, path.Base(w.in.home)
	switch low {
	case "temp", "tmp":
		return word("/tmp"), true
	case "systemdrive":
		return word("C:"), true
	case "systemroot", "windir":
		return word("C:/Windows"), true
	case "comspec":
		return word("C:/Windows/System32/cmd.exe"), true
	case "programdata", "allusersprofile":
		return word("C:/ProgramData"), true
	case "programfiles", "programw6432":
		return word("C:/Program Files"), true
	case "programfiles(x86)":
		return word("C:/Program Files (x86)"), true
	case "public":
		return word("C:/Users/Public"), true
	case "cd":
		return w.dirs[0].arg(), true
	}
	if home == "" {
		return unknownArg(), false
	}
	switch low {
	case "userprofile", "home":
		return word(home), true
	case "homedrive":
		return word(home[:len(home)-len(rootless(home))]), true
	case "homepath":
		return word(rootless(home)), true
	case "appdata":
		return word(home + "/AppData/Roaming"), true
	case "localappdata":
		return word(home + "/AppData/Local"), true
	case "username", "user":
		return word(user), true
	}
	return unknownArg(), false
}

// rootless is a path without its drive.
func rootless(p string) string {
	if drive(p) {
		return p[2:]
	}
	return p
}

// setEnv sets a variable for the rest of the code, and for what it starts.
func (w *windows) setEnv(name string, v arg) {
	low := strings.ToLower(name)
	if old, ok := w.env[low]; ok && w.maybe > 0 {
		v = joinArgs([]arg{old, v})
	}
	if len(w.env) < 1024 {
		w.env[low] = v
	}
}

// winCall is one command of cmd or PowerShell.
type winCall struct {
	w     *windows
	path  arg    // as written
	name  string // without path and ending, in lower case
	args  []arg
	index int // in script.commands; -1: not recorded
	out   arg // what it prints
}
