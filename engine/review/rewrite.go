package review

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// rework modifies a call as its decision asks, and reviews the modified form
// like a call of its own. The answer is to modify only if the operations fit,
// the call gains no effects, and policy has at most a warning against it;
// otherwise the answer is what the decision provides for that case. The raw
// arguments are returned and never recorded.
func (r *Reviewer) rework(ctx context.Context, t history.Tail, h *review) json.RawMessage {
	if r.Channels != nil && !r.Channels.Can(engine.WayModify, h.rec.Phase) {
		h.rec.Answer.Unmet = append(h.rec.Answer.Unmet, engine.Unmet{Want: engine.WayModify, Used: wayOf(otherwise(h.rec.Decision))})
		h.rec.Rewritten = &engine.Rewritten{Failure: "the agent does not let a hook change a call"}
		h.rec.Answer.Effect = otherwise(h.rec.Decision)
		return nil
	}
	args, form, err := r.reform(ctx, t, h)
	if err == nil {
		h.rec.Rewritten, h.rec.Answer.Effect = form, engine.Modify
		if err = fits(h.rec); err == nil {
			return args
		}
	}
	h.rec.Rewritten = &engine.Rewritten{Failure: engine.ClipJSON(r.mask(err.Error()), 160)}
	h.rec.Answer.Effect = otherwise(h.rec.Decision)
	return nil
}

// otherwise returns the effect if a call cannot run in a modified form. A
// policy that does not specify one gets the strictest.
func otherwise(d *engine.Decision) engine.Verdict {
	if d.Otherwise == nil || d.Otherwise.Effect != engine.Ask {
		return engine.Block
	}
	return engine.Ask
}

func (r *Reviewer) reform(ctx context.Context, t history.Tail, h *review) (json.RawMessage, *engine.Rewritten, error) {
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
	if err := adds(h.rec, &rec, facts.Cut); err != nil {
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
func (r *Reviewer) apply(ctx context.Context, h *review) (engine.Event, engine.Facts, error) {
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
func (r *Reviewer) repeat(ctx context.Context, h *review, first *engine.Record) (json.RawMessage, error) {
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

// fits reports whether a record with both forms of a call fits a line.
func fits(r *engine.Record) error {
	const chained = 256 // bytes of what only the chain fills in
	b, err := engine.Marshal(r)
	if err != nil {
		return err
	}
	if len(b) > engine.MaxLine-chained {
		return errors.New("the call and its modified form are too long to be recorded together")
	}
	return nil
}

// adds returns an error if a call's modified form does something that the call
// did not. What was cut to fit the record cannot be compared.
func adds(before, after *engine.Record, cut []engine.Cut) error {
	isEffects := func(c engine.Cut) bool { return c.Field == "action.effects" }
	if before.Action == nil || after.Action == nil || slices.ContainsFunc(append(slices.Clone(before.Cut), cut...), isEffects) {
		return errors.New("the call has too many effects to compare it with its modified form")
	}
	for _, n := range after.Action.Effects {
		if !slices.ContainsFunc(before.Action.Effects, func(o engine.Effect) bool { return within(n, o) }) {
			return fmt.Errorf("the modified call would %s %s, which the original does not", n.Verb, cmp.Or(n.Short, n.Target))
		}
	}
	for _, s := range after.Action.Signals {
		if !slices.Contains(before.Action.Signals, s) {
			return fmt.Errorf("the modified call has the signal %s, which the original does not", s)
		}
	}
	for _, o := range after.Action.Opaque {
		if !slices.ContainsFunc(before.Action.Opaque, func(b engine.Opaque) bool { return b.Reason == o.Reason }) {
			return errors.New("the modified call is not understood")
		}
	}
	return nil
}

// within reports whether an effect does no more than another: the same kind of
// thing to the same target, and in no respect worse. A move into the trash is a
// deletion that can be undone.
func within(e engine.Effect, o engine.Effect) bool {
	worse := func(now, then bool) bool { return now && !then }
	return e.Kind == o.Kind && e.Target == o.Target && e.Short == o.Short && e.Certainty == o.Certainty &&
		!worse(e.Recursive, o.Recursive) && !worse(e.Forced, o.Forced) && !worse(e.Privileged, o.Privileged) &&
		!worse(e.Egress, o.Egress) && !worse(e.Persistence, o.Persistence) && !worse(o.Loopback, e.Loopback) &&
		cost(e.Reversibility) <= cost(o.Reversibility)
}

// cost orders the steps of reversibility; an unknown one ranks between what can
// be undone and what cannot.
func cost(r engine.Reversibility) int {
	steps := []engine.Reversibility{engine.R0, engine.R1, engine.R2, engine.R3, "", engine.R4, engine.R5}
	if i := slices.Index(steps, r); i >= 0 {
		return i
	}
	return len(steps)
}
