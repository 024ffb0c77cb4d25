package rego

import (
	"context"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// A rule that compares with constants and with the input at once holds for both.
// OPA 1.21.0 to 1.22.0 looked it up under the constants alone, and dropped it.
func TestMembersFromConstantsAndInput(t *testing.T) {
	h := compiled(t, policy(`
default decision := {"decision": "allow", "enforced": "allow"}
decision := {"decision": "block", "enforced": "block"} if input.agent in {"main", input.harness}
`), nil)
	for agent, want := range map[string]engine.Verdict{"main": engine.Block, "shop": engine.Block, "other": engine.Allow} {
		d, err := h.Decide(context.Background(), &engine.Input{Agent: agent, Harness: "shop"}, nil)
		if err != nil || d.Decision != want {
			t.Errorf("agent %s: %s (%v), want %s", agent, d.Decision, err, want)
		}
	}
}
