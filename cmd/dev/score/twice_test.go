package main

import (
	"cmp"
	"context"
	"os"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/rego"
)

// corpusVar names a folder with more sessions for TestTwiceOverSessions.
const corpusVar = "REVIEWER_CORPUS"

// thrice decides in three ways that have to agree: as in production, without OPA's
// shortcuts, and with a cache.
type thrice struct {
	t         *testing.T
	decider   *rego.Host
	others    []engine.Decider
	decisions int
}

func (d *thrice) Decide(ctx context.Context, in *engine.Input, findings []engine.Finding) (engine.Decision, error) {
	d.decisions++
	tell := func(_ context.Context, other rego.Difference) { d.t.Errorf("decision %d: %s", d.decisions, other) }
	for _, other := range d.others {
		_, _ = (&rego.DoubleCheck{Decider: d.decider, Thorough: other, Tell: tell}).Decide(ctx, in, findings)
	}
	return d.decider.Decide(ctx, in, findings)
}

// TestTwiceOverSessions: neither OPA's shortcuts nor the cache change a decision in recorded
// sessions.
func TestTwiceOverSessions(t *testing.T) {
	sessions, err := readSessions(cmp.Or(os.Getenv(corpusVar), "testdata/corpus"))
	if err != nil {
		t.Fatal(err)
	}
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	j, err := compiled(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	host := j.policy.Decider.(*rego.Host)
	d := &thrice{t: t, decider: host, others: []engine.Decider{host.WithoutShortcuts(),
		host.Remember(rego.MemoryLimits{Size: 10_000, Life: time.Hour, Now: time.Now}, &rego.MemoryCounts{})}}
	own := *j.policy
	own.Decider, j.policy = d, &own
	for _, one := range sessions.List {
		if _, err := j.session(t.Context(), one); err != nil {
			t.Error(err)
		}
	}
	if d.decisions == 0 {
		t.Error("nothing was decided")
	}
	t.Logf("%d sessions, %d decisions", len(sessions.List), d.decisions)
}
