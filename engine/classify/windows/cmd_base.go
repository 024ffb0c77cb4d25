package windows

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// interpreter is the state that the interpreters of cmd and PowerShell share:
// either starts the other, and both start the same programs. Like the shell's
// interpreter it notes what each command would do, decides nothing and runs
// nothing.
type interpreter struct {
	shell.Notes
	in    shell.Input
	dirs  []abstract.Value        // the directories in which it may be, the most likely first
	env   map[string]abstract.Arg // variables of the environment that the code sets, in lower case
	files map[string]abstract.Arg // what the code has written to a file so far
	frame winFrame
	maybe int // enclosing branches that might not be taken
}

// winFrame describes how the running code was started.
type winFrame struct {
	wrappers   []string
	via        []string
	host       string // where it runs; empty: on this machine
	privileged bool
	muted      bool
	stdin      *abstract.Arg // contents of standard input; nil: the terminal
	depth      int
}

func newWindows(in shell.Input) *interpreter {
	return &interpreter{
		Notes: shell.NewNotes(), in: in, dirs: []abstract.Value{in.Cwd}, env: map[string]abstract.Arg{}, files: map[string]abstract.Arg{},
	}
}

// checked returns code as the interpreters read it: characters that can hide text are
// reported, and line ends are normalised.
func (w *interpreter) checked(src string) string {
	for i, r := range src {
		if shell.Misleading(r) && r != '\r' || r == utf8.RuneError {
			w.Opaque("encoding", strings.ToValidUTF8(src[i:min(len(src), i+16)], "?"))
			break
		}
	}
	if len(src) > shell.MaxSource {
		w.OverBudget(src[:64])
		src = src[:shell.MaxSource]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(src, abstract.HoleText), "\r\n", "\n")
}

func (w *interpreter) signal(ids ...engine.Signal) {
	for _, id := range ids {
		w.Out.Signals[id] = true
	}
}

// unseen notes that unseen code runs.
func (w *interpreter) unseen(code abstract.Arg, via string) {
	w.Opaque("code", via)
	if code.Taint&abstract.Fetched != 0 {
		w.signal(engine.SignalRemoteCode)
	}
	if code.Taint&abstract.Decoded != 0 {
		w.signal(engine.SignalObfuscated)
	}
}

// embed runs code found in code; run reads it.
func (w *interpreter) embed(code abstract.Arg, via string, run func(src string)) {
	if w.frame.depth >= shell.MaxDepth || w.Parsed+len(code.Text) > shell.MaxEmbedded {
		w.OverBudget(via)
		return
	}
	if !code.Known() && strings.Trim(code.Text, abstract.Holes+" \t\r\n\"'") == "" {
		w.unseen(code, via)
		return
	}
	if code.Taint&abstract.Decoded != 0 {
		w.signal(engine.SignalObfuscated)
	}
	w.Parsed += len(code.Text)
	w.under(via, false, func() {
		w.frame.depth++
		run(code.Text)
	})
}

// under runs f as part of a command: code in its arguments, or with wrapper another
// program.
func (w *interpreter) under(name string, wrapper bool, f func()) {
	saved := w.frame
	if wrapper {
		w.frame.wrappers = shell.AppendText(saved.wrappers, name)
	} else {
		w.frame.via = shell.AppendText(saved.via, name)
	}
	f()
	w.frame = saved
}

// process runs f as a process of its own, whose directory does not matter afterwards.
func (w *interpreter) process(f func()) {
	dirs := w.dirs
	f()
	w.dirs = dirs
}

// elsewhere runs f as code of another machine.
func (w *interpreter) elsewhere(name string, host abstract.Arg, f func()) {
	w.process(func() {
		w.dirs = []abstract.Value{{Sure: abstract.Unknown}}
		w.under(name, true, func() {
			w.frame.host, w.frame.muted, w.frame.privileged = "winrm:"+host.Show(), false, false
			f()
		})
	})
}

// branch interprets f, which might not run.
func (w *interpreter) branch(f func()) {
	dirs := w.dirs
	w.maybe++
	f()
	w.maybe--
	w.dirs = limitDirs(abstract.UnionValues(w.dirs, dirs))
}

