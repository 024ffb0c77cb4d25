package review

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Otherwise returns the effect if a call cannot run in a modified form. A
// policy that does not specify one gets the strictest.
func Otherwise(d *engine.Decision) engine.Verdict {
	if d.Otherwise == nil || d.Otherwise.Effect != engine.Ask {
		return engine.Block
	}
	return engine.Ask
}

// Fits returns an error unless a record with both forms of a call fits a line.
func Fits(r *engine.Record) error {
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

// Adds returns an error if a call's modified form does something that the call
// did not. What was cut to fit the record cannot be compared.
func Adds(before, after *engine.Record, cut []engine.Cut) error {
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
