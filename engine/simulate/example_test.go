package simulate

import (
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

func called(phase engine.Phase, call string) engine.Event {
	return engine.Event{Phase: phase, Call: call}
}

// A call and its result go together; the decision's own call always stays.
func TestStepsOf(t *testing.T) {
	events := []engine.Event{called(engine.PhasePrompt, ""), called(engine.PhasePre, "a"), called(engine.PhasePre, "b"), called(engine.PhasePost, "a"),
		called(engine.PhasePrompt, ""), called(engine.PhasePost, "b"), called(engine.PhasePre, "c")}
	var sizes []int
	for _, g := range stepsOf(events, called(engine.PhasePost, "c")) {
		sizes = append(sizes, len(g))
	}
	if want := []int{1, 2, 2, 1, 1}; !slices.Equal(sizes, want) {
		t.Errorf("groups of %v, want %v", sizes, want)
	}
	if own := [][]engine.Event{{called(engine.PhasePre, "c")}}; !needed(own, [][]engine.Event{{called(engine.PhasePre, "c")}}) ||
		needed(own, [][]engine.Event{{called(engine.PhasePre, "a")}}) {
		t.Error("the call of the decision is not told from others")
	}
}
