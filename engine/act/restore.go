package act

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// restore restores the files that a decision is about, unless that was done, records the
// result, and puts it into the answer.
func (r *Reviewer) restore(ctx context.Context, h *handling, d duty, a engine.Answer) (engine.Answer, error) {
	if d.of == nil || d.of.Decision == nil || d.of.Decision.Intervention == nil {
		return a, nil
	}
	act := d.result
	if act == nil {
		act = r.rollback(ctx, h, d)
		err := r.Log.Update(ctx, h.policy, h.key, func(t history.Tail) error {
			// Another hook has done the same meanwhile: what it recorded counts.
			if n, done := t.History.Rollback(); n == d.Of && done > 0 {
				recorded, err := t.Read(done)
				act = recorded
				return err
			}
			act.ClampTime(t.History.T)
			return t.Append(act)
		})
		if err != nil {
			return engine.Answer{}, err
		}
	}
	return rolledBack(h, d.of, act, a), nil
}

// rollback restores files, and returns the record of it.
func (r *Reviewer) rollback(ctx context.Context, h *handling, d duty) *engine.Record {
	began, of := r.Clock.lap(), d.of
	c := RollbackOf{Policy: h.policy, Workspace: r.rawWorkspace(h), Session: h.event.Session, Time: of.T,
		Checkpoint: of.Decision.Intervention.Checkpoint}
	got, err := RolledBack{}, errors.New("another call of the session is still running")
	switch {
	case r.Services.Files == nil:
		err = errors.New("this reviewer stores no files")
	case !d.Busy:
		got, err = r.Services.Files.Rollback(ctx, c)
	}
	facts, result := r.rollbackFacts(&got, err)
	facts.Checkpoint, facts.MS = c.Checkpoint, engine.Round6(max(r.Clock.lap()-began, 0))
	if facts.Undo != "" && h.rec.Phase == engine.PhasePre {
		facts.Effect = engine.Block
	}
	facts.Text = engine.ClipJSON(h.outcome(facts, result), maxOutcome)
	return &engine.Record{Kind: engine.KindAct, T: max(r.Clock.Now(), of.T), Agent: h.rec.Agent, Call: h.rec.Call,
		Act: &engine.Act{Kind: engine.CheckpointRollback, Of: of.ID(), Result: result, Rollback: facts}}
}

// maxConflict limits a path that a rollback names, in bytes as JSON.
const maxConflict = 160

// maxOutcome limits the description of a rollback in a record, in bytes as JSON.
const maxOutcome = 1600

func (r *Reviewer) rollbackFacts(got *RolledBack, err error) (*engine.RollbackFacts, string) {
	f := &engine.RollbackFacts{Undo: got.Undo, Restored: int64(got.Restored), Kept: int64(got.Kept), Moved: int64(got.Moved)}
	for _, p := range got.Conflicts[:min(len(got.Conflicts), engine.MaxRollbackConflicts)] {
		f.Conflicts = append(f.Conflicts, engine.ClipJSON(r.mask(p), maxConflict))
	}
	switch {
	case err != nil && len(f.Conflicts) > 0:
		f.Failure = engine.ClipJSON(r.mask(err.Error()), 480)
		return f, engine.RollbackConflict
	case err != nil:
		f.Failure = engine.ClipJSON(r.mask(err.Error()), 480)
		return f, engine.RollbackFailed
	case f.Undo == "":
		return f, engine.RollbackUnchanged
	}
	return f, engine.RollbackRestored
}

// rolledBack returns the answer to an event, given the result of a rollback.
func rolledBack(h *handling, of, act *engine.Record, a engine.Answer) engine.Answer {
	facts := act.Act.Rollback
	if facts == nil {
		return a
	}
	said := facts.Text
	if of.ID() == a.ID {
		a.Text = strings.ReplaceAll(a.Text, "{outcome}", said)
	} else {
		a.Text = strings.TrimPrefix(a.Text+"\n"+said, "\n")
	}
	if a.Effect == engine.Allow {
		a.Effect = engine.Warn
	}
	if facts.Effect == engine.Block && h.rec.Phase == engine.PhasePre {
		a.Effect, a.Args, a.Grant = engine.Block, nil, false
	}
	return a
}

// outcome describes the result of a rollback with the texts of the policy.
func (h *handling) outcome(f *engine.RollbackFacts, result string) string {
	var texts settings.InterventionsTexts
	if h.policy != nil {
		texts = h.policy.Settings.Interventions.Texts
	}
	said := texts.NotRestored
	switch {
	case result == engine.RollbackRestored && f.Effect == engine.Block:
		said = texts.Restored + texts.NotRun
	case result == engine.RollbackRestored:
		said = texts.Restored
	case result == engine.RollbackUnchanged:
		said = texts.Unchanged
	case said == "":
		return f.Failure
	}
	return strings.NewReplacer("{checkpoint}", f.Checkpoint, "{undo}", f.Undo, "{count}", strconv.FormatInt(f.Restored, 10),
		"{kept}", strconv.FormatInt(f.Kept+f.Moved, 10), "{why}", f.Failure).Replace(said)
}
