package trial

import (
	"context"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/rego"
)

// decisionLog records the decisions of a test, in order, so that they can be repeated
// without the test.
type decisionLog struct {
	of      cases.Case
	policy  *policy
	matters rego.Relevance // the parts that the case compares
	asked   []recordedDecision
}

// recordedDecision is one decision.
type recordedDecision struct {
	input    *engine.Input
	findings []engine.Finding
	note     *rego.Note
}

type bookKey struct{}

// bookOf returns the book to write to; may be nil.
func bookOf(ctx context.Context) *decisionLog {
	b, _ := ctx.Value(bookKey{}).(*decisionLog)
	return b
}

// watch returns a policy that decides the same, and records its decisions.
func (b *decisionLog) watch(c cases.Case, p *policy) *policy {
	b.of, b.policy, b.matters = c, p, compared(c)
	host, ok := p.Decider.(*rego.Host)
	if !ok {
		return p
	}
	return p.with(&recordingHost{host, b})
}

// compared returns the parts of decisions that a case compares. Other parts do not
// affect later events.
func compared(c cases.Case) rego.Relevance {
	var m rego.Relevance
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
	if p.Early != nil {
		other.Early = &earlyBefore{p.Early, d}
	}
	return p.having(&other)
}

// earlyBefore is an early decider whose reviews another decider makes.
type earlyBefore struct {
	engine.EarlyDecider
	decider engine.Decider
}

// DecideEarly implements engine.EarlyDecider.
func (e *earlyBefore) DecideEarly(ctx context.Context, in *engine.Input, findings []engine.Finding) (*engine.Decision,
	func(context.Context) (engine.Decision, error)) {
	early, _ := e.EarlyDecider.DecideEarly(ctx, in, findings)
	return early, func(ctx context.Context) (engine.Decision, error) { return e.decider.Decide(ctx, in, findings) }
}

// recordingHost is a host that records its decisions.
type recordingHost struct {
	*rego.Host
	book *decisionLog
}

// Decide implements engine.Decider.
func (w *recordingHost) Decide(ctx context.Context, in *engine.Input, findings []engine.Finding) (engine.Decision, error) {
	note, err := w.Note(ctx, in, findings)
	if err != nil {
		return engine.Decision{}, err
	}
	w.book.asked = append(w.book.asked, recordedDecision{in, findings, note})
	return w.Host.Decide(ctx, in, findings)
}
