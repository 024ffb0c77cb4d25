package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Version is the version of the deciding core, raised by hand whenever the
// same facts and policy could come out otherwise.
const Version = 5

// Matcher evaluates the conditions of a policy (CEL). An expression that fails
// is a Finding with an Error; an error means that nothing can be said.
type Matcher interface {
	Match(context.Context, *Input) ([]Finding, error)
}

// Decider judges (Rego). A rule that fails is listed in Decision.Errors and its
// worst outcome taken; an error means that nothing can be said.
type Decider interface {
	Decide(context.Context, *Input, []Finding) (Decision, error)
}

// Detector looks for what policy declares in the raw texts of a call, so that
// policy can judge contents that it never sees. It returns how often each was
// found, by id; nil: nothing was.
type Detector interface {
	Detect(Event) map[string]int64
}

// Policy is a compiled policy: all its layers, and the settings they merge to.
type Policy struct {
	Digest  string // over the ordered (layer, digest) pairs and the settings
	Config  string // digest of the merged settings
	View    View
	Redact  []string // of PersonalKinds, what is replaced in facts beside secrets
	Matcher Matcher
	Decider Decider

	Detector  Detector // nil: the policy declares no detectors
	Detectors string   // digest of what Detector looks for; empty: nothing
}

// Review is what a policy makes of one record.
type Review struct {
	Input    Input
	Findings []Finding
	Decision Decision
	SHA      SHA
}

// Review decides about the facts of a record in the light of the history
// before it. It is a pure function of its arguments: live calls, replays and
// simulations all come through here.
func (p *Policy) Review(ctx context.Context, r *Record, h *History) (Review, error) {
	v := Review{Input: NewInput(r, h, p.View)}
	var err error
	if r.SHA != nil {
		v.SHA.Args = r.SHA.Args
	}
	if v.SHA.Input, v.SHA.State, err = v.Input.Digests(); err != nil {
		return v, fmt.Errorf("digest input: %w", err)
	}
	err = p.judge(ctx, &v)
	return v, err
}

// Judge is Review for those who record nothing: without the digests.
func (p *Policy) Judge(ctx context.Context, r *Record, h *History) (Review, error) {
	v := Review{Input: NewInput(r, h, p.View)}
	err := p.judge(ctx, &v)
	return v, err
}

func (p *Policy) judge(ctx context.Context, v *Review) error {
	var err error
	if v.Findings, err = p.Matcher.Match(ctx, &v.Input); err != nil {
		return fmt.Errorf("match conditions: %w", err)
	}
	if v.Decision, err = p.Decider.Decide(ctx, &v.Input, v.Findings); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	return v.Decision.settle()
}

// maxDecision bounds a decision's JSON so that facts and decision fit a line.
const maxDecision = 5 << 9

// settle checks what policy returned and bounds it, the same way each time.
func (d *Decision) settle() error {
	for _, v := range []Verdict{d.Decision, d.Enforced} {
		if v.Strictness() == Block.Strictness() && v != Block {
			return fmt.Errorf("policy returned %q, which is none of %s", v, strings.Join(Verdicts(), ", "))
		}
	}
	for _, op := range d.Rewrite {
		if !slices.Contains(Operations(), op.Op) {
			return fmt.Errorf("policy returned the operation %q, which is none of %s", op.Op, strings.Join(Operations(), ", "))
		}
	}
	limits := []struct{ text, list int }{{480, 8}, {240, 8}, {120, 5}, {60, 3}, {30, 1}}
	for i := 0; ; i++ {
		b, err := marshal(d)
		if err != nil {
			return fmt.Errorf("encode decision: %w", err)
		}
		if len(b) <= maxDecision {
			return nil
		}
		if i == len(limits) {
			return fmt.Errorf("policy returned a decision of more than %d bytes, even with its texts cut", maxDecision)
		}
		d.shorten(limits[i].text, limits[i].list)
	}
}

// shorten bounds texts (bytes in JSON) and lists. Ids and obligations stay
// whole: a part of one would be another one.
func (d *Decision) shorten(text, list int) {
	d.Reason, d.Explanation = clipJSON(d.Reason, text), clipJSON(d.Explanation, text)
	d.Text = clipText(d.Text, 2*text)
	d.Reasons, d.Alternatives = clipList(d.Reasons, text, list), clipList(d.Alternatives, text, list)
	if o := d.Otherwise; o != nil {
		d.Otherwise = &Otherwise{Effect: o.Effect, Text: clipText(o.Text, text)}
	}
	d.Rules = d.Rules[:min(len(d.Rules), list)]
	for i := range d.Rules {
		d.Rules[i].Message = clipJSON(d.Rules[i].Message, text)
	}
	d.Errors = d.Errors[:min(len(d.Errors), list)]
	for i := range d.Errors {
		d.Errors[i].Message = clipJSON(d.Errors[i].Message, text)
	}
	d.shortenScores(text, list)
	if d.Intervention != nil {
		d.Intervention.Reason = clipJSON(d.Intervention.Reason, text)
	}
}

func (d *Decision) shortenScores(text, list int) {
	if r := d.Risk; r != nil {
		r.Factors = clipList(r.Factors, text, list)
	}
	if r := d.Rationality; r != nil {
		r.Issues, r.Suggestions = clipList(r.Issues, text, list), clipList(r.Suggestions, text, list)
	}
	if e := d.SideEffects; e != nil {
		e.Kinds, e.Mitigations = clipList(e.Kinds, text, list), clipList(e.Mitigations, text, list)
	}
}

func clipList(s []string, text, list int) []string {
	s = s[:min(len(s), list)]
	for i := range s {
		s[i] = clipJSON(s[i], text)
	}
	return s
}

// clipText shortens the middle, to about n bytes in JSON: the end of a denial
// says what to do next.
func clipText(s string, n int) string {
	if jsonLen(s) <= n {
		return s
	}
	end := len(s)
	for size := 0; end > 0; {
		r, width := utf8.DecodeLastRuneInString(s[:end])
		if size += jsonLen(string(r)) - 2; size > n/2 {
			break
		}
		end -= width
	}
	return clipJSON(s[:end], n-n/2) + " " + s[end:]
}
