package review

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// RollbackOf describes what a rollback restores.
type RollbackOf struct {
	Workspace  string // raw
	Rows       engine.Rows
	Session    string
	Checkpoint string
	Time       int64 // of the decision, Unix milliseconds: the same if it is repeated
}

// RolledBack is the result of a rollback.
type RolledBack struct {
	Undo      string // absent: nothing was restored
	Restored  int    // paths
	Kept      int    // paths that differ and were not changed
	Moved     int    // repositories that differ from the checkpoint and were not changed
	Conflicts []string
}

// Rollback has the texts about the result of a rollback, with the placeholders {checkpoint},
// {undo}, {count}, {kept} and {why}.
type Rollback struct {
	Restored  string
	Unchanged string
	Failed    string
	NotRun    string // added to Restored if the call does not run
}

// goesBack is a rollback that is to be carried out, or was.
type goesBack struct {
	of   *engine.Record // whose decision asks for it
	done *engine.Record // its result; nil: that is not recorded yet
	busy bool           // the session itself may be changing files now
}

// goesBackOf returns the rollback that the answer to a record waits for: its own, or one
// that a hook did not finish. It runs under the session's lock; nil: there is none.
func (r *Reviewer) goesBackOf(t history.Tail, rec *engine.Record) *goesBack {
	n, act := t.History.Rollback()
	if n == 0 || act > 0 && n != rec.N || rec.Phase != engine.PhasePre && rec.Phase != engine.PhasePost {
		return nil
	}
	b := &goesBack{of: rec}
	if n != rec.N {
		b.of, _ = earlier(t, n)
	}
	if b.of == nil || b.of.Decision == nil || b.of.Decision.Intervention == nil {
		return nil
	}
	b.done, _ = earlier(t, act)
	b.busy = t.History.HasUnfinished(rec.N)
	return b
}

// goBack restores the files that a decision is about, unless that was done, records the
// result, and puts it into the answer.
func (r *Reviewer) goBack(ctx context.Context, key engine.SessionKey, h *review, a engine.Answer) (engine.Answer, error) {
	act := h.back.done
	if act == nil {
		act = r.restore(ctx, h)
		err := r.Log.Update(ctx, key, func(t history.Tail) error {
			// Another hook has done the same meanwhile: what it recorded counts.
			if n, done := t.History.Rollback(); n == h.back.of.N && done > 0 {
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
	return r.rolledBack(h, act, a), nil
}

// restore restores files, and returns the record of it.
func (r *Reviewer) restore(ctx context.Context, h *review) *engine.Record {
	began, of := r.lap(), h.back.of
	c := RollbackOf{Workspace: r.rawWorkspace(h), Session: h.event.Session, Checkpoint: of.Decision.Intervention.Checkpoint, Time: of.T}
	if h.policy != nil {
		c.Rows = h.policy.Rows
	}
	got, err := RolledBack{}, errors.New("another call of the session is still running")
	switch {
	case r.Files == nil:
		err = errors.New("this reviewer stores no files")
	case !h.back.busy:
		got, err = r.Files.Rollback(ctx, c)
	}
	facts, result := r.rollbackFacts(&got, err)
	facts.Checkpoint, facts.MS = c.Checkpoint, engine.Round6(max(r.lap()-began, 0))
	if facts.Undo != "" && h.rec.Phase == engine.PhasePre {
		facts.Effect = engine.Block
	}
	facts.Text = engine.ClipJSON(h.outcome(facts, result), maxOutcome)
	return &engine.Record{Kind: engine.KindAct, T: max(r.Now(), of.T), Agent: h.rec.Agent, Call: h.rec.Call,
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
func (r *Reviewer) rolledBack(h *review, act *engine.Record, a engine.Answer) engine.Answer {
	facts := act.Act.Rollback
	if facts == nil {
		return a
	}
	said := facts.Text
	if h.back.of.ID() == a.ID {
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
func (h *review) outcome(f *engine.RollbackFacts, result string) string {
	var texts Rollback
	if h.policy != nil {
		texts = h.policy.Rollback
	}
	said := texts.Failed
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
