package rego

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// WithoutShortcuts returns a host that decides as h does, but uses none of OPA's
// shortcuts: every rule is evaluated completely, not only those that the rule index
// selects. It is slower, and for checks alone.
func (h *Host) WithoutShortcuts() *Host {
	t := *h
	t.thorough = true
	return &t
}

// DoubleCheck is a Decider that evaluates everything a second time without OPA's
// shortcuts. They must never change a decision, but some releases of OPA had an index
// that silently dropped rules.
type DoubleCheck struct {
	Decider  engine.Decider // its answer counts
	Thorough engine.Decider // gives the same answer, unless shortcuts matter
	Tell     func(context.Context, Difference)
}

// Decide implements engine.Decider.
func (t *DoubleCheck) Decide(ctx context.Context, in *engine.Input, findings []engine.Finding) (engine.Decision, error) {
	with, err := t.Decider.Decide(ctx, in, findings)
	without, err2 := t.Thorough.Decide(ctx, in, findings)
	if ctx.Err() != nil {
		return with, err
	}
	if d := difference(answer{with, err}, answer{without, err2}); d != nil {
		t.Tell(ctx, *d)
	}
	return with, err
}

// Difference is a decision that OPA's shortcuts change.
type Difference struct {
	Rules   []string // ids of the rules that fire on one side only, or differently; empty: none
	With    string   // short text of the decision with shortcuts
	Without string   // and without them
}

func (d Difference) String() string {
	text := fmt.Sprintf("with OPA's rule index and early exit: %s; without them: %s", d.With, d.Without)
	switch len(d.Rules) {
	case 0:
		return text
	case 1:
		return "rule " + d.Rules[0] + ": " + text
	}
	return "rules " + strings.Join(d.Rules, ", ") + ": " + text
}

// answer is the result of a Decider.
type answer struct {
	engine.Decision
	err error
}

func difference(with, without answer) *Difference {
	if with.err != nil && without.err != nil {
		return nil // no decision in either case, so the call is denied
	}
	a, errA := engine.CanonicalOf(with.Decision)
	b, errB := engine.CanonicalOf(without.Decision)
	if with.err == nil && without.err == nil && errA == nil && errB == nil && bytes.Equal(a, b) {
		return nil
	}
	d := &Difference{Rules: differingRules(with.Decision, without.Decision), With: with.words(), Without: without.words()}
	if d.With == d.Without {
		d.Without += ", worded differently"
	}
	return d
}

// words describes a decision briefly.
func (a answer) words() string {
	if a.err != nil {
		return "no decision: " + a.err.Error()
	}
	text := string(a.Decision.Decision)
	if ids := a.RuleIDs(); len(ids) > 0 {
		text += " by " + strings.Join(ids, ", ")
	}
	for _, e := range a.Errors {
		text += fmt.Sprintf(", %s: %s", e.Rule, e.Message)
	}
	return text
}

// differingRules lists the rules that are in one decision only, or differ.
func differingRules(a, b engine.Decision) []string {
	said := func(d engine.Decision) map[string]string {
		by := map[string]string{}
		for _, r := range d.Rules {
			by[r.ID] = fmt.Sprint(r)
		}
		for _, e := range d.Errors {
			by[e.Rule] += " failed: " + e.Message
		}
		return by
	}
	was, is := said(a), said(b)
	var ids []string
	for _, by := range []map[string]string{was, is} {
		for id := range by {
			if id != "" && was[id] != is[id] {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
