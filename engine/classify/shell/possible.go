package shell

import (
	"maps"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxPossible limits the effects of commands that a program may run.
const maxPossible = 64

// Perhaps runs f as a command that an unknown program may run. Its effects and signals
// are kept separate from those of the call, and all its other changes are discarded.
func (s *Machine) Perhaps(f func()) {
	if s.Frame.Perhaps || s.Full {
		return // a guess within a guess is not worth reporting
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

// fresh returns empty notes that share the budget.
func (n *Notes) fresh() Notes {
	empty := NewNotes()
	empty.Steps, empty.Bytes, empty.Parsed = n.Steps, n.Bytes, n.Parsed
	return empty
}

// keepPossible adds the findings to the possible effects.
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
	for _, c := range found.Out.Commands {
		if len(s.Out.PossibleRuns) < maxPossible {
			s.Out.PossibleRuns = append(s.Out.PossibleRuns, c)
		}
	}
	if len(found.Out.Signals) > 0 && s.Out.PossibleSignals == nil {
		s.Out.PossibleSignals = map[engine.Signal]bool{}
	}
	maps.Copy(s.Out.PossibleSignals, found.Out.Signals)
}