func limitDirs(dirs []abstract.Value) []abstract.Value {
	if len(dirs) > shell.MaxDirs {
		return []abstract.Value{{Sure: abstract.Unknown}}
	}
	return dirs
}

// enter changes the directory. If sure is false this may fail, and later code may
// still run in the previous directory.
func (w *interpreter) enter(to abstract.Arg, sure bool) {
	dir := abstract.Value{Sure: abstract.Unknown}
	if v := winPath(to); v.Sure == abstract.Literal {
		if dir = anchor(v, w.dirs[0]); !strings.HasPrefix(dir.Text, "/") && !place.Drive(dir.Text) && !strings.HasPrefix(dir.Text, "~") {
			dir = abstract.JoinDir(w.dirs[0], abstract.Word(dir.Text))
		} else if place.Drive(dir.Text) {
			dir.Text = place.WindowsClean(dir.Text)
		} else if strings.HasPrefix(dir.Text, "~") && w.in.Home != "" {
			dir.Text = path.Join(w.in.Home, dir.Text[1:])
		}
	}
	if sure || w.exists(dir) {
		w.dirs = []abstract.Value{dir}
	} else {
		w.dirs = limitDirs(abstract.UnionValues([]abstract.Value{dir}, w.dirs))
	}
}

// exists reports whether a directory exists for certain. If nothing is known about the
// machine, as in a transcript, a directory that is named literally is assumed to
// exist.
func (w *interpreter) exists(dir abstract.Value) bool {
	if dir.Sure != abstract.Literal || w.frame.host != "" {
		return false
	}
	if w.in.ListDir == nil {
		return true
	}
	_, err := w.in.ListDir(dir.Text)
	return err == nil
}

// emit adds an effect on each target, seen from each directory in which the
// code may be.
func (w *interpreter) emit(e abstract.RawEffect, targets ...abstract.Arg) {
	e.Privileged, e.Host = e.Privileged || w.frame.privileged, w.frame.host
	for _, t := range targets {
		for _, dir := range w.dirs {
			one := e
			one.Dir, one.Target = dir, t.Value()
			if onFiles(e.Kind) {
				w.emitPath(one, t)
				continue
			}
			w.add(one)
			if e.Kind == engine.EffectNetwork && e.Verb != "listen" {
				w.Flow(w.in, e.Command, shell.HostOf(t), t, false)
			}
			break
		}
	}
}

func onFiles(k engine.EffectKind) bool {
	return k == engine.EffectFileDelete || k == engine.EffectFileWrite || k == engine.EffectFileRead
}

// emitPath adds an effect on a path, which may be on another machine.
func (w *interpreter) emitPath(e abstract.RawEffect, t abstract.Arg) {
	e.Target = anchor(winPath(t), e.Dir)
	if device := rawDevice(t); device && e.Kind != engine.EffectFileRead {
		w.signal(engine.SignalDiskWrite)
		e.Kind, e.Verb = engine.EffectSystemCall, "write"
	}
	if e.Target.Sure == abstract.Glob && shell.Everything(e.Target.Text) {
		e.Contents = true
	}
	w.add(e)
	if host := shareHost(t); host != "" && e.Kind == engine.EffectFileWrite {
		w.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Target: abstract.Value{Text: host}, Dir: e.Dir, Egress: true,
			Command: e.Command, Host: e.Host})
	}
}

func (w *interpreter) add(e abstract.RawEffect) {
	if w.Effect(e) && w.frame.muted && shell.Changes(e) {
		w.signal(engine.SignalMuted)
	}
}

