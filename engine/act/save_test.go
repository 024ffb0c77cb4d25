package act

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/google/go-cmp/cmp"
)

// storage is Files for tests. It notes what it was asked for.
type storage struct {
	asked []CheckpointOf
	got   Checkpointed
	err   error
	log   *memoryLog
	t     *testing.T

	back   []RollbackOf
	rolled RolledBack
}

func (s *storage) Checkpoint(_ context.Context, c CheckpointOf) (Checkpointed, error) {
	if s.log.locked() {
		s.t.Error("a checkpoint was taken under the session's lock")
	}
	s.asked = append(s.asked, c)
	return s.got, s.err
}

// Rollback implements Files: it restores one file, once.
func (s *storage) Rollback(_ context.Context, c RollbackOf) (RolledBack, error) {
	if s.log.locked() {
		s.t.Error("files were restored under the session's lock")
	}
	s.back = append(s.back, c)
	return s.rolled, s.err
}

// storing returns a reviewer whose policy asks for a checkpoint before each call that
// gets this answer.
func storing(t *testing.T, v engine.Verdict, u review.Unsaved) (*Reviewer, *memoryLog, *storage) {
	t.Helper()
	l, d := newMemoryLog(), say(v)
	d.Obligations = []string{engine.ObligationCheckpoint}
	r := newReviewer(l, always(d))
	s := &storage{log: l, t: t, got: Checkpointed{Result: engine.CheckpointTaken, Facts: engine.CheckpointFacts{ID: "abcd1234-1", Files: 2}}}
	p, _ := r.Policy("")
	p.Unsaved = u
	r.Policy, r.Services.Files = func(string) (*review.Policy, error) { return p, nil }, s
	return r, l, s
}

