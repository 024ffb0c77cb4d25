package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// rework puts a call in the form that its decision asks for, and reviews that
// form like a call of its own. The answer is to modify only where the
// operations fit, nothing is added to what the call does, and policy has no
// more than a warning against it; otherwise it is what the decision says for
// that case. The raw arguments are returned and never recorded.
func (r *Reviewer) rework(ctx context.Context, t Tail, h *hearing) json.RawMessage {
	args, form, err := r.reform(ctx, t, h)
	if err == nil {
		h.rec.Rewritten, h.rec.Answer.Effect = form, Modify
		if err = fits(h.rec); err == nil {
			return args
		}
	}
	h.rec.Rewritten = &Rewritten{Failure: clipJSON(r.mask(err.Error()), 160)}
	h.rec.Answer.Effect = h.rec.Decision.otherwise()
	return nil
}

// otherwise is the effect where a call cannot run in another form. A policy
// that does not say is taken at its strictest.
func (d *Decision) otherwise() Verdict {
	if d.Otherwise == nil || d.Otherwise.Effect != Ask {
		return Block
	}
	return Ask
}

func (r *Reviewer) reform(ctx context.Context, t Tail, h *hearing) (json.RawMessage, *Rewritten, error) {
	if len(h.rec.Decision.Rewrite) == 0 {
		return nil, nil, errors.New("policy does not say in which form the call may run")
	}
	e, facts, err := r.apply(ctx, h)
	if err != nil {
		return nil, nil, err
	}
	rec := *h.rec
	rec.Event, rec.Action, rec.SHA = &facts.Event, facts.Action, &SHA{Args: facts.Args}
	if err := adds(h.rec, &rec, facts.Cut); err != nil {
		return nil, nil, err
	}
	v, err := h.policy.Review(ctx, &rec, t.History)
	if err != nil {
		return nil, nil, fmt.Errorf("review the other form: %w", err)
	}
	if v.Decision.Enforced.Strictness() > Warn.Strictness() {
		return nil, nil, fmt.Errorf("the other form would be answered %q too: %s", v.Decision.Enforced, v.Decision.Reason)
	}
	form := &Rewritten{
		Args: facts.Event.Args, Action: facts.Action, Decision: v.Decision.Enforced, Rules: v.Decision.RuleIDs(),
		SHA: &SHA{Input: v.SHA.Input, Args: facts.Args},
	}
	return e.Args, form, nil
}

// apply changes the raw call and says what it means then.
func (r *Reviewer) apply(ctx context.Context, h *hearing) (Event, Facts, error) {
	e := h.event
	var err error
	if e.Args, err = r.Classifier.Rewrite(ctx, e, h.workspace, h.rec.Decision.Rewrite); err != nil {
		return e, Facts{}, err
	}
	facts, err := r.facts(ctx, e, h.workspace, h.policy)
	return e, facts, err
}

// repeat puts a call in the recorded form once more: the hook is installed
// twice, and raw arguments are not recorded.
func (r *Reviewer) repeat(ctx context.Context, h *hearing, first *Record) (json.RawMessage, error) {
	again := *h
	again.rec = first
	e, facts, err := r.apply(ctx, &again)
	if err != nil {
		return nil, fmt.Errorf("repeat the other form: %w", err)
	}
	if first.Rewritten.SHA == nil || facts.Args != first.Rewritten.SHA.Args {
		return nil, errors.New("the other form of the call does not come out as recorded")
	}
	return e.Args, nil
}

// Reworked returns a record as if the call had been made in its other form; nil
// where it has none.
func (r *Record) Reworked() *Record {
	if r.Rewritten == nil || r.Rewritten.Action == nil || r.Rewritten.SHA == nil || r.Event == nil {
		return nil
	}
	form, event := *r, *r.Event
	event.Args = r.Rewritten.Args
	form.Event, form.Action, form.SHA = &event, r.Rewritten.Action, r.Rewritten.SHA
	return &form
}

// acts is what a record's call does when it runs: in its other form, where that
// is what was answered.
func (r *Record) acts() *Action {
	if r.Rewritten != nil && r.Answer != nil && r.Answer.Effect == Modify {
		return r.Rewritten.Action
	}
	return r.Action
}

// approved is the MAC of the arguments with which a call may run.
func (r *Record) approved() string {
	if r.Rewritten != nil && r.Rewritten.SHA != nil && r.Answer != nil && r.Answer.Effect == Modify {
		return r.Rewritten.SHA.Args
	}
	return r.args()
}

// fits says whether a record with both forms of a call fits a line.
func fits(r *Record) error {
	const chained = 256 // bytes of what only the chain fills in
	b, err := marshal(r)
	if err != nil {
		return err
	}
	if len(b) > MaxLine-chained {
		return errors.New("both forms of the call are too long to be recorded together")
	}
	return nil
}

// adds says what a call's other form does that the call did not. What was cut
// short to fit the record cannot be compared.
func adds(before, after *Record, cut []Cut) error {
	isEffects := func(c Cut) bool { return c.Field == "action.effects" }
	if before.Action == nil || after.Action == nil || slices.ContainsFunc(append(slices.Clone(before.Cut), cut...), isEffects) {
		return errors.New("the call has too many effects to compare its two forms")
	}
	for _, n := range after.Action.Effects {
		if !slices.ContainsFunc(before.Action.Effects, func(o Effect) bool { return n.within(o) }) {
			return fmt.Errorf("the other form would %s %s, which the call itself does not", n.Verb, n.name())
		}
	}
	for _, s := range after.Action.Signals {
		if !slices.Contains(before.Action.Signals, s) {
			return fmt.Errorf("the other form has the signal %s, which the call itself has not", s)
		}
	}
	for _, o := range after.Action.Opaque {
		if !slices.ContainsFunc(before.Action.Opaque, func(b Opaque) bool { return b.Reason == o.Reason }) {
			return errors.New("the other form is not understood")
		}
	}
	return nil
}

func (e Effect) name() string {
	if e.Short != "" {
		return e.Short
	}
	return e.Target
}

// within says that an effect does no more than another one: the same kind of
// thing to the same target, and in no respect worse. A move into the trash is a
// deletion that can be undone.
func (e Effect) within(o Effect) bool {
	worse := func(now, then bool) bool { return now && !then }
	return e.Kind == o.Kind && e.Target == o.Target && e.Short == o.Short && e.Certainty == o.Certainty &&
		!worse(e.Recursive, o.Recursive) && !worse(e.Forced, o.Forced) && !worse(e.Privileged, o.Privileged) &&
		!worse(e.Egress, o.Egress) && !worse(e.Persistence, o.Persistence) && !worse(o.Loopback, e.Loopback) &&
		e.Reversibility.cost() <= o.Reversibility.cost()
}

// cost orders the steps of reversibility; one that is not known lies between
// what can be undone and what cannot.
func (r Reversibility) cost() int {
	steps := []Reversibility{R0, R1, R2, R3, "", R4, R5}
	if i := slices.Index(steps, r); i >= 0 {
		return i
	}
	return len(steps)
}
