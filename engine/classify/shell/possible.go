package shell

import (
	"maps"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxPossible bounds the effects that are kept of what a program may run.
const maxPossible = 64

// Perhaps runs f as what a program may run of which nobody knows what it does with
// its arguments. Its effects and signals are kept apart from those of the call, and
// all else that it changes is forgotten.
func (s *Machine) Perhaps(f func()) {
	if s.Frame.Perhaps || s.Full {
		return // of a guess within a guess, nothing is left that is worth mentioning
	}
	saved := *s
	s.Notes, s.indexes, s.first = saved.Notes.fresh(), map[commandKey]int{}, -1
	s.Files, s.outputs, s.Links = maps.Clone(saved.Files), maps.Clone(saved.outputs), maps.Clone(saved.Links)
	s.programs, s.GitAliases, s.Out.Tree = maps.Clone(saved.programs), maps.Clone(saved.GitAliases), saved.Out.Tree
	s.Subshell(func() Outcome {
		s.Frame.Perhaps = true
		f()
		return Outcome{}
	})
	found := s.Notes
	*s = saved
	s.Steps, s.Bytes, s.Parsed = found.Steps, found.Bytes, found.Parsed
	s.keepPossible(found)
}

// fresh returns notes of nothing that draw on the same budget.
func (n *Notes) fresh() Notes {
	empty := NewNotes()
	empty.Steps, empty.Bytes, empty.Parsed = n.Steps, n.Bytes, n.Parsed
	return empty
}

// keepPossible adds what was found to what may happen.
func (s *Machine) keepPossible(found Notes) {
	if found.Full {
		s.OverBudget("possible")
	}
	for _, e := range found.Out.Effects {
		if len(s.Out.Possible) < maxPossible {
			e.Command = -1
			s.Out.Possible = append(s.Out.Possible, e)
		}
	}
	if len(found.Out.Signals) > 0 && s.Out.PossibleSignals == nil {
		s.Out.PossibleSignals = map[engine.Signal]bool{}
	}
	maps.Copy(s.Out.PossibleSignals, found.Out.Signals)
}