// merge adds what code of another language would do.
func (w *interpreter) merge(s abstract.Script) {
	base := len(w.Out.Commands)
	if base+len(s.Commands) > shell.MaxCommands {
		w.OverBudget("commands")
		return
	}
	w.Out.Commands = append(w.Out.Commands, s.Commands...)
	for _, e := range s.Effects {
		if e.Command >= 0 {
			e.Command += base
		}
		if onFiles(e.Kind) {
			e.Target = anchor(e.Target, e.Dir)
		}
		w.add(e)
	}
	for _, f := range s.Flows {
		if f.Command >= 0 {
			f.Command += base
		}
		w.Out.Flows = append(w.Out.Flows, f)
	}
	for id, on := range s.Signals {
		w.Out.Signals[id] = w.Out.Signals[id] || on
	}
	w.Out.Waits = w.Out.Waits || s.Waits
	w.Out.Starts = append(w.Out.Starts, s.Starts...)
	w.Out.Remotes = append(w.Out.Remotes, s.Remotes...)
	w.Out.Taken = append(w.Out.Taken, s.Taken...)
	for _, o := range s.Opaque {
		w.Opaque(o.Reason, o.Where)
	}
}

// store notes the contents of a file; written returns it.
func (w *interpreter) store(file, text abstract.Arg, add bool) {
	for _, dir := range w.dirs {
		if v := fileKey(file, dir); v != "" && len(w.files) < 256 {
			if add {
				text = abstract.Concat(w.files[v], text)
			}
			w.files[v] = text
		}
	}
}

func (w *interpreter) written(file abstract.Arg) (abstract.Arg, bool) {
	if len(w.files) == 0 {
		return abstract.Arg{}, false
	}
	for _, dir := range w.dirs {
		if text, ok := w.files[fileKey(file, dir)]; ok {
			return text, true
		}
	}
	return abstract.Arg{}, false
}

// fileKey names a file for the two above; nothing if it is unknown.
func fileKey(file abstract.Arg, dir abstract.Value) string {
	v := anchor(winPath(file), dir)
	if v.Sure != abstract.Literal || v.Text == "" {
		return ""
	}
	if !strings.HasPrefix(v.Text, "/") && !place.Drive(v.Text) {
		v = abstract.JoinDir(dir, abstract.Word(v.Text))
	}
	if v.Sure != abstract.Literal {
		return ""
	}
	return strings.ToLower(path.Clean(v.Text))
}

// joinBy joins texts with sep between them.
func joinBy(list []abstract.Arg, sep abstract.Arg) abstract.Arg {
	var b strings.Builder
	var all abstract.Taint
	for i, a := range list {
		if i > 0 {
			b.WriteString(sep.Text)
			all |= sep.Taint
		}
		b.WriteString(a.Text)
		if all |= a.Taint; b.Len() > abstract.MaxText {
			return abstract.Arg{Text: abstract.CutText(b.String()), Taint: all}
		}
	}
	return abstract.Arg{Text: b.String(), Taint: all}
}

// winPath returns a path as a value: with slashes, and without the characters that
// Windows ignores.
func winPath(a abstract.Arg) abstract.Value {
	text := a.Text
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
		text = text[:2] + "/" + text[2:] // the drive's current directory, which may be its root
	}
	if slices.Contains([]string{"nul", "con", "prn", "aux", "$null", "conin$", "conout$"}, strings.ToLower(text)) {
		text = "/dev/null"
	}
	text = shortNames(text)
	if rest, ok := strings.CutSuffix(text, "*.*"); ok && (rest == "" || strings.HasSuffix(rest, "/")) {
		text = rest + "*"
	}
	known, _, _ := strings.Cut(text, abstract.HoleText)
	known, _, _ = strings.Cut(known, abstract.VacancyText)
	return abstract.Arg{Text: text, Glob: strings.ContainsAny(known, "*?")}.Value()
}

// shortNames expands 8.3 names.
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

// anchor makes a path on a drive absolute, because the rest of the program expects
// relative paths under a root.
func anchor(v, dir abstract.Value) abstract.Value {
	if v.Sure == abstract.Unknown || dir.Sure != abstract.Literal || !place.Drive(place.Slashes(dir.Text)) || place.Drive(v.Text) ||
		strings.HasPrefix(v.Text, "~") || strings.HasPrefix(v.Text, "//") || v.Text == "/dev/null" {
		return v
	}
	base := place.Slashes(dir.Text)
	if strings.HasPrefix(v.Text, "/") {
		v.Text = base[:2] + v.Text
		return v
	}
	v.Text = strings.TrimSuffix(base, "/") + "/" + v.Text
	return v
}

