package wiring

import (
	"context"

	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/rego"
)

// Sharing lets policies use what others have computed for the same event. Their decisions
// stay the same.
type Sharing struct{ hosts rego.Sharing }

// Add lets a policy take part.
func (s *Sharing) Add(p *review.Policy) {
	if h, is := p.Decider.(*rego.Host); is {
		s.hosts.Add(h)
	}
}

// Event returns a context for the decisions about one event. It is for one goroutine.
func (s *Sharing) Event(ctx context.Context) context.Context { return s.hosts.Event(ctx) }
