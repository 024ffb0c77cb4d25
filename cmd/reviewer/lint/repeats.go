package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
)

// definitions warns about definitions that no condition and no other definition uses.
func (p *policy) definitions() {
	used := map[string]bool{}
	use := func(texts ...string) {
		for _, text := range texts {
			for _, name := range cel.FreeNames(text) {
				used[name] = true
			}
		}
	}
	for _, l := range p.effective.Layers {
		for _, d := range l.Definitions {
			use(d.Is)
		}
		for _, r := range l.Rules {
			use(r.When, r.Measure, r.Confidence, r.Details)
		}
		for _, a := range l.Access {
			for _, r := range a.Rules {
				use(r.When)
			}
		}
	}
	for _, l := range p.effective.Layers {
		for _, d := range l.Definitions {
			if !used[d.Name] {
				p.warn(l.Layer, d.Spot, "", "row.unused", "no condition uses the definition %s; remove it, or write its name in a condition", d.Name)
			}
		}
	}
}

// repeats warns about rules of one layer with the condition of another one: both fire for the same calls.
func (p *policy) repeats() {
	for _, l := range p.effective.Layers {
		first := map[string]bundles.Rule{}
		for _, r := range l.Rules {
			if !r.Conditional() {
				continue
			}
			key := condition(r)
			if before, twice := first[key]; twice && before.ID != r.ID { // one id twice is an error of its own
				file, line, _ := before.Spot("id", 0, 0)
				p.warn(l.Layer, r.Spot, "id", "rule.twice", "rule %s has the condition of rule %s (%s:%d), so both fire for the same calls; "+
					"keep one of them, or correct the condition that was copied", r.ID, before.ID, p.layers[l.Layer].place(file), line)
				continue
			}
			first[key] = r
		}
	}
}

// condition is all that decides whether a rule fires, whatever the order of words and the space between them.
func condition(r bundles.Rule) string {
	var b strings.Builder
	m := r.Match
	for _, words := range [][]string{m.Phases, m.Tools, m.Types, m.Signals, m.Actions, m.Commands, m.Detected, m.Facts} {
		fmt.Fprintf(&b, "%q", slices.Sorted(slices.Values(words)))
	}
	for _, text := range []string{r.When, r.Measure} {
		fmt.Fprintf(&b, "%q", strings.Fields(text))
	}
	if r.Threshold != nil {
		fmt.Fprint(&b, *r.Threshold)
	}
	return b.String()
}
