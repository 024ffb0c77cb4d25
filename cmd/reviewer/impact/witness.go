package impact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// witness shows a step in lines: what was called, where, why on either side.
func witness(s simulate.Step) []string {
	list := []string{subject(s), place(s)}
	if len(s.FromRules)+len(s.ToRules) > 0 {
		list = append(list, fmt.Sprintf("baseline: %s; candidate: %s", rules(s.FromRules), rules(s.ToRules)))
	}
	if s.Reason != "" {
		list = append(list, "because: "+term.PrintableLine(s.Reason))
	}
	if s.Missing != "" {
		list = append(list, "not known: "+term.PrintableLine(s.Missing))
	}
	return list
}

// subject is what a step is about: the tool and what it touches.
func subject(s simulate.Step) string {
	return strings.TrimSpace(term.PrintableLine(cmp.Or(s.Tool, string(s.Phase)) + " " + s.Resource))
}

// place says where a step is recorded.
func place(s simulate.Step) string {
	text := fmt.Sprintf("session %s, call %s", s.Session, term.Thousands(s.Index+1))
	if s.Phase != engine.PhasePre {
		text = fmt.Sprintf("session %s, %s after %s", s.Session, s.Phase, plural(s.Index, "call", "calls"))
	}
	if s.Agent != "" && s.Agent != engine.MainAgent {
		text += ", agent " + s.Agent
	}
	if s.ID != "" {
		text += ", record " + s.ID
	}
	return term.PrintableLine(text)
}

func rules(list []string) string {
	if len(list) == 0 {
		return "no rule"
	}
	return term.PrintableLine(few(list))
}

// stands explains what stands for a rule in a list of kinds.
func stands(kinds []simulate.Kind) []string {
	var list []string
	for _, x := range []struct{ id, what string }{
		{simulate.ByScores, "the scores decide, and no rule"},
		{simulate.ByEnforcement, "both say the same of the call, and one enforces it less"},
		{simulate.ByOthers, "somebody refused then; the transcript does not tell who"},
	} {
		if slices.ContainsFunc(kinds, func(k simulate.Kind) bool { return k.Rule == x.id }) {
			list = append(list, x.id+": "+x.what+".")
		}
	}
	return list
}

// byWeight sorts kinds of change: what loosens first, and what occurs most.
func byWeight(kinds []simulate.Kind) []simulate.Kind {
	return slices.SortedStableFunc(slices.Values(kinds), func(a, b simulate.Kind) int {
		rank := func(k simulate.Kind) int {
			if i := slices.Index(changing(), k.State); i >= 0 {
				return i
			}
			return len(changing())
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Count, a.Count), cmp.Compare(b.After, a.After))
	})
}

// cause is what a kind of change is due to, and at which point where that is not
// before a call.
func cause(k simulate.Kind) string {
	text := term.PrintableLine(k.Rule)
	if k.Unasked {
		text += " (it asks, and nobody could be asked)"
	}
	if k.Phase != engine.PhasePre && k.Phase != "" {
		text += " at " + term.PrintableLine(string(k.Phase))
	}
	return text
}

// arrow writes a transition as --fail-on takes it, with spaces.
func arrow(from, to engine.Verdict) string { return known(from) + " -> " + known(to) }

func known(v engine.Verdict) string { return cmp.Or(string(v), "not known") }
