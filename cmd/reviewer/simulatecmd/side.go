package simulatecmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/catalogue"
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/reread"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// side is one side of a comparison: the policy that a reference names, or what
// was recorded, which has no policy. kept has the policies that records name.
func side(ctx context.Context, a *cli.App, ref string, kept *active.PolicyFinder) (simulate.Side, *bundles.Effective, error) {
	if ref == active.RefRecorded {
		return simulate.Side{Named: simulate.Named{Name: ref, Recorded: true, Rules: []string{}, Patterns: []string{}}}, nil, nil
	}
	e, err := a.PolicyRef(ctx, ref)
	if err != nil {
		return simulate.Side{}, nil, err
	}
	s, err := sideOf(ctx, ref, e, kept)
	return s, e, err
}

// settingsOf lists the settings in which a candidate differs from the baseline.
func settingsOf(baseline, candidate *bundles.Effective) ([]simulate.Setting, error) {
	if baseline == nil {
		return nil, nil
	}
	changes, err := diff.Settings(baseline, candidate)
	if err != nil {
		return nil, err
	}
	var list []simulate.Setting
	for _, c := range changes {
		s := simulate.Setting{Key: c.Name, Before: valueText(c.Before), After: valueText(c.After), Direction: string(c.Direction)}
		if s.Before != s.After { // else only the layer differs
			list = append(list, s)
		}
	}
	return list, nil
}

// valueText writes a setting's value as JSON; empty if it is not set.
func valueText(v *diff.Version) string {
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v.Value)
	if err != nil {
		return fmt.Sprint(v.Value) // unreachable: it was read from YAML
	}
	return string(text)
}

// sideOf returns a side for a policy that was already read.
func sideOf(ctx context.Context, name string, e *bundles.Effective, kept *active.PolicyFinder) (simulate.Side, error) {
	p, err := wiring.Compile(ctx, e)
	if err != nil {
		return simulate.Side{}, fmt.Errorf("policy %s: %w", name, err)
	}
	missing := reread.New(e, p, kept)
	return simulate.Side{Named: sideNamed(name, e), Policy: p, MissingFact: missing.Missing, Reread: missing.Again, Readers: missing.Readers,
		TimeDependent: e.TimeDependent(), Unattended: e.Settings.UnattendedModes}, nil
}

// sideNamed lists the rules and patterns of a policy that can fire. Those that settings
// disable cannot.
func sideNamed(name string, e *bundles.Effective) simulate.Named {
	n := simulate.Named{Name: name, Digest: e.Digest, Rules: []string{}, Patterns: []string{}}
	off := map[string]bool{}
	for _, entry := range catalogue.Of(e) {
		off[entry.ID] = entry.Enforcement == catalogue.Off
	}
	for _, r := range e.EffectiveRules() {
		switch {
		case off[r.ID]:
		case r.Pattern():
			n.Patterns = append(n.Patterns, r.ID)
		default:
			n.Rules = append(n.Rules, r.ID)
		}
	}
	for _, l := range e.Access() {
		n.Rules = append(n.Rules, l.FindingIDs()...)
	}
	slices.Sort(n.Rules)
	slices.Sort(n.Patterns)
	return n
}
