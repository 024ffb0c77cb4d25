package review

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// LateReviews are the reviews of calls that were answered before them (mode: async). A process that
// continues after an answer has one for all its sessions. The zero value is ready.
//
// Which call waits for a review is in the log: history.State.Early. This type only saves time: the
// next holder of the session's lock, in this process or another one, makes the review before
// anything else if it is not recorded yet.
type LateReviews struct {
	// Begin is called before the first call is answered early; an error: none is.
	Begin func() error
	// Lazy leaves each review to the next event of the session.
	Lazy bool

	mu      sync.Mutex
	open    map[string]*lateReview // by id of the call's record
	running sync.WaitGroup
	begun   bool
}

// lateWait is the time that a review after the answer may take. The next call waits for
// it, as long as its own deadline allows.
const lateWait = time.Minute

// lateReview is a review that is being made.
type lateReview struct {
	done     chan struct{}
	decision engine.Decision
	err      error
}

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

// ahead is a call that is answered before its review.
type ahead struct {
	decide func(context.Context) (engine.Decision, error)
}

// decide lets policy decide about the facts of a record: at once, or before the review.
func (r *Reviewer) decide(ctx context.Context, t history.Tail, h *review) (Result, error) {
	if r.Late == nil || h.policy.Early == nil || t.Before == nil || h.rec.Phase != engine.PhasePre {
		return h.policy.Review(ctx, h.rec, t.History)
	}
	v, decide, err := h.policy.ReviewEarly(ctx, h.rec, t.History)
	if err == nil && v.Decision.Source == engine.SourceAsync && r.Late.begin() {
		h.ahead = &ahead{decide}
		return v, nil
	}
	if err == nil {
		err = h.policy.complete(ctx, &v, h.rec, t.History, decide)
	}
	return v, err
}

// later makes the review of a call that was answered.
func (r *Reviewer) later(key engine.SessionKey, h *review) {
	if h.ahead == nil || r.Late.Lazy {
		return
	}
	r.Late.start(h.rec.ID(), h.ahead.decide, func(ctx context.Context) {
		// If it cannot be recorded now, the next event of the session records it, or is not
		// recorded either.
		_ = r.catchUpAlone(ctx, key, h.policy)
	})
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
func (r *Reviewer) catchUpAlone(ctx context.Context, key engine.SessionKey, p *Policy) error {
	var made *engine.Record
	err := r.Log.Update(ctx, key, func(t history.Tail) (err error) {
		made, err = r.catchUp(ctx, t, p)
		return err
	})
	r.lateReviewed(key, made)
	return err
}

// lateReviewed reports a review that was recorded after its answer. The lock is released by then.
func (r *Reviewer) lateReviewed(key engine.SessionKey, made *engine.Record) {
	if made != nil && r.LateReviewed != nil {
		r.LateReviewed(key, made)
	}
}

// catchUp records the review of the latest call that was answered before it, before anything
// else of the session is judged, and returns its record; nil: none was missing. Without a policy
// it is left to the next event.
func (r *Reviewer) catchUp(ctx context.Context, t history.Tail, p *Policy) (*engine.Record, error) {
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
	rec := &engine.Record{Kind: engine.KindAct, T: max(r.Now(), pre.T), Agent: pre.Agent, Call: pre.Call,
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
func (r *Reviewer) reviewLate(ctx context.Context, t history.Tail, p *Policy, pre *engine.Record) *engine.LateReview {
	late := &engine.LateReview{Findings: pre.Findings, By: pre.By}
	if pre.Action != nil {
		late.Call = engine.ClipJSON(pre.Action.Resource, maxLateCall)
	}
	v, made := r.Late.of(ctx, pre.ID())
	if !made {
		v = &lateReview{}
		late.Findings, v.decision, v.err = p.again(ctx, t, pre)
		late.By = &engine.By{Policy: p.Digest, Config: p.Config, Env: r.Env.Digest(), Detectors: p.Detectors, Rows: p.rowsDigest()}
	}
	if v.err == nil {
		v.err = settle(&v.decision, p.Kinds...)
	}
	if v.err != nil {
		late.Failure = engine.ClipJSON(r.mask(v.err.Error()), 480)
		return late
	}
	late.Decision = &v.decision
	return late
}

// again reviews a recorded call with the history before it.
func (p *Policy) again(ctx context.Context, t history.Tail, pre *engine.Record) ([]engine.Finding, engine.Decision, error) {
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
