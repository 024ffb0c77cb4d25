package stats

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// Checkpoints are counted by when they were taken, and comparisons by program.
func TestFiles(t *testing.T) {
	c, err := NewCollector(0, "", soon)
	if err != nil {
		t.Fatal(err)
	}
	c.Begin("s")
	add := func(a engine.Act) { c.Add(&engine.Record{Kind: engine.KindAct, T: 1, Act: &a}) }
	before := func(f engine.CheckpointFacts) { add(engine.Act{Kind: engine.ActCheckpoint, Checkpoint: &f}) }
	after := func(o engine.Observed) {
		add(engine.Act{Kind: engine.ActObserved, Checkpoint: &engine.CheckpointFacts{MS: 4}, Observed: &o})
	}
	before(engine.CheckpointFacts{ID: "a-1", MS: 2, Stored: 100, Left: 1})
	before(engine.CheckpointFacts{ID: "a-2", MS: 20, Stored: 10})
	before(engine.CheckpointFacts{MS: 1, Failure: "disk full", Effect: engine.Block})
	after(engine.Observed{Programs: []string{"sed", "cd"}, Predicted: 2, Confirmed: 1, Changed: 4, Matched: 1})
	after(engine.Observed{Programs: []string{"sed"}, Predicted: 2, Confirmed: 2, Changed: 4, Matched: 3})
	after(engine.Observed{Programs: []string{"make"}})
	after(engine.Observed{Programs: []string{"make"}, Predicted: 1, Confirmed: 5}) // tampered with
	c.End(false)
	d := c.Document()
	if got := d.Checkpoints; got.Before.Count != 3 || got.After.Count != 4 || got.Stored != 110 || got.Left != 1 || got.Failed != 1 || got.Denied != 1 {
		t.Errorf("%+v", got)
	}
	precision, recall := rateOf(3, 4), rateOf(4, 8)
	want := []ObservedProgram{
		{Program: "sed", Calls: 2, Predicted: 4, Confirmed: 3, Changed: 8, Matched: 4, Precision: &precision, Recall: &recall},
		{Program: "make", Calls: 1},
	}
	if diff := cmp.Diff(want, d.Observed); diff != "" {
		t.Error(diff)
	}
	if len(d.Interventions) > 0 {
		t.Errorf("checkpoints count as interventions: %+v", d.Interventions)
	}
}
