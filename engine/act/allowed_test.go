package act

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// gated is a reviewer whose policy denies or asks until a person has spoken.
func gated(l *memoryLog, v engine.Verdict) *Reviewer {
	r := newReviewer(l, func(in *engine.Input) (engine.Decision, error) {
		if in.Session.Allowed != "" {
			return say(engine.Allow), nil
		}
		return say(v), nil
	})
	r.Classifier = classifyFunc(func(e engine.Event, workspace string) (engine.Facts, error) {
		f, err := plainly(e, workspace)
		f.Event.CWD = e.CWD
		return f, err
	})
	return r
}

// allow records what a person types about a record.
func (l *memoryLog) allow(t *testing.T, do string, r *engine.Record) {
	t.Helper()
	c := &engine.Control{Do: do, By: "anna", Record: r.ID(), Print: r.Action.Fingerprint, CWD: r.Event.CWD}
	if err := l.append(&engine.Record{Kind: engine.KindControl, T: r.T, Control: c}); err != nil {
		t.Fatal(err)
	}
}

func TestHandleAllowed(t *testing.T) {
	for _, test := range []struct {
		do   string
		want string // answers to the same call three times, from a sub-agent, with other arguments, elsewhere
	}{
		{engine.ControlAllowOnce, "allow block block block block block"},
		{engine.ControlAllowSession, "allow allow allow allow block block"},
	} {
		l := newMemoryLog()
		r := gated(l, engine.Block)
		handle(t, r, event(engine.PhasePre, "first"))
		l.allow(t, test.do, l.last())
		sub, other, elsewhere := event(engine.PhasePre, "c4"), event(engine.PhasePre, "c5"), event(engine.PhasePre, "c6")
		sub.Agent, other.Args, elsewhere.CWD = "a1", []byte(`{"n":2}`), "/w/sub"
		var got []string
		for _, e := range []engine.Event{event(engine.PhasePre, "c1"), event(engine.PhasePre, "c2"), event(engine.PhasePre, "c3"), sub, other, elsewhere} {
			got = append(got, string(handle(t, r, e).Effect))
		}
		if all := strings.Join(got, " "); all != test.want {
			t.Errorf("%s: %s, want %s", test.do, all, test.want)
		}
	}
}

// A hook that is installed twice asks twice about one call: the second gets the
// first one's answer, and uses nothing up.
func TestHandleAllowedTwice(t *testing.T) {
	l := newMemoryLog()
	r := gated(l, engine.Ask)
	handle(t, r, event(engine.PhasePre, "first"))
	l.allow(t, engine.ControlAllowOnce, l.last())
	for _, want := range []engine.AnswerMode{engine.ModeEnforced, engine.ModeDuplicate} {
		if a := handle(t, r, event(engine.PhasePre, "c1")); a.Effect != engine.Allow || a.Mode != want {
			t.Errorf("%s, %s; want allow, %s", a.Effect, a.Mode, want)
		}
	}
	if a := handle(t, r, event(engine.PhasePre, "c2")); a.Effect != engine.Ask {
		t.Errorf("the next such call is answered %s", a.Effect)
	}
}

// What came of a question is recorded with the event that tells it.
func TestHandleApprovals(t *testing.T) {
	l := newMemoryLog()
	r := gated(l, engine.Ask)
	for _, call := range []string{"c1", "c2"} {
		handle(t, r, event(engine.PhasePre, call))
	}
	for _, test := range []struct {
		e    engine.Event
		want []engine.Approval
	}{
		{event(engine.PhasePost, "c1"), []engine.Approval{{Of: "cccccccc-2", Approved: true, By: engine.ByInference}}},
		{event(engine.PhaseBatch, ""), nil},
		{event(engine.PhaseStop, ""), []engine.Approval{{Of: "cccccccc-3", Approved: false, By: engine.ByInference}}},
		{event(engine.PhasePrompt, ""), nil},
	} {
		handle(t, r, test.e)
		if d := cmp.Diff(test.want, l.last().Answer.Approvals); d != "" {
			t.Errorf("%s: %s", test.e.Phase, d)
		}
	}
}
