//go:build bench && unix

package main

import (
	"context"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// interventionCost compares decisions over the recorded session with interventions and
// without them; both are compiled in the same way. The
// best of 100 rounds: on a loaded machine, medians differ by more than the controller costs.
func interventionCost(t *testing.T) (time.Duration, time.Duration) {
	on := wiringtest.PolicyOf(t, wiringtest.LayerOf(bundles.User, "settings.yaml", "interventions: {enabled: true}\n"))
	off := wiringtest.PolicyOf(t, wiringtest.LayerOf(bundles.User, "settings.yaml", "interventions: {enabled: false}\n"))
	inputs := sessionInputs(t, on.View)
	decide := func(p *review.Policy) func() {
		return func() {
			for i := range inputs {
				findings, err := p.Matcher.Match(context.Background(), &inputs[i])
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.Decider.Decide(context.Background(), &inputs[i], findings); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	with, without := decide(on), decide(off)
	a, b := timed(with), timed(without)
	for range 100 {
		a, b = min(a, timed(with)), min(b, timed(without))
	}
	return a, b
}
