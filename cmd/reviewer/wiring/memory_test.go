package wiring

import (
	"context"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/settings"
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
		cache settings.Cache
		hits  int64
	}{
		"on":       {settings.Cache{Enabled: true, TTLMinutes: 5.0, MaxSize: 100}, 1},
		"off":      {settings.Cache{Enabled: false, TTLMinutes: 5.0, MaxSize: 100}, 0},
		"too old":  {settings.Cache{Enabled: true, TTLMinutes: 1e-9, MaxSize: 100}, 0},
		"too many": {settings.Cache{Enabled: true, TTLMinutes: 5.0, MaxSize: 1}, 0},
		"absent":   {settings.Cache{}, 0},
	} {
		host, err := rego.Compile(context.Background(), map[string]string{"base/p.rego": phases}, map[string]any{})
		if err != nil {
			t.Fatal(err)
		}
		var m Memory
		p := &review.Policy{Decider: host}
		p.Settings.Cache = c.cache
		m.Add(p)
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
