package shell

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"mvdan.cc/sh/v3/syntax"
)

// FileCode is the code of a file that a command runs.
type FileCode struct {
	Text abstract.Arg
	Lang string
	Via  string   // file: the call itself wrote it; script: it is on the disk
	File codeFile // where it is on the disk
}

// Unread reports whether the file may have code that is not read, since it is too long or not a file of the disk.
func (f FileCode) Unread() bool { return f.File.over || f.File.unread == engine.UnreadPipe }

// CodeIn returns the code of a file that is about to run as a language; empty:
// as its first line says.
func (s *Machine) CodeIn(target abstract.Arg, lang string) (FileCode, bool) {
	return s.codeIn(target, lang, true)
}

// PrintedCode is CodeIn for a file that is printed, if something reads the output and may run it: what cannot be read of the file is
// unknown to that command only.
func (s *Machine) PrintedCode(target abstract.Arg) (FileCode, bool) {
	if !s.Frame.Wants {
		return FileCode{}, false
	}
	return s.codeIn(target, "shell", false)
}

func (s *Machine) codeIn(target abstract.Arg, lang string, runs bool) (FileCode, bool) {
	if text, ok := s.Written(target); ok {
		if lang == "" {
			lang = Shebang(text.Text)
		}
		if lang == "" {
			lang = "shell"
		}
		return FileCode{Text: text, Lang: lang, Via: "file"}, true
	}
	if !s.here() || target.From != nil {
		return FileCode{}, false
	}
	var all FileCode
	for _, dir := range s.Scope.Dirs {
		v := abstract.JoinDir(dir, target)
		switch {
		case v.Sure != abstract.Literal || !abstract.InDirectory(v.Text):
		case s.arrived(v.Text):
			all = all.or(FileCode{Text: abstract.UnknownArg(), Lang: cmp.Or(lang, "shell"), Via: "file"})
		case s.In.Disk != nil:
			all = all.or(s.onDisk(v.Text, dir.Text, lang, runs))
		}
	}
	return all, all.Via != ""
}

// Arrives remembers that the contents of a directory come from elsewhere, and are unknown if they are not there yet.
func (s *Machine) Arrives(target abstract.Arg) {
	for _, dir := range s.Scope.Dirs {
		if v := abstract.JoinDir(dir, target); v.Sure == abstract.Literal && s.here() && len(s.arrivals) < 64 {
			s.arrivals = append(s.arrivals, v.Text)
		}
	}
}

// arrived reports whether a file comes from elsewhere. What is there already is read; without a disk, nothing is known about
// what is in the directory of the call itself.
func (s *Machine) arrived(name string) bool {
	return slices.ContainsFunc(s.arrivals, func(dir string) bool {
		if !below(name, dir) {
			return false
		}
		if s.In.Disk == nil {
			return dir != s.In.Cwd.Text
		}
		return s.In.Disk.res.Looking() && s.In.Disk.res.Lstat(name) == nil
	})
}

// InVersionControl reports whether a file is identical to its committed version.
func (s *Machine) InVersionControl(target abstract.Arg) bool {
	if s.In.Disk == nil || !s.here() || target.From != nil {
		return false
	}
	for _, dir := range s.Scope.Dirs {
		v := abstract.JoinDir(dir, target)
		if v.Sure != abstract.Literal || !abstract.InDirectory(v.Text) || !s.In.Disk.file(v.Text, dir.Text).clean {
			return false
		}
	}
	return len(s.Scope.Dirs) > 0
}

// or is the code of two files, any one of which may run.
func (f FileCode) or(g FileCode) FileCode {
	switch {
	case f.Via == "":
		return g
	case g.Via == "" || f.File.path == g.File.path:
		return f
	}
	f.Text = abstract.Concat(abstract.Concat(f.Text, abstract.Word("\n")), g.Text)
	return f
}

