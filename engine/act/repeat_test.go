package act

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/google/go-cmp/cmp"
)

// A review is the same each time, and its digests say about what.
func TestReviewRepeats(t *testing.T) {
	p := &review.Policy{Matcher: always(say(engine.Warn)), Decider: always(say(engine.Warn)), View: engine.View{Windows: []engine.Window{{Name: "w", Last: 2}}}}
	l := newMemoryLog()
	for i := range 30 {
		for _, phase := range []engine.Phase{engine.PhasePre, engine.PhasePost} {
			e := event(phase, fmt.Sprint("c", i))
			e.Args = json.RawMessage(fmt.Sprintf(`{"n":%d}`, i%7))
			handle(t, newReviewer(l, always(say(engine.Warn))), e)
		}
	}
	h := lenient()
	states := map[string]bool{}
	for _, r := range l.records {
		first, err1 := p.Review(t.Context(), r, h)
		again, err2 := p.Review(t.Context(), r, h)
		if err1 != nil || err2 != nil || !cmp.Equal(first, again) {
			t.Fatalf("%v, %v: %s", err1, err2, cmp.Diff(first, again))
		}
		if want, err := engine.Digest(&first.Input); err != nil || first.SHA.Input != want {
			t.Fatalf("the input's digest is %s, want %s (%v)", first.SHA.Input, want, err)
		}
		if r.SHA != nil && first.SHA.Args != r.SHA.Args {
			t.Fatalf("the arguments' digest is %s, want %s", first.SHA.Args, r.SHA.Args)
		}
		states[first.SHA.State] = true
		h.Append(r)
	}
	if len(states) < 30 {
		t.Errorf("%d records have %d states", len(l.records), len(states))
	}
}
