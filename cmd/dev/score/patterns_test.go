package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// What an event finds counts, and is an alarm where it was told.
func TestFound(t *testing.T) {
	a := simulate.Action{Rules: []string{"loop", "other"}, Record: &engine.Record{Findings: []engine.Finding{
		{ID: "loop", Level: "high"}, {ID: "drift", Level: "medium"}, {ID: "other"},
	}}}
	want := []Found{{"s", 3, "loop", "high", true}, {"s", 3, "drift", "medium", false}}
	if d := cmp.Diff(want, found(a, "s", 3)); d != "" {
		t.Error(d)
	}
	if got := found(simulate.Action{}, "s", 0); got != nil {
		t.Errorf("an event that could not be decided: %+v", got)
	}
}

func TestRuns(t *testing.T) {
	calls := make([]decided, 10)
	got := runsOf([]played{
		{Agent: "a", Calls: calls, Found: []Found{
			{"1", 2, "loop", "medium", true}, {"1", 3, "loop", "medium", false},
			{"1", 4, "loop", "high", true}, {"1", 4, "theft", "critical", true}, {"1", 9, "theft", "critical", false},
		}},
		{Agent: "a", Calls: calls, Found: []Found{{"2", 0, "loop", "low", true}, {"2", 5, "quiet", "high", false}}},
		{Agent: "b", Calls: calls},
	})
	want := Runs{
		Patterns: []PatternCount{
			{"loop", 4, map[string]int{"low": 1, "medium": 1, "high": 1}, 2},
			{"quiet", 1, map[string]int{}, 0},
			{"theft", 2, map[string]int{"critical": 1}, 1},
		},
		High: rate(1, 30), Sessions: map[string]Rate{"a": rate(1, 2), "b": rate(0, 1)},
		Alarms: []Found{
			{"1", 2, "loop", "medium", true}, {"1", 4, "loop", "high", true}, {"1", 4, "theft", "critical", true}, {"2", 0, "loop", "low", true},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for all, lines := range map[bool]string{false: "", true: "  1 call 4: theft critical\n"} {
		var b bytes.Buffer
		got.print(&b, all)
		for _, want := range []string{"of high or above: 1 of 30, 33.3 of 1,000 [5.9–166.7]\n", "sessions of a with one: 1/2 ", lines} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
		if !all && strings.Contains(b.String(), "call 4") {
			t.Error("alarms are named without being asked for")
		}
	}
}
