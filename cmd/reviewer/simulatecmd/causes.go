package simulatecmd

import (
	"context"
	"fmt"
	"sync"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// addCauses gives a candidate the changes that lead to it from the baseline, and
// the policies between the two.
func addCauses(side *simulate.Side, baseline, candidate *bundles.Effective) error {
	if baseline == nil {
		return nil
	}
	changes, err := diff.Policies(baseline, candidate, wiring.RegoDifferences)
	if err != nil {
		return err
	}
	groups := together(changes.Deciding())
	for _, g := range groups {
		side.Causes = append(side.Causes, causeOf(g))
	}
	if len(groups) > 1 {
		b := &between{baseline: baseline, candidate: candidate, groups: groups, compiled: map[string]*review.Policy{}}
		side.Without = b.without
	}
	return nil
}

// together groups the changes that can be undone separately: Rego and its data change
// together.
func together(all []diff.Change) [][]diff.Change {
	var groups [][]diff.Change
	var code []diff.Change
	for _, c := range all {
		if c.Kind == diff.KindRego || c.Kind == diff.KindData {
			code = append(code, c)
			continue
		}
		groups = append(groups, []diff.Change{c})
	}
	if len(code) > 0 {
		groups = append(groups, code)
	}
	return groups
}

// causeOf describes a change as a cause.
func causeOf(g []diff.Change) simulate.Cause {
	c := g[0]
	cause := simulate.Cause{Kind: c.Kind, Name: c.Name, Did: c.Did, Direction: string(c.Direction)}
	if c.Kind == diff.KindRego || c.Kind == diff.KindData {
		cause.Kind = simulate.CauseRego
	}
	if more := len(g) - 1; more > 0 {
		cause.Name += fmt.Sprintf(" and %d more", more)
		cause.Did, cause.Direction = diff.Altered, string(diff.Undecided)
	}
	if c.Kind == diff.KindSetting {
		cause.Was, cause.Is = valueText(c.Before), valueText(c.After)
	}
	if c.Did == diff.Altered && c.Kind != diff.KindSetting {
		for _, p := range c.Parts {
			cause.Parts = append(cause.Parts, p.Name)
		}
	}
	return cause
}

// between compiles the policies between two. It may be used by several goroutines
// at once.
type between struct {
	baseline, candidate *bundles.Effective
	groups              [][]diff.Change

	mu       sync.Mutex
	compiled map[string]*review.Policy // by the indexes of the undone changes; nil: they cannot be undone
}

// maxBetween bounds how many policies are compiled: each takes as long as the
// candidate does.
const maxBetween = 48

func (b *between) without(ctx context.Context, places []int) (*review.Policy, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := fmt.Sprint(places)
	p, known := b.compiled[key]
	if known || len(b.compiled) >= maxBetween {
		return p, nil
	}
	var changes []diff.Change
	for _, i := range places {
		changes = append(changes, b.groups[i]...)
	}
	e, err := diff.Without(b.baseline, b.candidate, changes)
	if err == nil {
		p, err = wiring.Compile(ctx, e)
	}
	if err != nil {
		p = nil // a rule of one policy may need Rego of the same one
	}
	b.compiled[key] = p
	return p, ctx.Err()
}
