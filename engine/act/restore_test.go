package act

import (
	"errors"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// returning returns a reviewer whose policy has files restored at each event.
func returning(t *testing.T, asks bool) (*Reviewer, *memoryLog, *storage) {
	t.Helper()
	r, l, s := storing(t, engine.Warn, blocking())
	d := say(engine.Warn)
	d.Text = "stuck: {outcome}"
	d.Intervention = &engine.Intervention{Kind: engine.CheckpointRollback, Issue: "loop", Checkpoint: "abcd1234-1", Asks: asks}
	use(r, always(d))
	p, _ := r.Policy("")
	r.Policy = func(string) (*review.Policy, error) { return p, nil }
	p.Settings.Interventions.Texts = settings.InterventionsTexts{Restored: "restored {checkpoint}, {count}, undo {undo}.", NotRun: " Not run.", NotRestored: "not restored: {why}", Unchanged: "same"}
	s.rolled = RolledBack{Undo: "abcd1234-2", Restored: 3}
	return r, l, s
}

// Files are restored after the decision was recorded; the answer and the record say so, and
// a call that was made for the files as they were does not run.
func TestRollback(t *testing.T) {
	r, l, s := returning(t, false)
	a := answered(t, r, event(engine.PhasePre, "c1"))
	if a.Effect != engine.Block || a.Text != "stuck: restored abcd1234-1, 3, undo abcd1234-2. Not run." {
		t.Errorf("answered %+v", a)
	}
	if got := strings.Join(l.kinds(), " "); got != "open pre act" {
		t.Error(got)
	}
	act := l.last().Act
	if act.Kind != engine.CheckpointRollback || act.Result != engine.RollbackRestored || act.Of != l.records[1].ID() || act.Rollback.Undo != "abcd1234-2" {
		t.Errorf("recorded %+v, %+v", act, act.Rollback)
	}
	if c := s.back[0]; c.Workspace != "/w" || c.Checkpoint != "abcd1234-1" || c.Time != l.records[1].T {
		t.Errorf("restored %+v", c)
	}
	if l.history.FileOps != 0 {
		t.Error("what was spent still counts")
	}
}

// The hook is installed twice: files are restored once, and both give the same answer.
func TestRollbackTwice(t *testing.T) {
	r, _, s := returning(t, false)
	first := answered(t, r, event(engine.PhasePre, "c1"))
	second := answered(t, r, event(engine.PhasePre, "c1"))
	if len(s.back) != 1 || first.Effect != second.Effect || first.Text != second.Text {
		t.Errorf("%d rollbacks; %+v, %+v", len(s.back), first, second)
	}
}

// What a hook did before it was killed is recorded by the next event.
func TestRollbackAfterAKill(t *testing.T) {
	r, l, s := returning(t, false)
	l.fail = failOn(engine.KindAct, errors.New("killed"))
	if _, err := r.Handle(t.Context(), event(engine.PhasePre, "c1")); err == nil {
		t.Fatal("the failure is not reported")
	}
	l.fail = nil
	d := say(engine.Allow)
	use(r, always(d))
	a := answered(t, r, event(engine.PhasePre, "c2"))
	if len(s.back) != 2 || s.back[0].Time != s.back[1].Time || a.Effect != engine.Block || l.last().Act.Of != l.records[1].ID() {
		t.Errorf("%d rollbacks; %+v; %+v", len(s.back), a, l.last().Act)
	}
	if answered(t, r, event(engine.PhasePre, "c3")); len(s.back) != 2 {
		t.Error("the files were restored again")
	}
}

// If nothing can be restored, the call runs, and the agent is told why.
func TestNoRollback(t *testing.T) {
	r, l, s := returning(t, false)
	s.err, s.rolled = errors.New("somebody else changed hunter2"), RolledBack{Conflicts: []string{"hunter2", "b", "c", "d", "e", "f"}}
	a := answered(t, r, event(engine.PhasePre, "c1"))
	act := l.last().Act
	if a.Effect != engine.Warn || !strings.Contains(a.Text, "not restored: somebody else changed ") || strings.Contains(a.Text, "hunter2") {
		t.Errorf("answered %+v", a)
	}
	if act.Result != engine.RollbackConflict || len(act.Rollback.Conflicts) != engine.MaxRollbackConflicts || act.Rollback.Conflicts[0] == "hunter2" {
		t.Errorf("recorded %+v", act.Rollback)
	}
}

// A rollback that a person is to make restores nothing.
func TestOfferedRollback(t *testing.T) {
	r, l, s := returning(t, true)
	if a := answered(t, r, event(engine.PhasePost, "c1")); a.Effect != engine.Warn || len(s.back) > 0 || l.last().Kind != engine.KindPost {
		t.Errorf("answered %+v", a)
	}
}

// If the files are as they were, the agent is told just that, and its call runs.
func TestUnchangedRollback(t *testing.T) {
	r, l, s := returning(t, false)
	s.rolled = RolledBack{}
	if a := answered(t, r, event(engine.PhasePre, "c1")); a.Effect != engine.Warn || a.Text != "stuck: same" {
		t.Errorf("answered %+v", a)
	}
	if act := l.last().Act; act.Result != engine.RollbackUnchanged {
		t.Errorf("recorded %+v", act)
	}
}
