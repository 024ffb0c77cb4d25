package engine

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// Version is the version of the deciding core, raised by hand whenever the
// same facts and policy could come out otherwise.
const Version = 1

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

// Policy is a compiled policy: all its layers, and the settings they merge to.
type Policy struct {
	Digest  string // over the ordered (layer, digest) pairs and the settings
	Config  string // digest of the merged settings
	Windows []Window
	Matcher Matcher
	Decider Decider

	once    sync.Once
	encoder *encoder
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
	v := Review{Input: NewInput(r, h, p.Windows)}
	var err error
	if r.SHA != nil {
		v.SHA.Args = r.SHA.Args
	}
	p.once.Do(func() { p.encoder = newEncoder(reflect.TypeFor[Input]()) })
	if v.SHA.Input, v.SHA.State, err = p.encoder.digests(&v.Input); err != nil {
		return v, fmt.Errorf("digest input: %w", err)
	}
	if v.Findings, err = p.Matcher.Match(ctx, &v.Input); err != nil {
		return v, fmt.Errorf("match conditions: %w", err)
	}
	if v.Decision, err = p.Decider.Decide(ctx, &v.Input, v.Findings); err != nil {
		return v, fmt.Errorf("decide: %w", err)
	}
	return v, v.Decision.settle()
}

// maxDecision bounds a decision's JSON so that facts and decision fit a line.
const maxDecision = 2 << 10

// settle checks what policy returned and bounds it, the same way each time.
func (d *Decision) settle() error {
	for _, v := range []Verdict{d.Decision, d.Enforced} {
		if v.Strictness() == Block.Strictness() && v != Block {
			return fmt.Errorf("policy returned %q, which is none of %s", v, strings.Join(Verdicts(), ", "))
		}
	}
	for _, limit := range []struct{ text, list int }{{480, 8}, {240, 8}, {120, 5}, {60, 3}} {
		b, err := marshal(d)
		if err != nil {
			return fmt.Errorf("encode decision: %w", err)
		}
		if len(b) <= maxDecision {
			return nil
		}
		d.shorten(limit.text, limit.list)
	}
	return nil
}

func (d *Decision) shorten(text, list int) {
	d.Reason, d.Explanation = clip(d.Reason, text), clip(d.Explanation, text)
	d.Text = clipText(d.Text, 2*text)
	d.Reasons, d.Alternatives = clipList(d.Reasons, text, list), clipList(d.Alternatives, text, list)
	d.Rules = d.Rules[:min(len(d.Rules), list)]
	for i := range d.Rules {
		d.Rules[i].Message = clip(d.Rules[i].Message, text)
	}
	d.Errors = d.Errors[:min(len(d.Errors), list)]
	for i := range d.Errors {
		d.Errors[i].Message = clip(d.Errors[i].Message, text)
	}
}

func clipList(s []string, text, list int) []string {
	s = s[:min(len(s), list)]
	for i := range s {
		s[i] = clip(s[i], text)
	}
	return s
}

// clip shortens a text at a character's edge.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// clipText shortens the middle: the end of a denial says what to do next.
func clipText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	tail := n / 2
	start := len(s) - tail
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return clip(s, n-tail) + " " + s[start:]
}
