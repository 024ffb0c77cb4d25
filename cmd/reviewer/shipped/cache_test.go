package shipped

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/sweep"
	"github.com/agent-reviewer/reviewer/rego"
)

// caching gives each policy a cache.
type caching struct {
	mu     sync.Mutex
	hosts  map[*rego.Host]*rego.Host
	counts rego.MemoryCounts
}

func (c *caching) of(h *rego.Host) engine.Decider {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hosts == nil {
		c.hosts = map[*rego.Host]*rego.Host{}
	}
	if c.hosts[h] == nil {
		c.hosts[h] = h.Remember(rego.MemoryLimits{Size: 10_000, Life: time.Hour, Now: time.Now}, &c.counts)
	}
	return c.hosts[h]
}

// used fails if hardly anything was found in the cache.
func (c *caching) used(t *testing.T) {
	t.Helper()
	if hits := c.counts.Hits.Load(); hits < 100 {
		t.Errorf("only %d documents were found in the cache", hits)
	}
}

// The cache does not change the results of the built-in policy's cases.
func TestCacheOfCases(t *testing.T) {
	t.Parallel()
	runner, list := shippedCases(t)
	every := sweep.Every()
	var cache caching
	for i, c := range list {
		if !every && i%someOf != 7 {
			continue
		}
		for _, d := range trial.CaseAgain(t.Context(), runner.Runner, c, cache.of).Differ {
			t.Errorf("%s: %s", c.Name, d)
		}
	}
	cache.used(t)
}

// Nor those of the frozen logs.
func TestCacheOfFrozenLogs(t *testing.T) {
	every := sweep.Every()
	var cache caching
	for _, home := range frozenHomes(t) {
		seen := 0
		eachDecision(t, copied(t, home), func(rec *engine.Record, p *review.Policy, h *history.State) {
			if seen++; !every && seen%(someOf/4) != 1 {
				return
			}
			host := p.Decider.(*rego.Host)
			both := review.Policy{View: p.View, Matcher: p.Matcher, Decider: &rego.DoubleCheck{
				Decider: host, Thorough: cache.of(host),
				Tell: func(_ context.Context, d rego.Difference) { t.Errorf("%s: %s", rec.ID(), d) },
			}}
			if _, err := both.Decide(t.Context(), rec, h); err != nil {
				t.Error(err)
			}
		})
	}
	cache.used(t)
}
