package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/rego"
)

// activePolicy loads the policy that holds for a workspace: the one that ships,
// and the layers that there are. It is kept by its digest before it decides
// anything, so that what it decides can be computed again.
func (a *app) activePolicy(ctx context.Context, workspace string) (*engine.Policy, error) {
	log, err := a.openStore()
	if err != nil {
		return nil, err
	}
	return livePolicy(ctx, log, workspace)
}

// livePolicy is activePolicy, and has the log kept as the settings say. Where
// there is no policy nobody knows how long, and nothing of the log is deleted.
func livePolicy(ctx context.Context, log *audit.Store, workspace string) (*engine.Policy, error) {
	log.Keep = true
	e, err := effectivePolicy(log.Dir, workspace)
	if err != nil {
		return nil, err
	}
	keepLog(log, e.Settings)
	p, err := compile(ctx, e)
	if err != nil {
		return nil, err
	}
	return p, bundles.Store{Dir: filepath.Join(log.Dir, "policies")}.Put(e)
}

func effectivePolicy(home, workspace string) (*bundles.Effective, error) {
	base, err := bundles.Default()
	if err != nil {
		return nil, err
	}
	layers := []*bundles.Bundle{base}
	for _, layer := range bundles.Layers()[1:] {
		b, err := loadLayer(layer, layerDir(layer, home, workspace))
		if err != nil {
			return nil, err
		}
		if b != nil {
			layers = append(layers, b)
		}
	}
	return bundles.Assemble(layers...)
}

func loadLayer(layer, dir string) (*bundles.Bundle, error) {
	if dir == "" {
		return nil, nil
	}
	there, err := isDir(dir)
	if err != nil || !there {
		return nil, err
	}
	b, err := bundles.Load(os.DirFS(dir), layer)
	if err != nil {
		return nil, fmt.Errorf("%s policy in %s: %w", layer, dir, err)
	}
	return b, nil
}

// policyFrom loads the one policy that --policy names: a whole bundle replaces
// the one that ships, a layer is laid over it.
func policyFrom(ctx context.Context, dir string) (*engine.Policy, error) {
	layers, err := layersFrom(dir)
	if err != nil {
		return nil, err
	}
	e, err := bundles.Assemble(layers...)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", dir, err)
	}
	return compile(ctx, e)
}

func layersFrom(dir string) ([]*bundles.Bundle, error) {
	if there, err := isDir(dir); err != nil || !there {
		if err == nil {
			err = fmt.Errorf("policy %s: there is no such folder", dir)
		}
		return nil, err
	}
	layer, err := bundles.LayerOf(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", dir, err)
	}
	b, err := bundles.Load(os.DirFS(dir), layer)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", dir, err)
	}
	if layer == bundles.Base {
		return []*bundles.Bundle{b}, nil
	}
	base, err := bundles.Default()
	return []*bundles.Bundle{base, b}, err
}

// compile makes a policy of its files.
func compile(ctx context.Context, e *bundles.Effective) (*engine.Policy, error) {
	matcher, err := cel.Compile(allConditions(e))
	if err != nil {
		return nil, fmt.Errorf("compile conditions: %w", err)
	}
	compileRego := rego.Compile
	if e.Shipped() {
		compileRego = rego.CompileKnown
	}
	decider, err := compileRego(ctx, e.Modules(), e.Data)
	if err != nil {
		return nil, fmt.Errorf("compile policy: %w", err)
	}
	p := &engine.Policy{Digest: e.Digest, Config: e.Config, Windows: e.Windows, Matcher: matcher, Decider: decider}
	if err := useDetectors(p, e); err != nil {
		return nil, err
	}
	return p, nil
}

// check compiles everything of a policy, also the conditions that compile makes
// only when they are first asked for, and returns all that is wrong.
func check(ctx context.Context, e *bundles.Effective) error {
	places := places(e)
	host, err := cel.Compile(allConditions(e))
	errs := []error{err}
	if host != nil {
		for _, problem := range host.Check() {
			errs = append(errs, fmt.Errorf("%s: %w", places[problem.ID](problem.Part, problem.Line), problem))
		}
	}
	_, err = rego.Compile(ctx, e.Modules(), e.Data)
	return errors.Join(append(errs, err, checkDetectors(e))...)
}

// places says of each condition where a line of one of its parts is written.
func places(e *bundles.Effective) map[string]func(part string, line int) string {
	all := map[string]func(string, int) string{}
	for _, layer := range e.Layers {
		in := func(place func(string, int) string) func(string, int) string {
			return func(part string, line int) string { return layer.Layer + "/" + place(part, line) }
		}
		for _, r := range layer.Rules {
			all[r.ID] = in(r.Place)
		}
		for _, l := range layer.Access {
			for _, r := range l.Rules {
				all[l.FindingID(r.ID)] = in(r.Place)
			}
		}
	}
	return all
}

// allConditions lists the conditions of rules and of access lists.
func allConditions(e *bundles.Effective) []cel.Condition {
	all := conditions(e.Rules())
	for _, l := range e.Access() {
		all = append(all, accessConditions(l)...)
	}
	return all
}

// accessConditions makes a list of the conditions of an access list: only the
// first that holds is found.
func accessConditions(l bundles.AccessList) []cel.Condition {
	out := make([]cel.Condition, len(l.Rules))
	for i, r := range l.Rules {
		m := cel.Match{Phases: []string{string(engine.PhasePre)}, Actions: r.Actions, Tools: r.Tools, Before: r.Expires()}
		if s := r.Schedule; s != nil {
			m.Hours, m.Weekdays = s.Hours, s.Weekdays
		}
		out[i] = cel.Condition{ID: l.FindingID(r.ID), When: r.When, Match: m, List: l.ID, Order: i}
	}
	return out
}

// conditions takes from the rules those that say when they hold. The others
// are spoken for in Rego.
func conditions(rules []bundles.Rule) []cel.Condition {
	var out []cel.Condition
	for _, r := range rules {
		if !r.Conditional() {
			continue
		}
		c := cel.Condition{ID: r.ID, When: r.When, Measure: r.Measure, Match: cel.Match{
			Phases: texts(r.Match.Phases), Tools: r.Match.Tools, Types: texts(r.Match.Types),
			Signals: texts(r.Match.Signals), Commands: r.Match.Commands, Actions: r.Match.Actions, Detected: r.Match.Detected,
		}}
		if r.Threshold != nil {
			c.Threshold = *r.Threshold
		}
		for _, l := range r.Levels {
			c.Levels = append(c.Levels, cel.Level{At: l.At, Level: string(l.Level)})
		}
		out = append(out, c)
	}
	return out
}

func texts[S ~string](list []S) []string {
	var out []string
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}
