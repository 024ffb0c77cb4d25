//go:build bench && unix

package main

import (
	"context"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/rego"
)

// patternCost compares all pattern rows together with one rule `allow := true` over
// the same input: in the recorded session as it goes, or where every fact holds
// that rows wait for, so that each runs. Means, since mostly none runs.
func patternCost(t *testing.T, all bool) (time.Duration, time.Duration) {
	p, e := defaultPolicy(t)
	host, err := cel.Compile(wiring.WithNames(wiring.Conditions(patternRows(e)), wiring.Names(e.Layers, e.Data)))
	if err != nil {
		t.Fatal(err)
	}
	trivial := trivialRego(t)
	inputs := sessionInputs(t, p.View)
	if all {
		for i := range inputs {
			inputs[i].Facts = engine.FactNames()
		}
	}
	ctx := context.Background()
	match := func(in *engine.Input) {
		if _, err := host.Match(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	decide := func(in *engine.Input) {
		if _, err := trivial.Decide(ctx, in, nil); err != nil {
			t.Fatal(err)
		}
	}
	return mean(inputs, match), mean(inputs, decide)
}

func patternRows(e *bundles.Effective) []bundles.Rule {
	var rows []bundles.Rule
	for _, r := range e.EffectiveRules() {
		if r.Pattern() {
			rows = append(rows, r)
		}
	}
	return rows
}

func trivialRego(t *testing.T) *rego.Host {
	host, err := rego.Compile(context.Background(), map[string]string{"base/trivial.rego": "package reviewer\n\ndecision := {\"decision\": \"allow\", \"enforced\": \"allow\"}\n"}, map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	return host
}

// sessionInputs are what policy sees of each event of the recorded session.
func sessionInputs(t *testing.T, view engine.View) []engine.Input {
	c := &classify.Classifier{World: classify.System{Home: "/home/kim"}, MAC: mustMAC(t), Rows: bundles.BuiltInRows()}
	h := history.New()
	h.Workspace = "/srv/shop"
	kinds := map[engine.Phase]engine.Kind{engine.PhasePrompt: engine.KindPrompt, engine.PhasePre: engine.KindPre, engine.PhasePost: engine.KindPost}
	var inputs []engine.Input
	for _, line := range recordedInputs(t) {
		e, err := harness.DecodeClaudeCode("", line, "")
		kind, folds := kinds[e.Phase]
		if err != nil || !folds {
			continue
		}
		facts, err := c.Classify(context.Background(), e, h.Workspace)
		if err != nil {
			t.Fatal(err)
		}
		rec := engine.NewRecord(e, facts, h.T+1000)
		rec.Kind, rec.N = kind, h.N+1
		inputs = append(inputs, history.NewInput(rec, h, view))
		h.Append(rec)
	}
	return inputs
}

// mean is how long fn takes for one of the inputs, the best of some rounds.
func mean(inputs []engine.Input, fn func(*engine.Input)) time.Duration {
	best := time.Duration(1 << 62)
	for range 200 {
		best = min(best, timed(func() {
			for i := range inputs {
				fn(&inputs[i])
			}
		}))
	}
	return best / time.Duration(len(inputs))
}
