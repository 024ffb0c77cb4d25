package trial

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/mutant"
)

// Score is how many of some mutants were killed.
type Score struct {
	Name    string  `json:"name"`
	Killed  int     `json:"killed"`
	Mutants int     `json:"mutants"`
	Percent float64 `json:"percent"`
}

func (s *Score) add(m mutant.Mutant) {
	s.Mutants++
	if m.Outcome == Killed {
		s.Killed++
	}
	s.Percent = float64(s.Killed) * 100 / float64(s.Mutants)
}

// Total is the score of all mutants; if there are none, it is 100 percent.
func (m *Mutation) Total() Score {
	all := Score{Name: "all", Percent: 100}
	for _, one := range m.Mutants {
		all.add(one)
	}
	return all
}

// Kinds are the scores of modules, conditions, rows and data, except those
// without mutants.
func (m *Mutation) Kinds() []Score {
	all := m.by(func(one mutant.Mutant) string { return one.Kind })
	order := mutant.Kinds()
	slices.SortFunc(all, func(a, b Score) int { return slices.Index(order, a.Name) - slices.Index(order, b.Name) })
	return all
}

// Rules are the scores of each rule, by its id or path.
func (m *Mutation) Rules() []Score {
	return m.by(func(one mutant.Mutant) string { return one.Rule })
}

func (m *Mutation) by(name func(mutant.Mutant) string) []Score {
	at := map[string]int{}
	var all []Score
	for _, one := range m.Mutants {
		n, there := at[name(one)]
		if !there {
			n = len(all)
			at[name(one)] = n
			all = append(all, Score{Name: name(one)})
		}
		all[n].add(one)
	}
	slices.SortFunc(all, func(a, b Score) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Alive lists the mutants that no test killed, by file and place.
func (m *Mutation) Alive() []mutant.Mutant {
	return slices.DeleteFunc(slices.Clone(m.Mutants), func(one mutant.Mutant) bool { return one.Outcome == Killed })
}
