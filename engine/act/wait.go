package act

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// settleTime is the part of the agent's time that is kept for recording that nobody answered.
const settleTime = 3 * time.Second

// enqueue turns a question into one that waits, unless too many do already.
func (r *Reviewer) enqueue(h *history.State, rec *engine.Record, p *review.Policy) {
	limit := min(time.Duration(p.Settings.Approvals.WaitSeconds)*time.Second, r.Services.Questions.Limit()-settleTime)
	if limit <= 0 || h.Questions.Waiting(rec.T) >= approval.Max {
		return
	}
	rec.Answer.Pending = &engine.Pending{Digest: approval.DigestOf(rec), Until: rec.T + limit.Milliseconds()}
}

// wait holds up a call until its question has an outcome, without any lock, and returns the
// answer. Without the service nobody can answer it, so the question stays what it is: one that the agent asks.
func (r *Reviewer) wait(ctx context.Context, h *handling, d duty, answer engine.Answer) (engine.Answer, error) {
	if r.Services.Questions == nil {
		return answer, nil
	}
	texts := &h.policy.Settings.Approvals.Texts
	shown, err := r.describe(ctx, h, d.of)
	if err != nil {
		return engine.Answer{}, err
	}
	q, err := r.Services.Questions.Open(ctx, h.policy, shown, d.of.Action, h.workspace)
	if err != nil {
		text, err := r.unheard(ctx, h, d.of, err)
		return denied(answer, text), err
	}
	defer q.Close()
	for {
		var step approval.Step
		var state approval.State
		var said string
		err := r.Log.Update(ctx, h.policy, h.key, func(t history.Tail) (err error) {
			step, state, said, err = r.step(ctx, t, h, d.of, q)
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
				said = cmp.Or(said, texts.NoReason)
			case approval.Stopped:
				said = cmp.Or(said, h.policy.Inherit.Unsigned)
			}
			return denied(answer, fill(textOf(texts, state), said)), nil
		}
		if err := q.Pause(ctx); err != nil {
			return engine.Answer{}, fmt.Errorf("wait for an answer: %w", err)
		}
	}
}

// step takes one step of a question under the session's lock. The time since the call began to
// wait counts even if the clock was set back.
func (r *Reviewer) step(ctx context.Context, t history.Tail, h *handling, of *engine.Record,
	q Question) (approval.Step, approval.State, string, error) {
	asked := t.History.Questions.Of(of.N)
	now := max(r.Clock.Now(), t.History.T, of.T+q.Waited())
	step := asked.Next(of.ID(), now, func() string { return r.changed(ctx, h, of, q) })
	said := ""
	if step.Record != nil {
		step.Record.T, step.Record.Agent, step.Record.Call = now, of.Agent, of.Call
		if err := t.Append(step.Record); err != nil {
			return step, "", "", err
		}
		asked = t.History.Questions.Of(of.N)
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
func (r *Reviewer) changed(ctx context.Context, h *handling, of *engine.Record, q Question) string {
	if what := q.Changed(); what != "" {
		return what + " changed after the question"
	}
	p, err := r.Policy(h.workspace)
	if err != nil || of.By == nil || p.Digest != of.By.Policy {
		return "the policy changed after the question"
	}
	now, err := r.facts(ctx, h.event, h.workspace, p)
	if err != nil || !same(now.Action, of.Action) {
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
func (r *Reviewer) unheard(ctx context.Context, h *handling, of *engine.Record, cause error) (string, error) {
	why := engine.ClipJSON(r.mask(cause.Error()), 300)
	err := r.Log.Update(ctx, h.policy, h.key, func(t history.Tail) error {
		rec := &engine.Record{Kind: engine.KindControl, T: max(r.Clock.Now(), t.History.T), Agent: of.Agent, Call: of.Call,
			Control: &engine.Control{Do: engine.ControlDeny, Record: of.ID(), Reason: why, Decided: &engine.Decided{Who: engine.DecidedTimeout}}}
		return t.Append(rec)
	})
	return fill(h.policy.Settings.Approvals.Texts.Nobody, why), err
}

func denied(a engine.Answer, text string) engine.Answer {
	a.Effect, a.Text = engine.Block, text
	return a
}

func textOf(t *settings.ApprovalsTexts, s approval.State) string {
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
func (r *Reviewer) describe(ctx context.Context, h *handling, rec *engine.Record) (approval.Request, error) {
	q := approval.Describe(rec, r.mask(h.workspace))
	q.Digest, q.Until = rec.Answer.Pending.Digest, rec.Answer.Pending.Until
	if f := rec.Rewritten; f != nil && f.Failure != "" {
		q.Unseen = append(q.Unseen, "a modified form, which was not possible: "+f.Failure)
	}
	texts, unseen := r.contents(h, rec)
	q.Contents, q.Unseen = texts, append(q.Unseen, unseen...)
	if r.Agent.Request != nil {
		q.Goal = engine.ClipJSON(r.mask(r.Agent.Request(h.event)), maxRequest)
	}
	err := r.Log.Update(ctx, h.policy, h.key, func(t history.Tail) error {
		q.Before = latest(t, rec.N)
		return nil
	})
	if err != nil {
		return q, fmt.Errorf("describe the question: %w", err)
	}
	return q, nil
}
