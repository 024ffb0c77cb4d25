package wiring

import (
	"context"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/rego"
)

const phases = `package reviewer

decision := {"decision": verdict, "enforced": verdict}

verdict := "block" if input.phase == "pre" else := "allow"
`

// TestMemory: the settings determine if there is a memory, how many values it has and for how
// long.
func TestMemory(t *testing.T) {
	for name, c := range map[string]struct {
		cache map[string]any
		hits  int64
	}{
		"on":       {map[string]any{"enabled": true, "ttl_minutes": 5.0, "max_size": 100}, 1},
		"off":      {map[string]any{"enabled": false, "ttl_minutes": 5.0, "max_size": 100}, 0},
		"too old":  {map[string]any{"enabled": true, "ttl_minutes": 1e-9, "max_size": 100}, 0},
		"too many": {map[string]any{"enabled": true, "ttl_minutes": 5.0, "max_size": 1}, 0},
		"absent":   {nil, 0},
	} {
		host, err := rego.Compile(context.Background(), map[string]string{"base/p.rego": phases}, map[string]any{})
		if err != nil {
			t.Fatal(err)
		}
		var m Memory
		p := &review.Policy{Decider: host}
		m.Add(p, map[string]any{"cache": c.cache})
		for _, phase := range []engine.Phase{engine.PhasePre, engine.PhasePre, engine.PhasePost} {
			d, err := p.Decider.Decide(context.Background(), &engine.Input{Phase: phase}, nil)
			if err != nil || (d.Decision == engine.Block) != (phase == engine.PhasePre) {
				t.Errorf("%s: %s: %v, %v", name, phase, d.Decision, err)
			}
		}
		if hits, _ := m.Counts(); hits != c.hits {
			t.Errorf("%s: %d hits, want %d", name, hits, c.hits)
		}
	}
}
