package audit

import (
	"context"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// The ledger records which sessions are stopped, regardless of who stopped them.
func TestStopped(t *testing.T) {
	s, person := withKey(t)
	ctx := context.Background()
	key := func(name string) engine.SessionKey {
		return engine.SessionKey{Harness: "claude-code", Session: name}
	}
	choose := func(name, do string) {
		t.Helper()
		if err := s.Control(ctx, key(name), engine.Control{Do: do, Reason: "too fast", By: "anna"}, person); err != nil {
			t.Fatal(err)
		}
	}
	resume := func(name, mode string) {
		t.Helper()
		if err := s.Control(ctx, key(name), engine.Control{Do: engine.ControlResume, Mode: mode, By: "anna"}, person); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"by-policy", "by-a-person", "resumed", "aborted", "a-copy", "limited", "stopped-again", "lifted"} {
		mustAdd(t, s, key(name), pre("a"))
	}
	mustAdd(t, s, key("by-policy"), &engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.EmergencyStop, Of: "ab-1", Result: "three denials"}},
		&engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: "other", Of: "ab-1"}})
	mustAdd(t, s, key("a-copy"), &engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.EmergencyStop, Result: "a copy"}})
	choose("by-a-person", engine.ControlStop)
	choose("resumed", engine.ControlStop)
	choose("resumed", engine.ControlResume)
	choose("aborted", engine.ControlAbort)
	choose("aborted", engine.ControlResume)
	for _, name := range []string{"limited", "stopped-again", "lifted"} {
		choose(name, engine.ControlStop)
		resume(name, engine.ResumeLimits)
	}
	resume("limited", engine.ResumeSupervise)
	choose("stopped-again", engine.ControlStop)
	resume("lifted", "")
	got, err := s.Stopped()
	if err != nil {
		t.Fatal(err)
	}
	// A ledger that begins with these stops has them too.
	fresh := testStore(t)
	if err := fresh.Carry(context.Background(), got); err != nil {
		t.Fatal(err)
	}
	carried, err := fresh.Stopped()
	if err != nil || len(carried) != len(got) || !carried[0].Final || carried[1].Chain != got[1].Chain || !got[0].Final {
		t.Errorf("carried: %+v, %v", carried, err)
	}
	for i := range got {
		if len(got[i].Chain) != 32 {
			t.Errorf("%+v has no chain", got[i])
		}
		got[i].Chain = ""
	}
	want := []StoppedChain{
		{Key: key("aborted"), Reason: "too fast", Final: true}, {Key: key("by-a-person"), Reason: "too fast"},
		{Key: key("by-policy"), Reason: "three denials"}, {Key: key("limited"), Resumed: engine.ResumeSupervise, By: "anna"},
		{Key: key("stopped-again"), Reason: "too fast"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
