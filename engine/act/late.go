package act

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// begin reports whether calls may be answered early.
func (l *LateReviews) begin() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun && l.Begin != nil && l.Begin() != nil {
		return false
	}
	l.begun = true
	return true
}

// Wait returns when all reviews are made and recorded.
func (l *LateReviews) Wait() { l.running.Wait() }

// start makes a review in a goroutine of its own, and then records it.
func (l *LateReviews) start(id string, decide func(context.Context) (engine.Decision, error), record func(context.Context)) {
	v := &lateReview{done: make(chan struct{})}
	l.mu.Lock()
	if l.open == nil {
		l.open = map[string]*lateReview{}
	}
	l.open[id] = v
	l.mu.Unlock()
	l.running.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lateWait)
		defer cancel()
		v.make(ctx, decide)
		record(ctx)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open, id)
	})
}

// make carries out the review. A review that panics is a failure like any
// other.
func (v *lateReview) make(ctx context.Context, decide func(context.Context) (engine.Decision, error)) {
	defer close(v.done)
	defer func() {
		if p := recover(); p != nil {
			v.err = fmt.Errorf("the review failed: %v", p)
		}
	}()
	v.decision, v.err = decide(ctx)
}

// of waits for the review of a call; false: this process does not make it.
func (l *LateReviews) of(ctx context.Context, id string) (*lateReview, bool) {
	if l == nil {
		return nil, false
	}
	l.mu.Lock()
	v := l.open[id]
	l.mu.Unlock()
	if v == nil {
		return nil, false
	}
	select {
	case <-v.done:
		return v, true
	case <-ctx.Done():
		return nil, false
	}
}

// decide lets policy decide about the facts of a record: at once, or before the review.
func (r *Reviewer) decide(ctx context.Context, t history.Tail, h *handling) (review.Result, error) {
	if r.Services.Late == nil || h.policy.Early == nil || t.Before == nil || h.rec.Phase != engine.PhasePre {
		return h.policy.Review(ctx, h.rec, t.History)
	}
	v, decide, err := h.policy.ReviewEarly(ctx, h.rec, t.History)
	if err == nil && v.Decision.Source == engine.SourceAsync && r.Services.Late.begin() {
		h.early = decide
		return v, nil
	}
	if err == nil {
		err = h.policy.Complete(ctx, &v, h.rec, t.History, decide)
	}
	return v, err
}

// reviewLater makes the review of a call that is answered before it.
func (r *Reviewer) reviewLater(_ context.Context, h *handling, _ duty, a engine.Answer) (engine.Answer, error) {
	if h.early == nil || r.Services.Late.Lazy {
		return a, nil
	}
	r.Services.Late.start(h.rec.ID(), h.early, func(ctx context.Context) {
		// If it cannot be recorded now, the next event of the session records it, or is not
		// recorded either.
		_ = r.catchUpAlone(ctx, h.key, h.policy)
	})
	return a, nil
}

// CatchUp makes the review of a session's call that was answered before it, if it is still
// missing: the process that answered was killed.
func (r *Reviewer) CatchUp(ctx context.Context, key engine.SessionKey) error {
	workspace, _, err := r.Log.Workspace(key)
	if err != nil {
		return err
	}
	p, err := r.Policy(workspace)
	if err != nil {
		return err
	}
	return r.catchUpAlone(ctx, key, p)
}

// catchUpAlone is catchUp where no event of the session is judged.
func (r *Reviewer) catchUpAlone(ctx context.Context, key engine.SessionKey, p *review.Policy) error {
	var made *engine.Record
	err := r.Log.Update(ctx, p, key, func(t history.Tail) (err error) {
		made, err = r.catchUp(ctx, t, p)
		return err
	})
	r.lateReviewed(p, key, made)
	return err
}

// lateReviewed reports a review that was recorded after its answer. The lock is released by then.
func (r *Reviewer) lateReviewed(p *review.Policy, key engine.SessionKey, made *engine.Record) {
	if made != nil && r.Services.LateReviewed != nil {
		r.Services.LateReviewed(p, key, made)
	}
}

// catchUp records the review of the latest call that was answered before it, before anything
// else of the session is judged, and returns its record; nil: none was missing. Without a policy
// it is left to the next event.
func (r *Reviewer) catchUp(ctx context.Context, t history.Tail, p *review.Policy) (*engine.Record, error) {
	n := t.History.Unreviewed()
	if n == 0 || p == nil {
		return nil, nil
	}
	pre, err := t.Read(n)
	if err != nil {
		return nil, fmt.Errorf("read the call that was answered before its review: %w", err)
	}
	late := r.reviewLate(ctx, t, p, pre)
	if err := ctx.Err(); err != nil && late.Decision == nil {
		return nil, err // the next event tries again
	}
	rec := &engine.Record{Kind: engine.KindAct, T: max(r.Clock.Now(), pre.T), Agent: pre.Agent, Call: pre.Call,
		Act: &engine.Act{Kind: engine.ActLateReview, Of: pre.ID(), Result: engine.LateReviewFailed, Late: late}}
	if late.Decision != nil {
		rec.Act.Result = string(late.Decision.Enforced)
	}
	stopped := t.History.Stop != nil
	if err := t.Append(rec); err != nil || stopped || late.Decision == nil || !late.Decision.Stops() {
		return rec, err
	}
	return rec, t.Append(&engine.Record{Kind: engine.KindAct, T: rec.T, Agent: pre.Agent, Call: pre.Call,
		Act: &engine.Act{Kind: engine.EmergencyStop, Of: pre.ID(), Result: late.Decision.Intervention.Reason}})
}

// maxLateCall limits the text of the call in the record of its review, in bytes as JSON.
const maxLateCall = 160

// reviewLate returns the review of a call that was answered.
func (r *Reviewer) reviewLate(ctx context.Context, t history.Tail, p *review.Policy, pre *engine.Record) *engine.LateReview {
	late := &engine.LateReview{Findings: pre.Findings, By: pre.By}
	if pre.Action != nil {
		late.Call = engine.ClipJSON(pre.Action.Resource, maxLateCall)
	}
	v, made := r.Services.Late.of(ctx, pre.ID())
	if !made {
		v = &lateReview{}
		late.Findings, v.decision, v.err = reviewAgain(ctx, t, p, pre)
		late.By = p.By(&r.Env)
	}
	if v.err == nil {
		v.err = p.Settle(&v.decision)
	}
	if v.err != nil {
		late.Failure = engine.ClipJSON(r.mask(v.err.Error()), 480)
		return late
	}
	late.Decision = &v.decision
	return late
}

// reviewAgain reviews a recorded call with the history before it.
func reviewAgain(ctx context.Context, t history.Tail, p *review.Policy, pre *engine.Record) ([]engine.Finding, engine.Decision, error) {
	if t.Before == nil {
		return nil, engine.Decision{}, errors.New("the history before the call is not available")
	}
	before, err := t.Before(pre.N)
	if err != nil {
		return nil, engine.Decision{}, err
	}
	v, err := p.Decide(ctx, pre, before)
	return v.Findings, v.Decision, err
}
