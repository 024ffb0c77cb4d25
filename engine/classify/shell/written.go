package shell

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// ReadCode reports what code in a file would do if it ran: a whole file in a language,
// or the command lines in it. Values that are only known at run time (arguments,
// variables, answers) are left out.
func ReadCode(file, lang string, texts []string, in Input) abstract.Script {
	in.Disk = nil
	s := New(in)
	f := FileCode{Lang: lang, Via: "script", File: codeFile{path: file}}
	name := abstract.Word(file)
	s.inFile(f, name, func() {
		for _, text := range texts {
			c := &Call{Shell: s, Name: BaseName(file), Path: name, Index: -1, Out: abstract.Arg{Text: abstract.HoleText}}
			c.runText(lang, strings.ToValidUTF8(text, abstract.HoleText))
		}
	})
	s.runTraps(0)
	return s.Out
}

func (c *Call) runText(lang, text string) {
	if lang == "shell" {
		c.Record()
		c.Bound(abstract.Word(text), "script", nil, false)
		return
	}
	c.Extract(lang, abstract.Word(text), "script")
}

// written lists what the code wrote to files, so that callers can interpret it.
func (s *Machine) written() []abstract.Text {
	var list []abstract.Text
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		if text := s.Files[name]; text.Text != "" && !strings.HasPrefix(name, "/dev/") {
			list = append(list, abstract.Text{Path: name, Text: text.Text})
		}
	}
	return list
}

// maxModules bounds how many modules of one string are named.
const maxModules = 12

// moduleWords are words before the name of a module.
var moduleWords = []string{"import", "from", "require", "load", "require_relative", "run_module", "run_path", "import_module", "__import__",
	"use"}

// fileWords are words before a file of code, in quotes.
var fileWords = []string{"do", "source", "include", "include_once", "require_once", "dofile", "loadfile", "load_file", "exec_file", "open",
	"render", "readfile"}

// modules lists the modules that a string imports, as names that their files may have.
func modules(text string) []string {
	var list []string
	for _, word := range moduleWords {
		list = namesBehind(list, text, word, false)
	}
	for _, word := range fileWords {
		list = namesBehind(list, text, word, true)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// namesBehind adds the names that follow a word. quoted: only those in quotes
// count, as files are named.
func namesBehind(list []string, text, word string, quoted bool) []string {
	for at := 0; len(list) < maxModules; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			break
		}
		start := at + i
		if at = start + len(word); start > 0 && abstract.IsNameByte(text[start-1]) {
			continue
		}
		lead := strings.TrimLeft(text[at:min(len(text), at+8)], " \t(")
		if quoted && (lead == "" || !strings.ContainsAny(lead[:1], "'\"")) {
			continue
		}
		list = append(list, moduleParts(text[at:])...)
	}
	return list
}

// moduleParts are the parts of the name at the beginning of a string, after
// blanks and what opens a call or a string.
func moduleParts(text string) []string {
	text = text[:min(len(text), 80)]
	name := strings.TrimLeft(text, " \t('\"`")
	if name == text {
		return nil
	}
	end := strings.IndexFunc(name, func(r rune) bool {
		return !(r < 0x80 && abstract.IsNameByte(byte(r)) || r == '.' || r == '/' || r == '-' || r == '@')
	})
	if end >= 0 {
		name = name[:end]
	}
	return strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '.' })
}

// maxLinks limits the links that a script is known to have made.
const maxLinks = 256

// Linked remembers that a name now stands for another file: what is done to it happens there. A relative source of a symbolic link
// is relative to the folder of the link.
func (s *Machine) Linked(source, name abstract.Arg, symbolic bool) {
	for _, dir := range s.Scope.Dirs {
		at, from := abstract.JoinDir(dir, name), dir
		if symbolic {
			from = abstract.Value{Sure: abstract.Literal, Text: path.Dir(at.Text)}
		}
		if at.Sure != abstract.Literal || len(s.Links) >= maxLinks {
			continue
		}
		s.Links[at.Text] = abstract.JoinDir(from, source)
		if !symbolic {
			s.hardLinks = append(s.hardLinks, at.Text)
		}
		s.Copied(source, at.Arg())
		if text, ok := s.Written(source); ok {
			s.Store(name, text, false)
		}
	}
}
