package shipped

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/sweep"
	"github.com/agent-reviewer/reviewer/rego"
)

// someOf is how many cases and recorded decisions are passed over for one that
// is decided twice; REVIEWER_EVERY=1 (`make fidelity`) passes over none.
const someOf = 24

// OPA's rule index and early exit do not change the results of the built-in policy's
// cases.
func TestShortcutsOfCases(t *testing.T) {
	runner, list := shippedCases(t)
	count := sweep.Count(t, "cases decided twice")
	for i, c := range list {
		if !sweep.Has(i, someOf) {
			continue
		}
		count.Add(1)
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			found := trial.CaseTwice(t.Context(), runner.Runner, c)
			if found.Decisions == 0 {
				t.Errorf("%s: nothing was decided", c.Name)
			}
			for _, d := range found.Differ {
				t.Error(d)
			}
		})
	}
}

// Nor of inputs that are made for each of its Rego rules.
func TestShortcutsOfRules(t *testing.T) {
	runner, _ := shippedCases(t)
	found, err := trial.TryShortcuts(t.Context(), runner.Layers(), trial.ShortcutOptions{Env: cli.Environment(), Own: []string{bundles.Base}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range found.Differ {
		t.Error(d)
	}
	if found.Own < 100 {
		t.Errorf("only %d inputs were made for the rules", found.Own)
	}
}

// Nor of the frozen logs, whatever environment they are from.
func TestShortcutsOfFrozenLogs(t *testing.T) {
	count := sweep.Count(t, "recorded decisions made twice")
	for _, home := range frozenHomes(t) {
		t.Run(filepath.Base(filepath.Dir(home)), func(t *testing.T) {
			t.Parallel()
			seen, twice := 0, 0
			eachDecision(t, copied(t, home), func(rec *engine.Record, p *review.Policy, h *history.State) {
				if seen++; !sweep.Has(seen, someOf) {
					return
				}
				count.Add(1)
				twice++
				host := p.Decider.(*rego.Host)
				both := review.Policy{View: p.View, Matcher: p.Matcher, Decider: &rego.DoubleCheck{
					Decider: host, Thorough: host.WithoutShortcuts(),
					Tell: func(_ context.Context, d rego.Difference) { t.Errorf("%s: %s", rec.ID(), d) },
				}}
				for _, r := range []*engine.Record{rec, rec.AsModified()} {
					if r == nil {
						continue
					}
					if _, err := both.Decide(t.Context(), r, h); err != nil {
						t.Error(err)
					}
				}
			})
			if twice < 361/someOf {
				t.Errorf("only %d decisions were made twice", twice)
			}
		})
	}
}
