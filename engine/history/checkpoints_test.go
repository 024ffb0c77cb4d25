package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// checkpointed appends a call with a checkpoint before it, and its outcome.
func (h *State) checkpointed(id, checkpoint string, o engine.Outcome) {
	add := func(r engine.Record) {
		r.N, r.T, r.Call, r.Agent = h.N+1, h.T+1000, id, engine.MainAgent
		h.Append(&r)
	}
	add(engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Action: &engine.Action{}, Answer: &engine.AnswerFacts{Effect: engine.Allow}})
	add(engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.ActCheckpoint, Checkpoint: &engine.CheckpointFacts{ID: checkpoint}}})
	add(engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: o}}})
}

// The first checkpoint of a session stays, with the latest; each has how its calls went.
func TestCheckpointsAreBounded(t *testing.T) {
	h := New()
	for i := range 30 {
		o := engine.OutcomeRan
		if i%2 == 1 {
			o = engine.OutcomeFailed
		}
		h.checkpointed(fmt.Sprint("c", i), fmt.Sprint("k", i/2), o)
	}
	if len(h.Checkpoints) != maxCheckpoints || h.Checkpoints[0].ID != "k0" || h.Checkpoints[maxCheckpoints-1].ID != "k14" {
		t.Fatalf("%+v", h.Checkpoints)
	}
	for _, c := range h.Checkpoints {
		if c.Ran != 1 || c.Failed != 1 || c.Error == 0 || c.N == 0 {
			t.Errorf("%+v", c)
		}
	}
}

// Whatever a record holds, checkpoints stay small.
func TestCheckpointsAreSmall(t *testing.T) {
	h := New()
	for i := range 20 {
		h.checkpointed(fmt.Sprint("c", i), fmt.Sprint(i)+strings.Repeat("\x01", 5000), engine.OutcomeRan)
	}
	before := h.fixedSize()
	h.Checkpoints = nil
	if n := before - h.fixedSize(); n > 4000 {
		t.Errorf("checkpoints need %d bytes", n)
	}
}

// A call that was denied since there is no checkpoint did not run, and nobody refused it.
func TestUnsavedCallIsDenied(t *testing.T) {
	h := New()
	h.Append(&engine.Record{N: 1, Kind: engine.KindPre, Phase: engine.PhasePre, Call: "c", Action: &engine.Action{}, Answer: &engine.AnswerFacts{Effect: engine.Ask}})
	h.Append(&engine.Record{N: 2, Kind: engine.KindAct, Call: "c",
		Act: &engine.Act{Kind: engine.ActCheckpoint, Checkpoint: &engine.CheckpointFacts{Failure: "disk full", Effect: engine.Block}}})
	if h.Kept(engine.MainAgent, "c") != 2 || h.call(engine.MainAgent, "c").Outcome != engine.OutcomeDenied || h.HasCheckpoint() {
		t.Errorf("%+v", h.call(engine.MainAgent, "c"))
	}
	h.Append(&engine.Record{N: 3, Kind: engine.KindPrompt, Phase: engine.PhasePrompt})
	if h.Refused != 0 {
		t.Error("it counts as refused by a person")
	}
}

// What runs in the background may change files until the next prompt.
func TestBusy(t *testing.T) {
	h := New()
	h.Running = []startedEntry{{N: 4, Line: "make watch"}}
	if h.PromptN = 3; !h.Busy(9) {
		t.Error("a background process is not known")
	}
	if h.PromptN = 5; h.Busy(9) {
		t.Error("one of an earlier prompt counts")
	}
}
