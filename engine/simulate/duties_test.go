package simulate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

func TestDuties(t *testing.T) {
	side := func(enforced engine.Verdict, made *engine.Intervention) sideAnswer {
		return sideAnswer{verdict: enforced, decision: &engine.Decision{Enforced: enforced, Intervention: made}}
	}
	own := func(does ...string) *engine.Intervention {
		return &engine.Intervention{Kind: "own", Issue: "loop", Factor: 0.5, Checkpoint: "s-1", Does: does}
	}
	for name, tt := range map[string]struct {
		side sideAnswer
		want []dutyKey
	}{
		"nothing":             {side(engine.Allow, nil), nil},
		"nothing is known":    {sideAnswer{verdict: engine.Block}, nil},
		"a question":          {side(engine.Ask, nil), []dutyKey{{"wait", ""}}},
		"a message":           {side(engine.Warn, &engine.Intervention{Kind: engine.SoftCorrection, Issue: "loop"}), nil},
		"limits":              {side(engine.Warn, &engine.Intervention{Kind: engine.ResourceThrottling, Issue: "loop", Factor: 0.5}), []dutyKey{{"limit", "resource_throttling"}}},
		"only observed":       {side(engine.Allow, &engine.Intervention{Kind: engine.ResourceThrottling, Issue: "loop", Factor: 0.5}), nil},
		"a rollback":          {side(engine.Warn, &engine.Intervention{Kind: engine.CheckpointRollback, Issue: "loop", Checkpoint: "s-1"}), []dutyKey{{"restore", "checkpoint_rollback"}}},
		"one by a person":     {side(engine.Warn, &engine.Intervention{Kind: engine.CheckpointRollback, Issue: "loop", Checkpoint: "s-1", Asks: true}), []dutyKey{{"offered", "checkpoint_rollback"}}},
		"a stop":              {side(engine.Block, &engine.Intervention{Kind: engine.EmergencyStop, Issue: "loop"}), []dutyKey{{"stop", "emergency_stop"}}},
		"a stopped session":   {side(engine.Block, &engine.Intervention{Kind: engine.EmergencyStop}), nil},
		"a kind of their own": {side(engine.Ask, own("limit", "wait", "restore")), []dutyKey{{"wait", "own"}, {"limit", "own"}, {"restore", "own"}}},
	} {
		if diff := cmp.Diff(tt.want, tt.side.duties(), cmp.AllowUnexported(dutyKey{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The duties of parts add up, by session.
func TestDutiesOfParts(t *testing.T) {
	part := func(session string, was, is int64) *Impact {
		m := newImpact(Named{}, Named{}, "", Selection{})
		m.Duties = []SessionDuty{{Session: session, What: "stop", Kind: "halt", Baseline: was, Candidate: is}}
		return m
	}
	m := newImpact(Named{}, Named{}, "", Selection{})
	for _, p := range []*Impact{part("s2", 1, 0), part("s1", 0, 1), part("s2", 0, 1)} {
		m.Add(p)
	}
	want := []SessionDuty{{"s1", "stop", "halt", 0, 1}, {"s2", "stop", "halt", 1, 1}}
	if diff := cmp.Diff(want, m.Duties); diff != "" {
		t.Error(diff)
	}
}
