package shell

import (
	"github.com/agent-reviewer/reviewer/engine"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// ReadCode says what code in a file would do if it ran, by its texts: the whole of a
// file in a language, or the command lines that stand in it. What it gets only when
// it runs (arguments, variables, answers) is not known then, and left out: whoever
// runs it may mean anything by it.
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

// written lists what the code put into files, for those who ask what that would do.
func (s *Machine) written() []abstract.Text {
	var list []abstract.Text
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		if text := s.Files[name]; text.Text != "" && !strings.HasPrefix(name, "/dev/") {
			list = append(list, abstract.Text{Path: name, Text: text.Text})
		}
	}
	return list
}

// maxModules bounds how many modules of one text are named.
const maxModules = 12

var moduleName = engine.Regexp(`(?:\b(?:import|from|require|load|require_relative|run_module|run_path|import_module|__import__|import_file)\b)` +
	`\s*[(]?\s*['"]?([\w./@-]+)`)

// modules lists the names of the modules that a text asks for, as files may be called.
func modules(text string) []string {
	var list []string
	for _, m := range moduleName().FindAllStringSubmatch(text, maxModules) {
		parts := strings.FieldsFunc(m[1], func(r rune) bool { return r == '/' || r == '.' })
		for _, part := range parts {
			if part != "" && !slices.Contains(list, part) {
				list = append(list, part)
			}
		}
	}
	return list
}
