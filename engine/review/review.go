package review

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Policy is a compiled policy: all its layers and their merged settings.
type Policy struct {
	Digest  string // over the ordered (layer, digest) pairs and the settings
	Config  string // digest of the merged settings
	View    engine.View
	Redact  []string // those of PersonalKinds that are masked in facts in addition to secrets
	Inherit Inherit
	// Approvals defines what happens to questions.
	Approvals Approvals
	Grants    Grants
	Headless  bool // prompts of a client that a schedule or a service started count as a person's
	Unsaved   Unsaved
	// Rollback contains the texts about the result of a rollback.
	Rollback Rollback
	Kinds    []string // kinds of intervention that the organisation has defined
	Matcher  engine.Matcher
	Decider  engine.Decider
	Early    engine.EarlyDecider // nil: every call waits for its review (mode: blocking)

	Detector  engine.Detector // nil: the policy declares no detectors
	Detectors string          // digest of the patterns that Detector searches for; empty: none
	Rows      engine.Rows     // knowledge by which events are read; nil: the policy has no rows

	Notice string // what the person is told when a session starts; empty: nothing

	MaxCPU float64 // CPU time, in milliseconds, of a review that counts as slow if it takes more; 0: none does
}

func (p *Policy) rowsDigest() string {
	if p.Rows == nil {
		return ""
	}
	return p.Rows.RowsDigest()
}

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
	if early == nil || writesCode(r) || settle(early, p.Kinds...) != nil {
		return v, decide, nil
	}
	v.Decision = *early
	return v, decide, nil
}

// complete decides what ReviewEarly left open.
func (p *Policy) complete(ctx context.Context, v *Result, r *engine.Record, h *history.State,
	decide func(context.Context) (engine.Decision, error)) error {
	var err error
	if v.Decision, err = decide(ctx); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	if err := settle(&v.Decision, p.Kinds...); err != nil {
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
	return settle(&v.Decision, p.Kinds...)
}

// maxDecision limits a decision's JSON so that facts and decision fit a line.
const maxDecision = 5 << 9

// settle validates what policy returned and limits its size, deterministically.
// own are the kinds of intervention that the policy has defined.
func settle(d *engine.Decision, own ...string) error {
	for _, v := range []engine.Verdict{d.Decision, d.Enforced} {
		if v.Strictness() == engine.Block.Strictness() && v != engine.Block {
			return fmt.Errorf("policy returned %q, which is not one of %s", v, strings.Join(engine.Verdicts(), ", "))
		}
	}
	for _, op := range d.Rewrite {
		if !slices.Contains(engine.Operations(), op.Op) {
			return fmt.Errorf("policy returned the operation %q, which is not one of %s", op.Op, strings.Join(engine.Operations(), ", "))
		}
	}
	kinds := append(engine.Interventions(), own...)
	if i := d.Intervention; i != nil && !slices.Contains(kinds, i.Kind) {
		return fmt.Errorf("policy returned the intervention %q, which is not one of %s", i.Kind, strings.Join(kinds, ", "))
	}
	limits := []limit{{480, 8, uncut}, {240, 8, uncut}, {120, 5, uncut}, {60, 3, uncut}, {30, 1, uncut},
		{30, 1, 960}, {30, 1, 240}, {30, 1, 60}}
	for i := 0; ; i++ {
		b, err := engine.Marshal(d)
		if err != nil {
			return fmt.Errorf("encode decision: %w", err)
		}
		if len(b) <= maxDecision {
			return nil
		}
		if i == len(limits) {
			return fmt.Errorf("policy returned a decision of more than %d bytes, even with its texts cut", maxDecision)
		}
		shorten(d, limits[i])
	}
}

// limit shortens a decision to fit a line: first texts and lists that only the
// log contains, and the agent's text only if nothing else is left to cut.
type limit struct{ text, list, told int }

const uncut = maxDecision

// shorten limits texts (bytes in JSON) and lists. Ids and obligations stay
// whole: part of one would be a different one.
func shorten(d *engine.Decision, l limit) {
	text, list := l.text, l.list
	d.Reason, d.Explanation = engine.ClipJSON(d.Reason, text), engine.ClipJSON(d.Explanation, text)
	d.Text, d.Notice = clipText(d.Text, l.told), clipText(d.Notice, l.told)
	d.Reasons, d.Alternatives = clipList(d.Reasons, text, list), clipList(d.Alternatives, text, list)
	if o := d.Otherwise; o != nil {
		d.Otherwise = &engine.Fallback{Effect: o.Effect, Text: clipText(o.Text, l.told)}
	}
	d.Code = d.Code[:min(len(d.Code), list)]
	d.Rules = d.Rules[:min(len(d.Rules), list)]
	for i := range d.Rules {
		d.Rules[i].Message = engine.ClipJSON(d.Rules[i].Message, text)
	}
	d.Errors = d.Errors[:min(len(d.Errors), list)]
	for i := range d.Errors {
		d.Errors[i].Message = engine.ClipJSON(d.Errors[i].Message, text)
	}
	shortenScores(d, text, list)
	if d.Intervention != nil {
		d.Intervention.Reason = engine.ClipJSON(d.Intervention.Reason, text)
	}
}

func shortenScores(d *engine.Decision, text, list int) {
	if r := d.Risk; r != nil {
		r.Factors = clipList(r.Factors, text, list)
	}
	if r := d.Rationality; r != nil {
		r.Issues, r.Suggestions = clipList(r.Issues, text, list), clipList(r.Suggestions, text, list)
	}
	if e := d.SideEffects; e != nil {
		e.Severities = e.Severities[:min(len(e.Severities), list)]
		e.Kinds, e.Mitigations = clipList(e.Kinds, text, list), clipList(e.Mitigations, text, list)
	}
}

func clipList(s []string, text, list int) []string {
	s = s[:min(len(s), list)]
	for i := range s {
		s[i] = engine.ClipJSON(s[i], text)
	}
	return s
}

// clipText cuts the middle of a string down to about n bytes in JSON: the end of a denial tells
// the agent what to do next.
func clipText(s string, n int) string {
	if engine.JSONLen(s) <= n {
		return s
	}
	end := len(s)
	for size := 0; end > 0; {
		r, width := utf8.DecodeLastRuneInString(s[:end])
		if size += engine.JSONLen(string(r)) - 2; size > n/2 {
			break
		}
		end -= width
	}
	return engine.ClipJSON(s[:end], n-n/2) + " " + s[end:]
}
