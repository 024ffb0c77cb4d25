package act

import (
	"context"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// read returns an event with the policy's settings for how it is read. Without
// a policy it is unknown what may be kept.
func read(e engine.Event, p *review.Policy) engine.Event {
	e.Redact = engine.PersonalKinds()
	if p != nil {
		e.Redact, e.Rows = p.Redact, p.Rows
	}
	return e
}

// classify makes the record of an event, without what only the lock can give.
// If the event cannot be classified, the record reports this.
func (r *Reviewer) classify(ctx context.Context, e engine.Event, workspace string, p *review.Policy) (*engine.Record, error) {
	t := e.Time
	if t == 0 {
		t = r.Clock.Now()
	}
	facts, err := r.facts(ctx, e, workspace, p)
	if err != nil {
		name, tool := engine.ClipJSON(r.mask(e.Name), maxID), engine.ClipJSON(r.mask(e.Tool), maxID)
		return engine.NewRecord(e, engine.Facts{Event: engine.EventFacts{Name: name, Tool: tool}}, t), fmt.Errorf("classify: %w", err)
	}
	return engine.NewRecord(e, facts, t), nil
}

// instructionsRead is the value of the setting instructions.mode with which instruction files are read.
const instructionsRead = "read"

// standing reads the instruction files for a session that begins with another event than its start. Nil: there are none.
func (r *Reviewer) standing(ctx context.Context, h *handling) *engine.Record {
	e := engine.Event{Phase: engine.PhaseStart, Name: "instructions", Harness: h.event.Harness, Session: h.event.Session, CWD: h.event.CWD,
		Time: h.event.Time, Redact: h.event.Redact, Rows: h.event.Rows, Instructions: true}
	rec, err := r.classify(ctx, e, h.workspace, h.policy)
	if err != nil || rec.Event.Standing == nil {
		return nil
	}
	return rec
}

// facts classifies an event and adds what the policy's detectors find in it.
func (r *Reviewer) facts(ctx context.Context, e engine.Event, workspace string, p *review.Policy) (engine.Facts, error) {
	f, err := r.Classifier.Classify(ctx, e, workspace)
	if err == nil && f.Action != nil && p != nil && p.Detector != nil {
		f.Action.Detected = p.Detector.Detect(e)
	}
	return f, err
}

// typed recomputes the facts of a call that types into a terminal, with what
// the session has typed there before: the line that the call ends is the sum of
// both.
func (r *Reviewer) typed(ctx context.Context, h *handling) error {
	if !types(h.rec) {
		return nil
	}
	err := r.Log.Update(ctx, h.policy, h.key, func(t history.Tail) error {
		h.event.Terminals = t.History.Terminals
		return nil
	})
	if err == nil && h.event.Terminals != nil {
		h.rec, h.failure = r.classify(ctx, h.event, h.workspace, h.policy)
	}
	return err
}

// types reports whether a call types into a terminal.
func types(rec *engine.Record) bool {
	return rec.Phase == engine.PhasePre && rec.Action != nil && rec.Action.Terminals != nil
}
