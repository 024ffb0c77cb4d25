package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// maxPrinted bounds the code of a statement that is kept as text: nested background
// commands would be repeated for each level.
const maxPrinted = 4 << 10

// starts notes what a statement leaves running; its commands begin at begin.
func (s *Machine) starts(st *syntax.Stmt, begin int) {
	if len(s.Out.Starts) < engine.MaxStarted {
		programs := ProgramsOf(s.Out.Commands[min(begin, len(s.Out.Commands)):])
		s.Out.Starts = append(s.Out.Starts, engine.Started{Line: printed(st), Programs: programs})
	}
}

func printed(st *syntax.Stmt) string {
	if st.Cmd == nil || st.Cmd.End().Offset()-st.Cmd.Pos().Offset() > maxPrinted {
		return ""
	}
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.Minify(true)).Print(&b, st.Cmd); err != nil {
		return "" // the programs in it are known anyway
	}
	return strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '\n' || strings.ContainsRune(abstract.Holes, r) }), " ")
}

// ProgramsOf returns the names of the programs of some commands, each once.
func ProgramsOf(commands []engine.Command) []string {
	var list []string
	for i := range commands {
		if name := commands[i].Name; name != "" && !slices.Contains(list, name) && len(list) < engine.MaxStartedPrograms {
			list = append(list, name)
		}
	}
	return list
}
