package review

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Approvals is the policy's choice of which questions wait for a person outside the agent.
type Approvals struct {
	Queue      string   // never; unattended: those that the agent cannot put to a person; always
	MS         int64    // how long a call waits at most
	Unattended []string // permission modes in which nobody can be asked
	Texts      ApprovalTexts
}

// ApprovalTexts are told to the agent when its call does not run. {why} stands for what a person
// wrote, or what changed. The agent does not learn the id of the question, as with denials.
type ApprovalTexts struct {
	Denied  string // by a person
	Silent  string // stands for {why} in Denied where the person wrote nothing
	Expired string // nobody answered
	Stopped string // the session was stopped
	Changed string // approved, but the policy or a file has changed since
	Nobody  string // nobody could be notified of the question
}

// The values of Approvals.Queue.
const (
	queueAlways     = "always"
	queueUnattended = "unattended"
)

// Questions makes questions known to people.
type Questions interface {
	// Limit returns how much longer the agent waits for this hook.
	Limit() time.Duration
	// Open tells people about a question until Close is called. An error means that nobody can
	// be told, so the call is denied at once.
	Open(ctx context.Context, q approval.Request, e engine.Event) (Question, error)
}

// Question is a question that people were told about.
type Question interface {
	// Changed returns which file of the call has changed since the question was opened; empty:
	// none.
	Changed() string
	// Pause returns when it is time to look for an answer again; an error: the agent has ended,
	// or its time has passed.
	Pause(ctx context.Context) error
	// Waited returns how long ago the question was opened, in milliseconds, whatever happens
	// to the clock.
	Waited() int64
	Close()
}

// settleTime is the part of the agent's time that is kept for recording that nobody answered.
const settleTime = 3 * time.Second

// queues reports whether the question about a call waits for a person outside the agent.
func (r *Reviewer) queues(rec *engine.Record, p *Policy) bool {
	a := &p.Approvals
	if r.Questions == nil || rec.Phase != engine.PhasePre || rec.Answer.Effect != engine.Ask {
		return false
	}
	asks := r.Channels == nil || r.Channels.Can(engine.WayAsk, engine.PhasePre)
	alone := !asks || slices.Contains(a.Unattended, rec.Event.Mode)
	return a.Queue == queueAlways || a.Queue == queueUnattended && alone
}

// enqueue turns a question into one that waits, unless too many do already.
func (r *Reviewer) enqueue(h *history.State, rec *engine.Record, p *Policy) {
	limit := min(time.Duration(p.Approvals.MS)*time.Millisecond, r.Questions.Limit()-settleTime)
	if limit <= 0 || h.Questions.Waiting(rec.T) >= approval.Max {
		return
	}
	rec.Answer.Pending = &engine.Pending{Digest: approval.DigestOf(rec), Until: rec.T + limit.Milliseconds()}
}

// askedBy returns a record whose question waits; nil: none does. Without Questions nobody can
// answer it, so the question stays what it is: one that the agent asks.
func (r *Reviewer) askedBy(rec *engine.Record) *engine.Record {
	if r.Questions == nil || rec.Answer == nil || rec.Answer.Pending == nil {
		return nil
	}
	return rec
}

// wait holds up a call until its question has an outcome, without any lock, and returns the
// answer.
func (r *Reviewer) wait(ctx context.Context, key engine.SessionKey, h *review, answer engine.Answer) (engine.Answer, error) {
	texts := &h.policy.Approvals.Texts
	shown, err := r.describe(ctx, key, h)
	if err != nil {
		return engine.Answer{}, err
	}
	q, err := r.Questions.Open(ctx, shown, h.event)
	if err != nil {
		text, err := r.unheard(ctx, key, h, err)
		return denied(answer, text), err
	}
	defer q.Close()
	for {
		var step approval.Step
		var state approval.State
		var said string
		err := r.Log.Update(ctx, key, func(t history.Tail) (err error) {
			step, state, said, err = r.step(ctx, t, h, q)
			return err
		})
		switch {
		case err != nil:
			return engine.Answer{}, fmt.Errorf("wait for an answer: %w", err)
		case step.Allow:
			// The person decided on this very call, so the agent need not ask again.
			answer.Effect, answer.Text, answer.Grant = engine.Allow, "", true
			return answer, nil
		case !step.Wait:
			switch answer.Stop = state == approval.Stopped; state {
			case approval.Denied:
				said = cmp.Or(said, texts.Silent)
			case approval.Stopped:
				said = cmp.Or(said, h.policy.Inherit.Unsigned)
			}
			return denied(answer, fill(texts.of(state), said)), nil
		}
		if err := q.Pause(ctx); err != nil {
			return engine.Answer{}, fmt.Errorf("wait for an answer: %w", err)
		}
	}
}

