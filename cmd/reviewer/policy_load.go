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
	"github.com/agent-reviewer/reviewer/rego"
)

// activePolicy loads the policy that holds for a workspace: the one that ships,
// and the layers that there are. It is kept by its digest before it decides
// anything, so that what it decides can be computed again.
func (a *app) activePolicy(ctx context.Context, workspace string) (*engine.Policy, error) {
	home, err := a.stateHome()
	if err != nil {
		return nil, err
	}
	e, err := effectivePolicy(home, workspace)
	if err != nil {
		return nil, err
	}
	p, err := compile(ctx, e)
	if err != nil {
		return nil, err
	}
	return p, bundles.Store{Dir: filepath.Join(home, "policies")}.Put(e)
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
	matcher, err := cel.Compile(conditions(e.Rules()))
	if err != nil {
		return nil, fmt.Errorf("compile conditions: %w", err)
	}
	decider, err := rego.Compile(ctx, e.Modules(), e.Data)
	if err != nil {
		return nil, fmt.Errorf("compile policy: %w", err)
	}
	return &engine.Policy{Digest: e.Digest, Config: e.Config, Windows: e.Windows, Matcher: matcher, Decider: decider}, nil
}

// check compiles everything of a policy, also the conditions that compile makes
// only when they are first asked for, and returns all that is wrong.
func check(ctx context.Context, e *bundles.Effective) error {
	rules := map[string]bundles.Rule{}
	for _, r := range e.Rules() {
		rules[r.ID] = r
	}
	host, err := cel.Compile(conditions(e.Rules()))
	errs := []error{err}
	if host != nil {
		for _, problem := range host.Check() {
			r := rules[problem.ID]
			errs = append(errs, fmt.Errorf("%s: %w", r.Place(problem.Part, problem.Line), problem))
		}
	}
	_, err = rego.Compile(ctx, e.Modules(), e.Data)
	return errors.Join(append(errs, err)...)
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
			Signals: texts(r.Match.Signals), Commands: r.Match.Commands,
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
