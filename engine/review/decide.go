package review

import (
	"context"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Result is a policy's result for one record.
type Result struct {
	Input    engine.Input
	Findings []engine.Finding
	Decision engine.Decision
	SHA      engine.SHA
}

// Review decides about the facts of a record in the context of the history
// before it. It is a pure function of its arguments: live calls, replays and
// simulations all come through here.
func (p *Policy) Review(ctx context.Context, r *engine.Record, h *history.State) (Result, error) {
	v, err := p.input(r, h)
	if err != nil {
		return v, err
	}
	if err = p.judge(ctx, &v); err == nil {
		err = p.judgeCode(ctx, &v, r, h)
	}
	return v, err
}

// input joins the facts of a record with the history before it.
func (p *Policy) input(r *engine.Record, h *history.State) (Result, error) {
	v := Result{Input: history.NewInput(r, h, p.View)}
	var err error
	if r.SHA != nil {
		v.SHA.Args = r.SHA.Args
	}
	if v.SHA.Input, v.SHA.State, err = v.Input.Digests(); err != nil {
		return v, fmt.Errorf("digest input: %w", err)
	}
	return v, nil
}

// ReviewEarly makes the part of a review that precedes the answer in mode async, and returns the
// rest as a function, which may be called at any later time. If the call has to wait for that, the
// result has no decision yet. It is a pure function like Review. The policy must have an
// EarlyDecider.
//
// Code that a call writes is judged with the history before the call, so such calls wait.
func (p *Policy) ReviewEarly(ctx context.Context, r *engine.Record, h *history.State) (Result,
	func(context.Context) (engine.Decision, error), error) {
	v, err := p.input(r, h)
	if err != nil {
		return v, nil, err
	}
	if v.Findings, err = p.Matcher.Match(ctx, &v.Input); err != nil {
		return v, nil, fmt.Errorf("match conditions: %w", err)
	}
	early, decide := p.Early.DecideEarly(ctx, &v.Input, v.Findings)
	if early == nil || writesCode(r) || p.Settle(early) != nil {
		return v, decide, nil
	}
	v.Decision = *early
	return v, decide, nil
}

// Complete decides what ReviewEarly left open.
func (p *Policy) Complete(ctx context.Context, v *Result, r *engine.Record, h *history.State,
	decide func(context.Context) (engine.Decision, error)) error {
	var err error
	if v.Decision, err = decide(ctx); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	if err := p.Settle(&v.Decision); err != nil {
		return err
	}
	return p.judgeCode(ctx, v, r, h)
}

// Decide is Review without the digests, for callers that record nothing.
func (p *Policy) Decide(ctx context.Context, r *engine.Record, h *history.State) (Result, error) {
	v := Result{Input: history.NewInput(r, h, p.View)}
	err := p.judge(ctx, &v)
	if err == nil {
		err = p.judgeCode(ctx, &v, r, h)
	}
	return v, err
}

func (p *Policy) judge(ctx context.Context, v *Result) error {
	var err error
	if v.Findings, err = p.Matcher.Match(ctx, &v.Input); err != nil {
		return fmt.Errorf("match conditions: %w", err)
	}
	if v.Decision, err = p.Decider.Decide(ctx, &v.Input, v.Findings); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	return p.Settle(&v.Decision)
}
