package act

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// answer runs under the session's lock.
func (r *Reviewer) answer(ctx context.Context, t history.Tail, h *handling) (engine.Answer, error) {
	rec := h.rec
	if t.History.Empty() {
		if err := t.Append(r.opening(rec, h)); err != nil {
			return engine.Answer{}, err
		}
		if h.standing != nil {
			if err := t.Append(h.standing); err != nil {
				return engine.Answer{}, err
			}
		}
	} else if pinned := t.History.Workspace; pinned != "" && pinned != r.mask(h.workspace) && pinned != h.workspace {
		return engine.Answer{}, errWorkspaceChanged
	}
	if s := rec.Event.Standing; s != nil && t.History.Knows(s) {
		rec.Event.Standing = nil
	}
	if err := r.clients().follow(t, h.event.Client); err != nil {
		return engine.Answer{}, err
	}
	if types(rec) && !t.History.Terminals.Equal(h.event.Terminals) {
		return engine.Answer{}, errTerminalChanged
	}
	var err error
	if h.made, err = r.catchUp(ctx, t, h.policy); err != nil {
		return engine.Answer{}, err
	}
	identify(t, h)
	if n := t.History.Recorded(rec.Agent, rec.Call, rec.Phase); n > 0 {
		first, err := t.Read(n)
		if err != nil {
			return engine.Answer{}, fmt.Errorf("read the recorded answer: %w", err)
		}
		stopped := rec.Phase == engine.PhasePre && t.History.Stop != nil && t.History.Stop.N > n
		if first.ArgsMAC() == rec.ArgsMAC() && !stopped {
			return r.again(ctx, t, h, first)
		}
	}
	return r.first(ctx, t, h)
}

// first answers an event that was not answered before.
func (r *Reviewer) first(ctx context.Context, t history.Tail, h *handling) (engine.Answer, error) {
	var args json.RawMessage
	h.rec.ClampTime(t.History.T)
	if r.Agent.Usage != nil && (h.event.Phase == engine.PhasePre || h.event.Phase == engine.PhasePost || h.event.Phase == engine.PhasePrompt) {
		h.rec.Event.Usage = r.Agent.Usage(h.event, t.History.Usage)
	}
	if err := r.takeOver(t, h); err != nil {
		return engine.Answer{}, err
	}
	switch {
	case h.failure != nil:
	case h.rec.Phase == engine.PhaseRequest:
		r.requested(ctx, t, h)
	default:
		args, h.failure = r.judge(ctx, t, h)
	}
	if h.failure != nil {
		h.rec.Answer = r.failed(h.rec.Phase, h.failure)
		r.measure(h.rec.Answer, h.policy)
	}
	if err := t.Append(h.rec); err != nil {
		return engine.Answer{}, err
	}
	h.recorded = true
	answer := engine.AnswerOf(h.rec)
	answer.Args = args
	return answer, r.assume(t, h, h.rec, false)
}

func (r *Reviewer) opening(rec *engine.Record, h *handling) *engine.Record {
	env := r.Env
	return &engine.Record{Kind: engine.KindOpen, T: rec.T, Session: rec.Session, Harness: rec.Harness,
		Open: &engine.Open{Workspace: r.mask(h.workspace), Env: &env, Client: r.clients().masked(h.event.Client)}}
}

// again answers a call that was answered before: the hook is installed twice.
func (r *Reviewer) again(ctx context.Context, t history.Tail, h *handling, first *engine.Record) (engine.Answer, error) {
	rec := h.rec
	note := &engine.Record{Kind: engine.KindNote, T: rec.T, Agent: rec.Agent, Call: rec.Call, Phase: rec.Phase,
		Note: &engine.Note{What: "duplicate"}}
	note.ClampTime(t.History.T)
	answer := engine.AnswerOf(first)
	answer.Mode = engine.ModeDuplicate
	if answer.Effect == engine.Modify {
		var err error
		if answer.Args, err = r.repeat(ctx, h, first); err != nil {
			return engine.Answer{}, err
		}
	}
	note.Answer = &engine.AnswerFacts{Effect: answer.Effect, Mode: engine.ModeDuplicate, Of: first.ID()}
	if err := t.Append(note); err != nil {
		return answer, err
	}
	h.recorded = true
	return answer, r.assume(t, h, first, true)
}

// judge lets policy decide. It returns the raw arguments of a call that is to
// run in a modified form.
func (r *Reviewer) judge(ctx context.Context, t history.Tail, h *handling) (json.RawMessage, error) {
	rec, p := h.rec, h.policy
	if !rec.Phase.Reviewed() {
		return nil, nil
	}
	v, err := r.decide(ctx, t, h)
	rec.By = p.By(&r.Env)
	rec.SHA = &v.SHA
	if err != nil {
		return nil, err
	}
	rec.Findings, rec.Decision, rec.Source = v.Findings, &v.Decision, v.Decision.Source
	rec.Answer = r.answerFacts(rec, t.History, p)
	var args json.RawMessage
	if rec.Decision.Enforced == engine.Modify {
		args = r.rework(ctx, t, h)
	}
	if r.Services.Questions != nil && p.Queues(rec, r.Agent.Channels) {
		r.enqueue(t.History, rec, p)
	}
	if rec.Answer.Pending == nil {
		review.Fit(rec, r.Agent.Channels)
	}
	return args, nil
}

func (r *Reviewer) answerFacts(rec *engine.Record, before *history.State, p *review.Policy) *engine.AnswerFacts {
	d := rec.Decision
	a := &engine.AnswerFacts{Effect: d.Enforced, Mode: engine.ModeEnforced, MS: r.Clock.lap(), Approvals: before.Approvals(rec)}
	r.measure(a, p)
	if d.Enforced != d.Decision {
		a.Mode = engine.ModeObserve
	}
	return a
}
