package act

import (
	"context"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// executors says how each kind of duty is carried out, in the order in which that happens. A new kind is a file with a
// function, and a row here.
var executors = []struct {
	kind review.Kind
	// locked carries it out together with the record, under the session's lock; nil: that is not necessary.
	locked func(r *Reviewer, t history.Tail, of *engine.Record) error
	// do carries it out without the lock, and returns the answer that is to be given now; nil: locked is all.
	do func(r *Reviewer, ctx context.Context, h *handling, d duty, a engine.Answer) (engine.Answer, error)
	// once leaves it out in the second hook that is told the same event. A duty that can fail is carried out again: the first hook may
	// have been killed, or have denied the call because the duty failed.
	once bool
}{
	{kind: review.Stop, locked: (*Reviewer).stop, once: true},
	{kind: review.Remind, do: (*Reviewer).remind, once: true},
	{kind: review.ReviewLate, do: (*Reviewer).reviewLater, once: true},
	{kind: review.Wait, do: (*Reviewer).wait},
	{kind: review.Observe, do: (*Reviewer).observe, once: true},
	{kind: review.Restore, do: (*Reviewer).restore},
	{kind: review.Checkpoint, do: (*Reviewer).save},
	{kind: review.Save, do: (*Reviewer).save},
}

// assume lists the duties of a record, under the session's lock, and carries out those that belong there.
func (r *Reviewer) assume(t history.Tail, h *handling, rec *engine.Record, again bool) error {
	read := func(n int64) *engine.Record {
		switch n {
		case 0:
			return nil
		case rec.N:
			return rec
		}
		earlier, _ := t.Read(n)
		return earlier
	}
	for _, one := range review.Duties(rec, t.History) {
		d := duty{Duty: one, of: read(one.Of), result: read(one.Result), saved: read(one.Saved)}
		known := false
		for _, row := range executors {
			if row.kind != one.Kind {
				continue
			}
			known = true
			if row.locked != nil && !again {
				if err := row.locked(r, t, rec); err != nil {
					return err
				}
			}
			if row.do != nil && !(again && row.once) {
				h.duties = append(h.duties, d)
			}
		}
		if !known {
			return fmt.Errorf("the policy asks for %q before the call, and nothing in this version of reviewer carries that out", one.Kind)
		}
	}
	return nil
}

// carryOut carries out duties one after the other. Only the answer of a person makes one milder.
func (r *Reviewer) carryOut(ctx context.Context, h *handling, a engine.Answer) (engine.Answer, error) {
	for _, row := range executors {
		for _, d := range h.duties {
			if d.Kind != row.kind {
				continue
			}
			next, err := row.do(r, ctx, h, d, a)
			if err != nil {
				return next, err
			}
			if next.Effect.Strictness() < a.Effect.Strictness() && d.Kind != review.Wait {
				return next, fmt.Errorf("%s turned the answer %s into %s, and may only make it stricter", d.Kind, a.Effect, next.Effect)
			}
			if a = next; d.Kind == review.Wait && a.Effect == engine.Block {
				return a, nil // the call does not run
			}
		}
	}
	return a, nil
}
