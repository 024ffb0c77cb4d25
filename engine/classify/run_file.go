package classify

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"mvdan.cc/sh/v3/syntax"
)

// fileCode is the code of a file that a command runs.
type fileCode struct {
	text arg
	lang string
	via  string   // file: the call itself has written it; script: it lies on the disk
	file codeFile // where it lies on the disk
}

// codeIn returns the code of a file that is about to run as a language; empty:
// as its first line says.
func (s *shell) codeIn(target arg, lang string) (fileCode, bool) {
	if text, ok := s.written(target); ok {
		if lang == "" {
			lang = shebang(text.text)
		}
		if lang == "" {
			lang = "shell"
		}
		return fileCode{text: text, lang: lang, via: "file"}, true
	}
	if s.in.disk == nil || s.frame.isolated || s.frame.host != "" || target.from != nil {
		return fileCode{}, false
	}
	var all fileCode
	for _, dir := range s.scope.dirs {
		if v := joinDir(dir, target); v.sure == literal && strings.HasPrefix(v.text, "/") {
			all = all.or(s.onDisk(v.text, dir.text, lang))
		}
	}
	return all, all.via != ""
}

// or is the code of two files, any one of which may run.
func (f fileCode) or(g fileCode) fileCode {
	switch {
	case f.via == "":
		return g
	case g.via == "" || f.file.path == g.file.path:
		return f
	}
	f.text = concat(concat(f.text, word("\n")), g.text)
	return f
}

// onDisk is the code of one file on the disk. What a file does that runs itself
// again and again has been seen.
func (s *shell) onDisk(name, cwd, lang string) fileCode {
	file := s.in.disk.file(name, cwd)
	if lang == "" && file.found {
		lang = shebang(file.text)
	}
	depth, again := s.fileDepth(file.path)
	deep := file.found && again == 0 && depth >= maxFileDepth
	switch {
	case file.output && lang != "shell" || again >= maxAgain:
	case file.over && file.own || deep:
		s.opaque("budget", name)
	case file.found && lang != "":
		return fileCode{text: word(file.text), lang: lang, via: "script", file: file}
	}
	return fileCode{}
}

// fileDepth counts the files whose code is running, and how often one of them is.
func (s *shell) fileDepth(name string) (depth, again int) {
	for i, f := range s.frame.files {
		if f == name {
			again++
		}
		if !slices.Contains(s.frame.files[:i], f) {
			depth++
		}
	}
	return depth, again
}

// shebang is the language that the first line of a file names: the shell where
// it names none, nothing where it is not known.
func shebang(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, "#!") {
		return "shell"
	}
	for _, f := range strings.Fields(first[2:]) {
		if l := language(baseName(f)); l != "" {
			return l
		}
	}
	return ""
}

// runsCode interprets the code of a file that this command runs with args, the
// first of which is the file. It tells whether that says all that it does.
func (c *call) runsCode(f fileCode, args []arg) bool {
	return c.s.inFile(f, args[0], func() {
		if f.lang == "shell" {
			c.bound(f.text, f.via, args, false)
		} else {
			c.extract(f.lang, f.text, f.via)
		}
	})
}

// sources interprets the code of a file in this shell.
func (c *call) sources(f fileCode) outcome {
	s := c.s
	saved, bound := s.scope.args, s.scope.bound
	if len(c.args) > 1 {
		s.scope.args, s.scope.bound = c.args[1:], true
	}
	var o outcome
	s.inFile(f, c.args[0], func() { o = s.embed(f.text, "source", true) })
	if len(c.args) > 1 {
		s.scope.args, s.scope.bound = saved, bound
	}
	o.ends = false // return, in a file
	return o
}

