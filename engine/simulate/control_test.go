package simulate

import (
	"context"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// A person's choice is folded like a live one, and needs a session.
func TestRehearsalControl(t *testing.T) {
	r := Start("s1", classifier{}, compiled(policy{patience: 9}, "p"), env)
	stop := engine.Control{Do: engine.ControlStop, Reason: "enough", By: "anna"}
	if err := r.Control(5000, stop); err == nil {
		t.Error("a session that has not begun was stopped")
	}
	all := events("Read", "Read")
	r.Next(t.Context(), all[0])
	if err := r.Control(1, stop); err != nil {
		t.Fatal(err)
	}
	if s := r.chain.history.Stop; s == nil || s.Reason != "enough" || s.By != "anna" {
		t.Errorf("the stop is folded as %+v", s)
	}
	if first, last := r.chain.records[0], r.chain.records[2]; last.Kind != engine.KindControl || last.T < first.T {
		t.Errorf("it is recorded as %s at %d, after %d", last.Kind, last.T, first.T)
	}
	if err := r.Control(6000, engine.Control{Do: engine.ControlResume}); err != nil || r.chain.history.Stop != nil {
		t.Errorf("resumed: %v, still stopped: %+v", err, r.chain.history.Stop)
	}
}

// reworker wants every call in another form, which the classifier does not have.
type reworker struct{ policy }

func (reworker) Decide(context.Context, *engine.Input, []engine.Finding) (engine.Decision, error) {
	return engine.Decision{
		Decision: engine.Modify, Enforced: engine.Modify, Rewrite: []engine.Operation{{Op: "drop_flag", Flag: "-f"}},
		Otherwise: &engine.Fallback{Effect: engine.Block, Text: "no"},
	}, nil
}

// A call that cannot run in another form is answered differently; where that is a
// denial, it has no result.
func TestRehearsalOfAnotherForm(t *testing.T) {
	p := &review.Policy{Digest: "p", Matcher: policy{}, Decider: reworker{}}
	r := Start("s1", classifier{}, p, env)
	all := events("Read")
	r.Next(t.Context(), all[0])
	if a, _ := r.Next(t.Context(), all[1]); a.Decision != engine.Modify || a.Enforced != engine.Block {
		t.Errorf("%s, answered %s; want modify, answered block", a.Decision, a.Enforced)
	}
	if _, happened := r.Next(t.Context(), all[2]); happened {
		t.Error("the result of a denied call happened")
	}
}