// onDisk is the code of one file on the disk. A file that runs itself is interpreted
// only a few times. Only if it runs, it matters what is not read of it.
func (s *Machine) onDisk(name, cwd, lang string, runs bool) FileCode {
	file := s.In.Disk.file(name, cwd)
	if lang == "" && file.found {
		lang = Shebang(file.text)
	}
	if file.unread != "" && runs {
		s.Unread(file.path, file.unread)
	}
	depth, again := s.fileDepth(file.path)
	deep := file.found && again == 0 && depth >= maxFileDepth
	switch {
	case file.output && lang != "shell" || again >= maxAgain:
	case !runs && (file.over || file.unread != ""):
	case file.over && file.Own || deep:
		s.Opaque("budget", name)
	case file.unread == engine.UnreadPipe:
		s.Opaque("code", name)
	case file.found && lang != "":
		return FileCode{Text: abstract.Word(file.text), Lang: lang, Via: "script", File: file}
	}
	return FileCode{File: file}
}

// fileDepth counts the files whose code is running, and how often one of them is.
func (s *Machine) fileDepth(name string) (depth, again int) {
	for i, f := range s.Frame.files {
		if f == name {
			again++
		}
		if !slices.Contains(s.Frame.files[:i], f) {
			depth++
		}
	}
	return depth, again
}

// Shebang returns the language that the first line of a file names: the shell if it
// names none, nothing if it is unknown.
func Shebang(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, "#!") {
		return "shell"
	}
	for _, f := range strings.Fields(first[2:]) {
		if l := Language(BaseName(f)); l != "" {
			return l
		}
	}
	return ""
}

// RunsCode interprets the code of a file that this command runs with args, the first
// of which is the file. It reports whether the result is complete.
func (c *Call) RunsCode(f FileCode, args []abstract.Arg) bool {
	return c.Shell.inFile(f, args[0], func() {
		if f.Lang == "shell" {
			c.Bound(f.Text, f.Via, args, false)
		} else {
			c.Extract(f.Lang, f.Text, f.Via)
		}
	})
}

// sources interprets the code of a file in this shell.
func (c *Call) sources(f FileCode) Outcome {
	s := c.Shell
	saved, bound := s.Scope.args, s.Scope.bound
	if len(c.Args) > 1 {
		s.Scope.args, s.Scope.bound = c.Args[1:], true
	}
	var o Outcome
	s.inFile(f, c.Args[0], func() { o = s.Embed(f.Text, "source", true) })
	if len(c.Args) > 1 {
		s.Scope.args, s.Scope.bound = saved, bound
	}
	o.ends = false // return, in a file
	return o
}

// inFile runs f as code of a file with a name. It reports whether the result is
// complete.
func (s *Machine) inFile(f FileCode, name abstract.Arg, run func()) (whole bool) {
	old, had := s.Scope.vars["BASH_SOURCE"]
	s.Scope.set("BASH_SOURCE", variable{array: true, list: []abstract.Arg{name}})
	saved, before := s.Frame.files, s.mark()
	if f.Via == "script" {
		s.Frame.files = AppendText(saved, f.File.path)
	}
	run()
	s.Frame.files = saved
	if had {
		s.Scope.vars["BASH_SOURCE"] = old
	} else {
		delete(s.Scope.vars, "BASH_SOURCE")
	}
	return f.Via == "file" || s.knownOnly(f, before)
}

// InTask is inFile for a file that defines tasks.
func (s *Machine) InTask(f FileCode, name abstract.Arg, run func()) (whole bool) {
	saved := s.Frame.Via
	if f.Via == "script" {
		s.Frame.Via = AppendText(saved, f.Via)
	}
	whole = s.inFile(f, name, run)
	s.Frame.Via = saved
	return whole
}

// FollowsTasks records that the tasks that the command runs are among the commands.
func (c *Call) FollowsTasks() {
	if c.Record(); c.Index >= 0 {
		c.Shell.Out.Followed = append(c.Shell.Out.Followed, c.Index)
	}
}

// mark is a position in the notes of a shell.
type mark struct {
	effects, opaque int
	had             map[engine.Signal]bool
}

func (s *Machine) mark() mark {
	return mark{len(s.Out.Effects), len(s.Out.Opaque), maps.Clone(s.Out.Signals)}
}

