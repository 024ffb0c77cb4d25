package simulate

import (
	"context"

	"github.com/agent-reviewer/reviewer/engine"
)

// Comparison asks several candidates and a baseline about the same sessions.
type Comparison struct {
	Baseline   Side
	Candidates []Side
	Env        engine.Env
	Selection  Selection

	// Policies finds the policy of a recorded decision by its digest, for the
	// fidelity check of audit logs; nil: no check.
	Policies func(digest string) (*engine.Policy, error)
}

// Session compares one session and returns an Impact for each candidate. It may
// be called by several goroutines at once. An error means that the context
// ended; what cannot be read or decided is in the Impacts.
func (c *Comparison) Session(ctx context.Context, s Story) ([]*Impact, error) {
	return nil, nil
}

// Empty returns the Impact of no session for each candidate.
func (c *Comparison) Empty() []*Impact {
	return nil
}
