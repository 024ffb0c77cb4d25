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
func (m *Memory) Add(p *review.Policy) {
	cache := &p.Settings.Cache
	h, is := p.Decider.(*rego.Host)
	if !is || !cache.Enabled {
		return
	}
	p.Decider = h.Remember(rego.MemoryLimits{
		Size: int(cache.MaxSize), Now: time.Now, Life: time.Duration(cache.TTLMinutes * float64(time.Minute)),
	}, &m.counts)
}

// Counts returns how many documents were found in the memories, and how many were not.
func (m *Memory) Counts() (hits, misses int64) { return m.counts.Hits.Load(), m.counts.Misses.Load() }
