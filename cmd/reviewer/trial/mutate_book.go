package trial

import (
	"context"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/rego"
)

// book is what a test asked policy, in order, so that it can be asked again
// without the test.
type book struct {
	of      cases.Case
	policy  *policy
	matters rego.Matters // what the case expects something of
	asked   []asked
}

// asked is one decision.
type asked struct {
	input    *engine.Input
	findings []engine.Finding
	note     *rego.Note
}

type bookKey struct{}

// bookOf returns the book to write into; nil: nobody reads it.
func bookOf(ctx context.Context) *book {
	b, _ := ctx.Value(bookKey{}).(*book)
	return b
}

// watch returns a policy that decides the same, and writes it down.
func (b *book) watch(c cases.Case, p *policy) *policy {
	b.of, b.policy, b.matters = c, p, matters(c)
	host, ok := p.Decider.(*rego.Host)
	if !ok {
		return p
	}
	return p.with(&watching{host, b})
}

// matters says what of decisions a case compares. What it does not compare has
// no influence on what happens next.
func matters(c cases.Case) rego.Matters {
	var m rego.Matters
	for _, event := range c.Events {
		e := event.Expect
		if e == nil {
			continue
		}
		m.Texts = m.Texts || e.Reason+e.Text+e.Alternative+e.Failure != "" || len(e.Reasons) > 0 || e.Rewritten != nil
		m.Scores = m.Scores || e.Risk != nil || e.Rationality != nil || e.SideEffects != ""
	}
	return m
}

// with is the policy with another decider.
func (p *policy) with(d engine.Decider) *policy {
	other := *p.Policy
	other.Decider = d
	return &policy{rules: p.rules, open: p.open, Policy: &other}
}

// watching is a host that writes down what it is asked.
type watching struct {
	*rego.Host
	book *book
}

// Decide implements engine.Decider.
func (w *watching) Decide(ctx context.Context, in *engine.Input, findings []engine.Finding) (engine.Decision, error) {
	note, err := w.Note(ctx, in, findings)
	if err != nil {
		return engine.Decision{}, err
	}
	w.book.asked = append(w.book.asked, asked{in, findings, note})
	return w.Host.Decide(ctx, in, findings)
}
