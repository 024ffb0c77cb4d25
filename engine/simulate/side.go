package simulate

import "github.com/agent-reviewer/reviewer/engine"

// Side is one of the two that are compared.
type Side struct {
	Named  Named
	Policy *engine.Policy // nil: what was recorded

	// Lacks says which fact this policy looks at that a record of an audit log
	// does not hold, since it was written under another policy; empty: none. nil:
	// never.
	Lacks func(*engine.Record) string
}