// inFile runs f as code of a file that goes by name. It tells whether what the
// shell now knows is all that the code does.
func (s *shell) inFile(f fileCode, name arg, run func()) (whole bool) {
	old, had := s.scope.vars["BASH_SOURCE"]
	s.scope.set("BASH_SOURCE", variable{array: true, list: []arg{name}})
	saved, before := s.frame.files, s.mark()
	if f.via == "script" {
		s.frame.files = appendText(saved, f.file.path)
	}
	run()
	s.frame.files = saved
	if had {
		s.scope.vars["BASH_SOURCE"] = old
	} else {
		delete(s.scope.vars, "BASH_SOURCE")
	}
	return f.via == "file" || s.knownOnly(f, before)
}

// inTask is inFile for a file that says how tasks are done.
func (s *shell) inTask(f fileCode, name arg, run func()) (whole bool) {
	saved := s.frame.via
	if f.via == "script" {
		s.frame.via = appendText(saved, f.via)
	}
	whole = s.inFile(f, name, run)
	s.frame.via = saved
	return whole
}

// mark is a point in the work of a shell.
type mark struct {
	effects, opaque int
	had             map[engine.Signal]bool
}

func (s *shell) mark() mark {
	return mark{len(s.out.effects), len(s.out.opaque), maps.Clone(s.out.signals)}
}

// knownOnly takes back what was said since a mark of things that are not known.
//
// Most files of code start something whose name stands in a variable, and loop
// until they are told to end. To report that of each would raise a question
// with every run, and say nothing about this one: what the text does tell is
// reported. Where the target of a change is not known, the code of a script of
// the session's own is judged as if it stood on the command line. A program,
// unlike a script that strings commands together, gets most of its targets when
// it runs; and what lies outside of the workspace are scripts that people
// install and that set up a shell.
//
// It tells whether there was nothing to take back in a script: of a program its
// text never tells all.
func (s *shell) knownOnly(f fileCode, m mark) (whole bool) {
	scripted := (f.lang == "shell" || f.lang == "tasks") && f.file.own
	whole = scripted
	if !scripted {
		s.dropEffects(m.effects)
	}
	list := s.out.opaque
	s.out.opaque = list[:m.opaque:m.opaque]
	for _, o := range list[m.opaque:] {
		made := o.Reason == "syntax" && !strings.HasPrefix(f.text.show(), o.Where) // of what the file puts together
		if made || o.Reason == "command" || o.Reason == "code" || !scripted && o.Reason != "budget" {
			delete(s.opaques, o)
			whole = false
			continue
		}
		s.out.opaque = append(s.out.opaque, o)
	}
	s.out.signals[engine.SignalUnknownCommand] = m.had[engine.SignalUnknownCommand]
	for _, id := range []engine.Signal{engine.SignalUnbounded, engine.SignalEnvDump, engine.SignalMuted, engine.SignalObfuscated} {
		s.out.signals[id] = m.had[id] || s.out.signals[id] && scripted
	}
	return whole
}

// dropEffects takes back the effects from n on whose target is not known.
func (s *shell) dropEffects(n int) {
	list := s.out.effects
	s.out.effects = list[:n:n]
	for _, e := range list[n:] {
		if e.target.sure == unknown && e.kind != engine.EffectSystemCall && e.kind != engine.EffectResource {
			delete(s.effects, e)
			continue
		}
		s.out.effects = append(s.out.effects, e)
	}
}

// shown is what a command prints or reads of a file: what the call itself has
// written there, and what lies on the disk where the call also starts an
// interpreter, which may run it: cat x.sh | sh. Elsewhere nothing is read.
func (s *shell) shown(target arg) (arg, bool) {
	if text, ok := s.written(target); ok {
		return text, true
	}
	if s.in.disk == nil || len(s.frame.files) == 0 && !s.interprets() {
		return arg{}, false
	}
	f, ok := s.codeIn(target, "shell")
	f.text.taint |= filed
	return f.text, ok
}

// interprets tells whether the code names an interpreter anywhere.
func (s *shell) interprets() bool {
	found := false
	for _, st := range s.out.tree {
		syntax.Walk(st, func(n syntax.Node) bool {
			if w, ok := n.(*syntax.Word); ok {
				name := baseName(w.Lit())
				found = found || name == "eval" || name == "source" || name == "." || language(name) != ""
			}
			return !found
		})
	}
	return found
}
