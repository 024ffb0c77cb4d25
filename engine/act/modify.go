package act

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// rework modifies a call as its decision asks, and reviews the modified form
// like a call of its own. The answer is to modify only if the operations fit,
// the call gains no effects, and policy has at most a warning against it;
// otherwise the answer is what the decision provides for that case. The raw
// arguments are returned and never recorded.
func (r *Reviewer) rework(ctx context.Context, t history.Tail, h *handling) json.RawMessage {
	if r.Agent.Channels != nil && !r.Agent.Channels.Can(engine.WayModify, h.rec.Phase) {
		h.rec.Answer.Effect = review.Otherwise(h.rec.Decision)
		h.rec.Answer.Unmet = append(h.rec.Answer.Unmet, engine.Unmet{Want: engine.WayModify, Used: review.WayOf(h.rec.Answer.Effect)})
		h.rec.Rewritten = &engine.Rewritten{Failure: "the agent does not let a hook change a call"}
		return nil
	}
	args, form, err := r.reform(ctx, t, h)
	if err == nil {
		h.rec.Rewritten, h.rec.Answer.Effect = form, engine.Modify
		if err = review.Fits(h.rec); err == nil {
			return args
		}
	}
	h.rec.Rewritten = &engine.Rewritten{Failure: engine.ClipJSON(r.mask(err.Error()), 160)}
	h.rec.Answer.Effect = review.Otherwise(h.rec.Decision)
	return nil
}

func (r *Reviewer) reform(ctx context.Context, t history.Tail, h *handling) (json.RawMessage, *engine.Rewritten, error) {
	if len(h.rec.Decision.Rewrite) == 0 {
		return nil, nil, errors.New("the policy decided to modify the call but gives no operations")
	}
	e, facts, err := r.apply(ctx, h)
	if err != nil {
		return nil, nil, err
	}
	rec := *h.rec
	facts.Event.Usage = h.rec.Event.Usage // it is read once, under the lock
	rec.Event, rec.Action, rec.SHA = &facts.Event, facts.Action, &engine.SHA{Args: facts.Args}
	if err := review.Adds(h.rec, &rec, facts.Cut); err != nil {
		return nil, nil, err
	}
	v, err := h.policy.Review(ctx, &rec, t.History)
	if err != nil {
		return nil, nil, fmt.Errorf("review the modified call: %w", err)
	}
	if v.Decision.Enforced.Strictness() > engine.Warn.Strictness() {
		return nil, nil, fmt.Errorf("the modified call would also be answered %q: %s", v.Decision.Enforced, v.Decision.Reason)
	}
	form := &engine.Rewritten{
		Args: facts.Event.Args, Action: facts.Action, Decision: v.Decision.Enforced, Rules: v.Decision.RuleIDs(),
		SHA: &engine.SHA{Input: v.SHA.Input, Args: facts.Args},
	}
	return e.Args, form, nil
}

// apply changes the raw call and returns the facts of the result.
func (r *Reviewer) apply(ctx context.Context, h *handling) (engine.Event, engine.Facts, error) {
	e := h.event
	var err error
	if e.Args, err = r.Classifier.Rewrite(ctx, e, h.workspace, h.rec.Decision.Rewrite); err != nil {
		return e, engine.Facts{}, err
	}
	facts, err := r.facts(ctx, e, h.workspace, h.policy)
	return e, facts, err
}

// repeat modifies a call as recorded once more: the hook is installed twice,
// and raw arguments are not recorded.
func (r *Reviewer) repeat(ctx context.Context, h *handling, first *engine.Record) (json.RawMessage, error) {
	again := *h
	again.rec = first
	e, facts, err := r.apply(ctx, &again)
	if err != nil {
		return nil, fmt.Errorf("repeat the modification: %w", err)
	}
	if first.Rewritten.SHA == nil || facts.Args != first.Rewritten.SHA.Args {
		return nil, errors.New("the modified call is not the one that was recorded")
	}
	return e.Args, nil
}
