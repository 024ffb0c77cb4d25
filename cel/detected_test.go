package cel

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

// Conditions can ask whether a detector found something, and how often.
func TestDetected(t *testing.T) {
	h := host(t,
		Condition{ID: "listed", Match: Match{Detected: []string{"text.hidden", "other"}}},
		Condition{ID: "often", When: `"text.hidden" in action.detected && action.detected["text.hidden"] > 2`},
		Condition{ID: "some", When: `"text.hidden" in action.detected`},
		Condition{ID: "with", Match: Match{Detected: []string{"text.hidden"}, Tools: []string{"Read"}}},
	)
	for _, test := range []struct {
		detected map[string]int64
		want     []engine.Finding
	}{
		{nil, nil},
		{map[string]int64{"text": 1}, nil},
		{map[string]int64{"other": 1}, []engine.Finding{{ID: "listed"}}},
		{map[string]int64{"text.hidden": 2}, []engine.Finding{{ID: "listed"}, {ID: "some"}}},
		{map[string]int64{"text.hidden": 3, "text": 1}, []engine.Finding{{ID: "listed"}, {ID: "often"}, {ID: "some"}}},
	} {
		in := &engine.Input{Action: engine.Action{Detected: test.detected}}
		if d := cmp.Diff(test.want, match(t, h, in)); d != "" {
			t.Errorf("%v: %s", test.detected, d)
		}
	}
	if _, err := Compile([]Condition{{ID: "a", Match: Match{Detected: []string{"text.*"}}}}); err == nil {
		t.Error("a pattern among ids of detectors is taken")
	}
}
