package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/rego"
)

// reasons remembers a policy's last input, and explains why rules did not fire.
type reasons struct {
	engine.Matcher
	cel      *cel.Host
	rego     *rego.Host
	in       *engine.Input
	findings []engine.Finding
}

// Match implements engine.Matcher.
func (w *reasons) Match(ctx context.Context, in *engine.Input) ([]engine.Finding, error) {
	found, err := w.Matcher.Match(ctx, in)
	w.in, w.findings = in, found
	return found, err
}

// explained returns the policy with what can explain it; nil: it cannot be explained.
func (p *policy) explained() (*policy, *reasons) {
	w := &reasons{Matcher: p.Matcher}
	w.cel, _ = p.Matcher.(*cel.Host)
	w.rego, _ = p.Decider.(*rego.Host)
	if w.cel == nil || w.rego == nil {
		return p, nil
	}
	other := *p.Policy
	other.Matcher = w
	return p.having(&other), w
}

// missing lists the rules that were expected to fire for an event and did not.
func missing(e *cases.Expect, rec *engine.Record) []string {
	var fired []string
	if rec.Decision != nil {
		fired = rec.Decision.RuleIDs()
	}
	expected := slices.Concat(e.Rules, e.RulesExactly)
	if e.Rule != "" {
		expected = append(expected, e.Rule)
	}
	expected = slices.DeleteFunc(expected, func(id string) bool { return slices.Contains(fired, id) })
	slices.Sort(expected)
	return slices.Compact(expected)
}

// of describes what kept each of the rules from firing, in lines for a person.
func (w *reasons) of(ctx context.Context, ids []string) []string {
	if w == nil || w.in == nil || len(ids) == 0 {
		return nil
	}
	var lines []string
	silent, _ := w.rego.NotFired(ctx, w.in, w.findings) // errors are not explained
	answers := w.cel.Answers(w.in)
	for _, id := range ids {
		lines = append(lines, whyNot(id, answers, silent))
	}
	return lines
}

// whyNot describes what kept one rule from firing.
func whyNot(id string, answers []cel.Answer, silent []rego.NotFired) string {
	for _, a := range answers {
		if a.ID == id && !a.Holds {
			return fmt.Sprintf("rule %s did not fire: %s", id, strings.Join(unmet(&a), "; "))
		}
	}
	for _, s := range silent {
		if s.ID == id {
			_, file, _ := strings.Cut(s.At.File, "/")
			return fmt.Sprintf("rule %s did not fire: false in %s:%d: %s", id, file, s.At.Line, s.At.Text)
		}
	}
	return fmt.Sprintf("rule %s did not fire: it is disabled, an exception applies, or it asks for facts that this call does not have", id)
}

// unmet lists the false parts of a condition.
func unmet(a *cel.Answer) []string {
	var list []string
	for _, m := range a.Match {
		got := strings.Join(m.Got, ", ")
		if got == "" {
			got = "nothing"
		}
		list = append(list, fmt.Sprintf("match.%s: found %s; expected one of %s", m.List, got, strings.Join(m.Wanted, ", ")))
	}
	for _, q := range a.Parts {
		if q.Holds {
			continue
		}
		text := "false: " + q.Text
		for _, v := range q.Values {
			text += fmt.Sprintf(" (%s is %s)", v.Text, v.Value)
		}
		list = append(list, text)
	}
	if a.Measure != nil && *a.Measure < a.Threshold {
		list = append(list, fmt.Sprintf("measure is %v, the threshold %v", *a.Measure, a.Threshold))
	}
	if a.Error != "" {
		list = append(list, a.Error)
	}
	return list
}