func answered(t *testing.T, r *Reviewer, e engine.Event) engine.Answer {
	t.Helper()
	a, err := r.Handle(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func blocking() review.Unsaved {
	return review.Unsaved{Effect: engine.Block, Denied: "not stored: {why}"}
}

// A call is answered after its files are stored, and what came of it is recorded.
func TestCheckpointBeforeACall(t *testing.T) {
	r, l, s := storing(t, engine.Allow, blocking())
	if a := answered(t, r, event(engine.PhasePre, "c1")); a.Effect != engine.Allow {
		t.Errorf("answered %+v", a)
	}
	if d := cmp.Diff([]string{"open", "pre", "act"}, l.kinds()); d != "" {
		t.Error(d)
	}
	act := l.last().Act
	if act.Kind != engine.ActCheckpoint || act.Of != l.records[1].ID() || act.Checkpoint.ID != "abcd1234-1" || act.Result != engine.CheckpointTaken {
		t.Errorf("recorded %+v", act)
	}
	if c := s.asked[0]; c.Workspace != "/w" || c.After || c.Own || c.Only || c.Call != "c1" {
		t.Errorf("asked for %+v", c)
	}
}

// Where a call does not run, or nobody asks for it, nothing is stored.
func TestNoCheckpoint(t *testing.T) {
	r, l, s := storing(t, engine.Block, blocking())
	answered(t, r, event(engine.PhasePre, "c1"))
	if len(s.asked) > 0 || len(l.records) != 2 {
		t.Errorf("%d checkpoints, %v", len(s.asked), l.kinds())
	}
	r, l, s = storing(t, engine.Allow, blocking())
	use(r, always(say(engine.Allow)))
	answered(t, r, event(engine.PhasePre, "c1"))
	answered(t, r, event(engine.PhasePost, "c1"))
	if len(s.asked) > 0 || len(l.records) != 3 {
		t.Errorf("%d checkpoints, %v", len(s.asked), l.kinds())
	}
}

// The hook is installed twice: the second one takes no checkpoint, and answers the same.
func TestCheckpointTwice(t *testing.T) {
	for _, failure := range []error{nil, errors.New("disk full: hunter2")} {
		r, l, s := storing(t, engine.Allow, blocking())
		s.err = failure
		first := answered(t, r, event(engine.PhasePre, "c1"))
		second := answered(t, r, event(engine.PhasePre, "c1"))
		if len(s.asked) != 1 || first.Effect != second.Effect || first.Text != second.Text {
			t.Errorf("%d checkpoints; %+v, %+v", len(s.asked), first, second)
		}
		if d := cmp.Diff([]string{"open", "pre", "act", "note"}, l.kinds()); d != "" {
			t.Error(d)
		}
	}
}

// The first hook was killed after the decision was recorded: the second one takes the
// checkpoint.
func TestCheckpointAfterAKill(t *testing.T) {
	r, l, s := storing(t, engine.Allow, blocking())
	l.fail = failOn(engine.KindAct, errors.New("killed"))
	if a, err := r.Handle(context.Background(), event(engine.PhasePre, "c1")); err == nil || a.Effect != engine.Block {
		t.Errorf("answered %+v, %v", a, err)
	}
	l.fail = nil
	if a := answered(t, r, event(engine.PhasePre, "c1")); a.Effect != engine.Allow || len(s.asked) != 2 {
		t.Errorf("answered %+v after %d checkpoints", a, len(s.asked))
	}
	if l.last().Act == nil || l.last().Act.Of != l.records[1].ID() {
		t.Errorf("%v", l.kinds())
	}
}

// A call whose files cannot be stored does not run, unless the policy says so. No person
// refused it.
func TestCheckpointFails(t *testing.T) {
	for name, test := range map[string]struct {
		answer engine.Verdict
		u      review.Unsaved
		want   engine.Verdict
		text   string
	}{
		"blocks":           {engine.Allow, blocking(), engine.Block, "not stored: disk full: REDACTED"},
		"blocks a warning": {engine.Warn, blocking(), engine.Block, "not stored: disk full: REDACTED"},
		"warns":            {engine.Allow, review.Unsaved{Effect: engine.Warn, Allowed: "runs: {why}"}, engine.Warn, "runs: disk full: REDACTED"},
		"asks and warns":   {engine.Ask, review.Unsaved{Effect: engine.Warn, Allowed: "runs: {why}"}, engine.Ask, "runs: disk full: REDACTED"},
		"observes":         {engine.Allow, review.Unsaved{Effect: engine.Allow}, engine.Allow, ""},
		"says nothing":     {engine.Allow, review.Unsaved{Effect: engine.Block}, engine.Block, "reviewer could not review this call"},
	} {
		r, l, s := storing(t, test.answer, test.u)
		s.err = errors.New("disk full: hunter2")
		a := answered(t, r, event(engine.PhasePre, "c1"))
		if a.Effect != test.want || !strings.Contains(a.Text, test.text) {
			t.Errorf("%s: answered %+v", name, a)
		}
		if f := l.last().Act.Checkpoint; f.Effect != test.u.Effect || f.Failure != "disk full: REDACTED" {
			t.Errorf("%s: recorded %+v", name, f)
		}
		prompt := event(engine.PhasePrompt, "")
		answered(t, r, prompt)
		if refused := l.history.Refused; refused > 0 && test.want == engine.Block {
			t.Errorf("%s: %d refusals", name, refused)
		}
	}
}

// After a call, what changed is compared with what was expected.
func TestObserve(t *testing.T) {
	r, l, s := storing(t, engine.Allow, blocking())
	r.Classifier = classifyFunc(func(e engine.Event, _ string) (engine.Facts, error) {
		f, err := plainly(e, "")
		f.Action.Commands = []engine.Command{{Name: "cd"}, {Name: "sed"}}
		f.Action.Effects = []engine.Effect{
			{Kind: engine.EffectFileWrite, Target: "/w/a.txt", Short: "./a.txt", Certainty: engine.CertaintyExact, Command: 1},
			{Kind: engine.EffectFileWrite, Target: "/w/b.txt", Short: "./b.txt", Certainty: engine.CertaintyExact, Command: 1},
			{Kind: engine.EffectFileDelete, Target: "/w/old", Short: "./old", Certainty: engine.CertaintyExact, Recursive: true, Command: 1},
			{Kind: engine.EffectFileWrite, Target: "/w/.git/index", Short: "./.git/index", Certainty: engine.CertaintyExact, Command: 1},
			{Kind: engine.EffectFileRead, Target: "/w/c.txt", Short: "./c.txt", Certainty: engine.CertaintyExact, Command: 1},
		}
		return f, err
	})
	answered(t, r, event(engine.PhasePre, "c1"))
	s.got.Root = "/w"
	s.got.Changes = []FileChange{{Path: "/w/a.txt"}, {Path: "/w/old/x"}, {Path: "/w/old", Folder: true}, {Path: "/w/new", Folder: true}, {Path: "/w/new/hunter2"}}
	e := event(engine.PhasePost, "c1")
	e.Result = &engine.Result{Changed: []string{"new/y"}}
	answered(t, r, e)
	want := &engine.Observed{Programs: []string{"sed", "cd"}, Predicted: 3, Confirmed: 2, Changed: 3, Matched: 2,
		Absent: []string{"./b.txt"}, Unexpected: []string{"./new/REDACTED"}}
	if d := cmp.Diff(want, l.last().Act.Observed); d != "" {
		t.Error(d)
	}
	if c := s.asked[1]; !c.After || !c.Own || !slices.Contains(c.First, "new/y") || !slices.Contains(c.First, "/w/a.txt") {
		t.Errorf("asked for %+v", c)
	}
}

// A file tool changes the file that it names; the first checkpoint of a session is of
// everything anyway.
func TestOnlyWhatAFileToolNames(t *testing.T) {
	r, l, s := storing(t, engine.Allow, blocking())
	r.Classifier = classifyFunc(func(e engine.Event, _ string) (engine.Facts, error) {
		f, err := plainly(e, "")
		f.Action.Name = "filesystem.write"
		f.Action.Effects = []engine.Effect{{Kind: engine.EffectFileWrite, Target: "/w/a.txt", Certainty: engine.CertaintyExact, Command: -1}}
		return f, err
	})
	for _, call := range []string{"c1", "c2"} {
		e := event(engine.PhasePre, call)
		e.Args = []byte(`{"file_path":"a.txt","content":"x path"}`)
		answered(t, r, e)
		e.Phase, e.Result = engine.PhasePost, &engine.Result{}
		answered(t, r, e)
	}
	var only []bool
	for _, c := range s.asked {
		only = append(only, c.Only)
	}
	if d := cmp.Diff([]bool{false, false, true, true}, only); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a.txt", "/w/a.txt"}, s.asked[2].First); d != "" {
		t.Error(d)
	}
	if l.last().Act.Kind != engine.ActObserved || !l.last().Act.Checkpoint.Only {
		t.Errorf("%+v", l.last().Act)
	}
}

// While another call of the session has not ended, what changes may be its work.
func TestOwnChanges(t *testing.T) {
	r, _, s := storing(t, engine.Allow, blocking())
	answered(t, r, event(engine.PhasePre, "c1"))
	answered(t, r, event(engine.PhasePre, "c2"))
	e := event(engine.PhasePost, "c1")
	e.Result = &engine.Result{}
	answered(t, r, e)
	e.Call = "c2"
	answered(t, r, e)
	answered(t, r, event(engine.PhasePre, "c3"))
	var own []bool
	for _, c := range s.asked {
		own = append(own, c.Own)
	}
	if d := cmp.Diff([]bool{false, true, true, true, false}, own); d != "" {
		t.Error(d)
	}
}