// knownOnly removes records about unknown things since a mark.
//
// Most files of code start something whose name is in a variable, or loop until they
// are stopped. Reporting that would lead to a question with every run, so only known
// facts are reported. If the target of a change is unknown, the code of the
// session's own scripts is judged as if it were on the command line. Other programs
// get most of their targets at run time, and scripts outside the workspace are
// usually installed or set up a shell.
//
// It reports whether there was nothing to remove in a script; for a program the result
// is never complete.
func (s *Machine) knownOnly(f FileCode, m mark) (whole bool) {
	scripted := (f.Lang == "shell" || f.Lang == "tasks") && f.File.Own
	whole = scripted
	if !scripted {
		s.dropEffects(m.effects)
	}
	list := s.Out.Opaque
	s.Out.Opaque = list[:m.opaque:m.opaque]
	for _, o := range list[m.opaque:] {
		made := o.Reason == "syntax" && !strings.HasPrefix(f.Text.Show(), o.Where) // from text that the file assembles
		if made || o.Reason == "command" || o.Reason == "code" || !scripted && o.Reason != "budget" {
			delete(s.opaques, o)
			whole = false
			continue
		}
		s.Out.Opaque = append(s.Out.Opaque, o)
	}
	s.Out.Signals[engine.SignalUnknownCommand] = m.had[engine.SignalUnknownCommand]
	for _, id := range []engine.Signal{engine.SignalUnbounded, engine.SignalEnvDump, engine.SignalMuted, engine.SignalObfuscated} {
		s.Out.Signals[id] = m.had[id] || s.Out.Signals[id] && scripted
	}
	return whole
}

// dropEffects removes the effects from n on whose target is unknown.
func (s *Machine) dropEffects(n int) {
	list := s.Out.Effects
	s.Out.Effects = list[:n:n]
	for _, e := range list[n:] {
		if e.Target.Sure == abstract.Unknown && e.Kind != engine.EffectSystemCall && e.Kind != engine.EffectResource {
			delete(s.effects, e)
			continue
		}
		s.Out.Effects = append(s.Out.Effects, e)
	}
}

// Shown returns the contents of a file that a command prints or reads: what the call
// itself wrote there, or what is on the disk if the call also starts an interpreter
// that may run it: cat x.sh | sh. Otherwise nothing is read.
func (s *Machine) Shown(target abstract.Arg) (abstract.Arg, bool) {
	if text, ok := s.Written(target); ok {
		return text, true
	}
	if s.In.Disk == nil || len(s.Frame.files) == 0 && !s.interprets() {
		return abstract.Arg{}, false
	}
	f, ok := s.CodeIn(target, "shell")
	f.Text.Taint |= abstract.Filed
	if !ok && s.InVersionControl(target) {
		return abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed | abstract.Vouched}, true
	}
	return f.Text, ok
}

// interprets reports whether the code names an interpreter, or a client that
// runs scripts, anywhere.
func (s *Machine) interprets() bool {
	found := false
	for _, st := range s.Out.Tree {
		syntax.Walk(st, func(n syntax.Node) bool {
			if w, ok := n.(*syntax.Word); ok {
				name := BaseName(w.Lit())
				found = found || name == "eval" || name == "source" || name == "." || name == "patch" || Language(name) != "" || s.client(name)
			}
			return !found
		})
	}
	return found
}

// client reports whether a program runs scripts against a database.
func (s *Machine) client(name string) bool {
	if name == "" || s.In.Rows == nil {
		return false
	}
	p, known, _ := s.In.Rows.Program(name)
	return known && p.Kind == rows.Database
}

// maxInputs bounds how many files are recorded as the code of interpreters.
const maxInputs = 8

// RunsInput records the files whose text comes through a pipe to an interpreter as its
// code (cat FILE | sh). If nothing can be read, a document among them is unseen code.
func (c *Call) RunsInput() {
	s := c.Shell
	if !s.Frame.Piped {
		return
	}
	for _, e := range s.Out.Effects[min(s.Frame.Begin, len(s.Out.Effects)):] {
		if e.Kind != engine.EffectFileRead || e.Verb == "list" || e.Target.Sure != abstract.Literal || len(s.Out.Inputs) == maxInputs {
			continue
		}
		s.Out.Inputs = append(s.Out.Inputs, e.Target.Text)
		if s.In.Disk == nil && s.forPeople(e.Target.Text) {
			s.Unseen(*s.Frame.Stdin, c.Name)
		}
	}
}

// forPeople reports whether a file is data or text for people, by its name.
func (s *Machine) forPeople(name string) bool {
	return slices.Contains(s.In.Rows.Words("code.data"), strings.TrimPrefix(strings.ToLower(path.Ext(name)), "."))
}