// rawDevice reports whether a path is a raw disk.
func rawDevice(a abstract.Arg) bool {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(a.Text), "/", `\`), `\\.\`)
	if !ok {
		return false
	}
	return strings.HasPrefix(rest, "physicaldrive") || strings.HasPrefix(rest, "harddisk") ||
		len(rest) <= 3 && len(rest) >= 2 && rest[1] == ':'
}

// shareHost is the host of \\host\share\x; nothing for this machine.
func shareHost(a abstract.Arg) string {
	text := strings.ReplaceAll(a.Text, `\`, "/")
	rest, ok := strings.CutPrefix(text, "//")
	if !ok || rest == "" || rest[0] == '?' || rest[0] == '.' {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "@")
	if host == "" || strings.ContainsAny(host, abstract.Holes) ||
		slices.Contains([]string{"localhost", "127.0.0.1", "wsl$", "wsl.localhost"}, strings.ToLower(host)) {
		return ""
	}
	return host
}

// variable is a variable of the environment; false if it is unknown.
func (w *interpreter) variable(name string) (abstract.Arg, bool) {
	v, known := w.knownVariable(name)
	if !known {
		v = w.asVariable(name, v)
	}
	return v, known
}

func (w *interpreter) knownVariable(name string) (abstract.Arg, bool) {
	low := strings.ToLower(name)
	if v, ok := w.env[low]; ok {
		return v, true
	}
	if v, ok := w.in.Env[name]; ok {
		return v.Arg(), true
	}
	home, user := w.in.Home, path.Base(w.in.Home)
	switch low {
	case "temp", "tmp":
		return abstract.Word(w.tempFolder()), true
	case "systemdrive":
		return abstract.Word("C:"), true
	case "systemroot", "windir":
		return abstract.Word("C:/Windows"), true
	case "comspec":
		return abstract.Word("C:/Windows/System32/cmd.exe"), true
	case "programdata", "allusersprofile":
		return abstract.Word("C:/ProgramData"), true
	case "programfiles", "programw6432":
		return abstract.Word("C:/Program Files"), true
	case "programfiles(x86)":
		return abstract.Word("C:/Program Files (x86)"), true
	case "public":
		return abstract.Word("C:/Users/Public"), true
	case "cd":
		return w.dirs[0].Arg(), true
	}
	if home == "" {
		return abstract.UnknownArg(), false
	}
	switch low {
	case "userprofile", "home":
		return abstract.Word(home), true
	case "homedrive":
		return abstract.Word(home[:len(home)-len(rootless(home))]), true
	case "homepath":
		return abstract.Word(rootless(home)), true
	case "appdata":
		return abstract.Word(home + "/AppData/Roaming"), true
	case "localappdata":
		return abstract.Word(home + "/AppData/Local"), true
	case "username", "user":
		return abstract.Word(user), true
	}
	return abstract.UnknownArg(), false
}

// tempFolder returns the folder for temporary files: on a drive, under the home
// directory of an unknown user.
func (w *interpreter) tempFolder() string {
	switch home, dir := place.Slashes(w.in.Home), place.Slashes(w.dirs[0].Text); {
	case place.Drive(home):
		return home + "/AppData/Local/Temp"
	case w.dirs[0].Sure == abstract.Literal && place.Drive(dir):
		return "C:/Users/~/AppData/Local/Temp"
	}
	return "/tmp"
}

// rootless is a path without its drive.
func rootless(p string) string {
	if place.Drive(p) {
		return p[2:]
	}
	return p
}

// setEnv sets a variable for the rest of the code, and for what it starts.
func (w *interpreter) setEnv(name string, v abstract.Arg) {
	low := strings.ToLower(name)
	if old, ok := w.env[low]; ok && w.maybe > 0 {
		v = abstract.JoinArgs([]abstract.Arg{old, v})
	}
	if len(w.env) < 1024 {
		w.env[low] = v
	}
}

// winCall is one command of cmd or PowerShell.
type winCall struct {
	w     *interpreter
	path  abstract.Arg // as written
	name  string       // without path and ending, in lower case
	args  []abstract.Arg
	index int          // in script.commands; -1: not recorded
	out   abstract.Arg // what it prints
}
