package wiring

import (
	"time"

	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/rego"
)

// Memory lets policies keep what they compute for later decisions, as the section cache of
// their settings says. Their decisions stay the same. The zero value is ready.
type Memory struct{ counts rego.MemoryCounts }

// Add gives a policy a memory, if its settings enable it.
func (m *Memory) Add(p *review.Policy, settings map[string]any) {
	cache, _ := settings["cache"].(map[string]any)
	h, is := p.Decider.(*rego.Host)
	if !is || cache["enabled"] != true {
		return
	}
	p.Decider = h.Remember(rego.MemoryLimits{
		Size: int(number(settings, "cache", "max_size")), Now: time.Now,
		Life: time.Duration(number(settings, "cache", "ttl_minutes") * float64(time.Minute)),
	}, &m.counts)
}

// Counts returns how many documents were found in the memories, and how many were not.
func (m *Memory) Counts() (hits, misses int64) { return m.counts.Hits.Load(), m.counts.Misses.Load() }
