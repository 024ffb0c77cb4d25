package impact

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// witness shows a step in lines: the call, its place, and the reasons of both sides.
func witness(s simulate.Step) []string {
	list := append(told(s), place(s))
	if len(s.FromRules)+len(s.ToRules) > 0 {
		list = append(list, fmt.Sprintf("baseline: %s; candidate: %s", rules(s.FromRules), rules(s.ToRules)))
	}
	reason := s.Reason
	if s.Example != nil {
		reason = s.Example.Reason
	}
	if reason != "" {
		list = append(list, "because: "+term.PrintableLine(reason))
	}
	if s.Missing != "" {
		list = append(list, "not known: "+term.PrintableLine(s.Missing))
	}
	return list
}

// told returns the lines of an example: the events that lead to the decision, and the
// decision, with the words of the session replaced. If the change does not appear
// with other words, it returns only a digest.
func told(s simulate.Step) []string {
	switch e := s.Example; {
	case e == nil:
		return []string{subject(s)}
	case len(e.Events) == 0:
		digest := sha256.Sum256([]byte(s.Resource))
		return []string{fmt.Sprintf("%s (the call, digest %x, is not shown: "+
			"with its secrets replaced, or without its session, the difference does not appear)",
			term.PrintableLine(cmp.Or(s.Tool, string(s.Phase))), digest[:6])}
	default:
		var lines []string
		for i, v := range e.Events {
			text := exampleText(v)
			if i < len(e.Events)-1 {
				text = "first: " + text
			}
			lines = append(lines, text)
		}
		return lines
	}
}

// exampleText describes an event of an example on one line.
func exampleText(v simulate.ExampleEvent) string {
	what := v.Tool
	switch v.Phase {
	case engine.PhasePre:
	case engine.PhasePost:
		what += " result"
	default:
		what = string(v.Phase)
	}
	return strings.TrimSpace(term.PrintableLine(what + " " + v.Text))
}

// subject returns the tool and the target of a step.
func subject(s simulate.Step) string {
	return strings.TrimSpace(term.PrintableLine(cmp.Or(s.Tool, string(s.Phase)) + " " + s.Resource))
}

// place returns where a step is recorded.
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
	return term.PrintableLine(firstFew(list))
}

// explainEntry explains the entries of a list of kinds that are not rules.
func explainEntry(kinds []simulate.Kind) []string {
	var list []string
	for _, x := range []struct{ id, what string }{
		{simulate.ByScores, "decided by the scores, not by a rule"},
		{simulate.ByEnforcement, "both decide the same, but one enforces it less"},
		{simulate.ByOthers, "someone refused; the transcript does not record who"},
	} {
		if slices.ContainsFunc(kinds, func(k simulate.Kind) bool { return k.Rule == x.id }) {
			list = append(list, x.id+": "+x.what+".")
		}
	}
	return list
}

// byWeight sorts kinds of change: loosening first, then by frequency.
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

// cause returns the cause of a kind of change, and its phase if it is not before a
// call.
func cause(k simulate.Kind) string {
	text := term.PrintableLine(k.Rule)
	if k.Unasked {
		text += " (it asks, but nobody could be asked)"
	}
	if k.Phase != engine.PhasePre && k.Phase != "" {
		text += " at " + term.PrintableLine(string(k.Phase))
	}
	return text + dueTo(k)
}

// arrow writes a transition as --fail-on takes it, with spaces.
func arrow(from, to engine.Verdict) string { return known(from) + " -> " + known(to) }

func known(v engine.Verdict) string { return cmp.Or(string(v), "not known") }
