package simulatecmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// side is one side of a comparison: the policy that a reference names, or what
// was recorded. kept has the policies that records name.
func side(ctx context.Context, a *cli.App, ref string, kept *here.Former) (simulate.Side, error) {
	if ref == here.RefRecorded {
		return simulate.Side{Named: simulate.Named{Name: ref, Recorded: true, Rules: []string{}, Patterns: []string{}}}, nil
	}
	e, err := a.PolicyRef(ctx, ref)
	if err != nil {
		return simulate.Side{}, err
	}
	return sideOf(ctx, ref, e, kept)
}

// sideOf is a side of a policy that was read already.
func sideOf(ctx context.Context, name string, e *bundles.Effective, kept *here.Former) (simulate.Side, error) {
	p, err := wiring.Compile(ctx, e)
	if err != nil {
		return simulate.Side{}, fmt.Errorf("policy %s: %w", name, err)
	}
	return simulate.Side{Named: sideNamed(name, e), Policy: p, Lacks: newLack(e, p, kept).of}, nil
}

// sideNamed lists what a policy has that can speak. What the settings switch off
// cannot.
func sideNamed(name string, e *bundles.Effective) simulate.Named {
	n := simulate.Named{Name: name, Digest: e.Digest, Rules: []string{}, Patterns: []string{}}
	off := map[string]bool{}
	for _, entry := range e.Catalogue() {
		off[entry.ID] = entry.Enforcement == bundles.Off
	}
	for _, r := range e.Tuned() {
		switch {
		case off[r.ID]:
		case r.Pattern():
			n.Patterns = append(n.Patterns, r.ID)
		default:
			n.Rules = append(n.Rules, r.ID)
		}
	}
	for _, l := range e.Access() {
		n.Rules = append(n.Rules, l.Speakers()...)
	}
	slices.Sort(n.Rules)
	slices.Sort(n.Patterns)
	return n
}
