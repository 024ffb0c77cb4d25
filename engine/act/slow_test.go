package act

import (
	"context"
	"errors"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// TestSlow: a review that takes more CPU time than the policy expects counts as slow, and is
// answered anyway.
func TestSlow(t *testing.T) {
	for name, c := range map[string]struct {
		took, limit float64
		fails       error
		slow        bool
	}{
		"within":           {took: 99.999, limit: 100},
		"at it":            {took: 100, limit: 100},
		"over it":          {took: 100.017, limit: 100, slow: true},
		"no limit":         {took: 1e6},
		"over it, and not": {took: 200, limit: 100, fails: errors.New("no memory"), slow: true},
	} {
		l := newMemoryLog()
		r := newReviewer(l, always(engine.Decision{Decision: engine.Allow, Enforced: engine.Allow}))
		p, err := r.Policy("")
		if err != nil {
			t.Fatal(err)
		}
		p.Settings.Performance.MaxReviewTimeMS = c.limit
		r.Policy = func(string) (*review.Policy, error) { return p, c.fails }
		r.Clock.CPU = func() float64 { return c.took }
		got, _ := r.Handle(context.Background(), event(engine.PhasePre, "c"))
		want := engine.Allow
		if c.fails != nil {
			want = engine.Block
		}
		a := l.records[1].Answer
		if got.Slow != c.slow || got.Effect != want || a.Slow != c.slow || a.CPU > c.took || a.CPU < c.took-0.01 {
			t.Errorf("%s: answer %+v, recorded %+v", name, got, a)
		}
	}
}
