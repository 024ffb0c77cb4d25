package act

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// requested answers an event in which an agent is about to ask a person about a call. Policy may
// grant the call; it never denies it here, and without an answer the agent asks. So a failure
// is recorded, and not an error.
func (r *Reviewer) requested(ctx context.Context, t history.Tail, h *handling) {
	rec := h.rec
	q := &engine.Request{Form: history.FormOf(rec.Event.Tool, rec.Action)}
	rec.Note = &engine.Note{What: engine.NoteRequest, Request: q}
	rec.Answer = &engine.AnswerFacts{Effect: engine.Allow, Mode: engine.ModeEnforced, MS: r.Clock.lap()}
	call, pre := t.History.Requested(rec.Agent, rec.Event.Tool, rec.ArgsMAC())
	rec.Call = call
	if pre > 0 {
		q.Of = engine.RecordID(t.History.Chain, pre)
	}
	if pre == 0 || h.policy == nil || !h.policy.Grants.On {
		rec.Action, rec.SHA, rec.Event.Args = nil, nil, nil // the record of the call has them
		return
	}
	err := r.knowRequest(t, h, q)
	if err == nil {
		err = r.grant(ctx, t, h)
	}
	if err != nil {
		rec.Decision, rec.Answer = nil, r.failed(rec.Phase, err)
	}
	r.measure(rec.Answer, h.policy)
}

// knowRequest completes what policy may see of a request.
func (r *Reviewer) knowRequest(t history.Tail, h *handling, q *engine.Request) error {
	if n := t.History.Kept(h.rec.Agent, h.rec.Call); n > 0 {
		kept, err := t.Read(n)
		if err != nil {
			return fmt.Errorf("read the result of the checkpoint: %w", err)
		}
		if c := kept.Act.Checkpoint; kept.Act.Kind == engine.ActCheckpoint && c != nil {
			q.Checkpoint, q.Left = c.ID != "" && c.Failure == "" && c.Unseen == 0, c.Left
		}
	}
	var err error
	q.Answers, err = r.answers(t.History, h, q.Form)
	return err
}

// answers lists what people answered to calls of a form, in this session and the others of the
// workspace. If there is too much, approvals are left out first, the oldest before the others.
func (r *Reviewer) answers(own *history.State, h *handling, form string) ([]engine.FormAnswers, error) {
	list := own.Answers(form)
	if r.Services.Sessions == nil || form == "" {
		return list, nil
	}
	others, err := r.Services.Sessions.Others(h.key, own.Workspace, h.rec.T-h.policy.Grants.MS)
	if err != nil {
		return nil, fmt.Errorf("look for answers in other sessions: %w", err)
	}
	for _, o := range others {
		list = append(list, o.State.Answers(form)...)
	}
	slices.SortStableFunc(list, func(a, b engine.FormAnswers) int {
		return cmp.Or(cmp.Compare(b.Refused, a.Refused), cmp.Compare(b.Last, a.Last), cmp.Compare(a.Session, b.Session))
	})
	return list[:min(len(list), engine.MaxFormAnswers)], nil
}

// errNoProof means that policy granted a request and gave no reason to record.
var errNoProof = errors.New("policy granted a request without a proof")

// grant lets policy decide on a request.
func (r *Reviewer) grant(ctx context.Context, t history.Tail, h *handling) error {
	rec, p := h.rec, h.policy
	v, err := p.Review(ctx, rec, t.History)
	rec.By = p.By(&r.Env)
	rec.SHA = &v.SHA
	if err != nil {
		return err
	}
	if v.Decision.Grants() && v.Decision.Proof == nil {
		return errNoProof
	}
	rec.Findings, rec.Decision = v.Findings, &v.Decision
	if d := rec.Decision; d.Grants() {
		q := rec.Note.Request
		rec.Answer.Granted = &engine.Granted{Of: q.Of, Proof: *d.Proof, Form: q.Form, Checkpoint: q.Checkpoint}
	}
	return nil
}