// step takes one step of a question under the session's lock. The time since the call began to
// wait counts even if the clock was set back.
func (r *Reviewer) step(ctx context.Context, t history.Tail, h *review, q Question) (approval.Step, approval.State, string, error) {
	asked := t.History.Questions.Of(h.asked.N)
	now := max(r.Now(), t.History.T, h.asked.T+q.Waited())
	step := asked.Next(h.asked.ID(), now, func() string { return r.changed(ctx, h, q) })
	said := ""
	if step.Record != nil {
		step.Record.T, step.Record.Agent, step.Record.Call = now, h.asked.Agent, h.asked.Call
		if err := t.Append(step.Record); err != nil {
			return step, "", "", err
		}
		asked = t.History.Questions.Of(h.asked.N)
	}
	if asked == nil {
		return step, approval.Expired, "", nil
	}
	if asked.State == approval.Stopped && t.History.Stop != nil {
		said = t.History.Stop.Told()
	} else if asked.At > 0 {
		answer, err := t.Read(asked.At)
		if err != nil {
			return step, "", "", err
		}
		if step.Record != nil || t.History.Trusts(answer) { // what others wrote has no words of its own
			said = answer.Control.Reason
		}
	}
	return step, asked.StateAt(now), said, nil
}

// changed returns why an approval does not apply to what would run now.
func (r *Reviewer) changed(ctx context.Context, h *review, q Question) string {
	if what := q.Changed(); what != "" {
		return what + " changed after the question"
	}
	p, err := r.Policy(h.workspace)
	if err != nil || h.asked.By == nil || p.Digest != h.asked.By.Policy {
		return "the policy changed after the question"
	}
	now, err := r.facts(ctx, h.event, h.workspace, p)
	if err != nil || !same(now.Action, h.asked.Action) {
		return "the call would now do something different from when the question was asked"
	}
	return ""
}

// same reports whether two actions are equal, as they would be in the log.
func same(a, b *engine.Action) bool {
	first, err := engine.CanonicalOf(a)
	second, err2 := engine.CanonicalOf(b)
	return err == nil && err2 == nil && string(first) == string(second)
}

// unheard denies a call about which nobody could be notified.
func (r *Reviewer) unheard(ctx context.Context, key engine.SessionKey, h *review, cause error) (string, error) {
	why := engine.ClipJSON(r.mask(cause.Error()), 300)
	err := r.Log.Update(ctx, key, func(t history.Tail) error {
		rec := &engine.Record{Kind: engine.KindControl, T: max(r.Now(), t.History.T), Agent: h.asked.Agent, Call: h.asked.Call,
			Control: &engine.Control{Do: engine.ControlDeny, Record: h.asked.ID(), Reason: why, Decided: &engine.Decided{Who: engine.DecidedTimeout}}}
		return t.Append(rec)
	})
	return fill(h.policy.Approvals.Texts.Nobody, why), err
}

func denied(a engine.Answer, text string) engine.Answer {
	a.Effect, a.Text = engine.Block, text
	return a
}

func (t *ApprovalTexts) of(s approval.State) string {
	switch s {
	case approval.Denied:
		return t.Denied
	case approval.Stopped:
		return t.Stopped
	case approval.Changed:
		return t.Changed
	}
	return t.Expired
}

func fill(text, why string) string {
	return strings.ReplaceAll(text, "{why}", strings.TrimSuffix(why, "."))
}

// describe describes a question to people.
func (r *Reviewer) describe(ctx context.Context, key engine.SessionKey, h *review) (approval.Request, error) {
	rec := h.asked
	q := approval.Describe(rec, r.mask(h.workspace))
	q.Digest, q.Until = rec.Answer.Pending.Digest, rec.Answer.Pending.Until
	if f := rec.Rewritten; f != nil && f.Failure != "" {
		q.Unseen = append(q.Unseen, "a modified form, which was not possible: "+f.Failure)
	}
	texts, unseen := r.contents(h)
	q.Contents, q.Unseen = texts, append(q.Unseen, unseen...)
	if r.Request != nil {
		q.Goal = engine.ClipJSON(r.mask(r.Request(h.event)), maxRequest)
	}
	err := r.Log.Update(ctx, key, func(t history.Tail) error {
		q.Before = before(t, rec.N)
		return nil
	})
	if err != nil {
		return q, fmt.Errorf("describe the question: %w", err)
	}
	return q, nil
}
