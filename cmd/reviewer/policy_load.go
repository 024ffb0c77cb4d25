package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
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
	p, err := wiring.Compile(ctx, e)
	if err != nil {
		return nil, err
	}
	return p, bundles.Store{Dir: filepath.Join(log.Dir, "policies")}.Put(e)
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
	return wiring.Compile(ctx, e)
}

func layersFrom(dir string) ([]*bundles.Bundle, error) {
	if there, err := isDir(dir); err != nil || !there {
		if err == nil {
			err = fmt.Errorf("policy %s: there is no such folder", dir)
		}
		return nil, err
	}
	layers, err := layersIn(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", dir, err)
	}
	return layers, nil
}

// layersIn reads a policy wherever its files are: a whole bundle stands alone, a
// layer is laid over the policy that ships.
func layersIn(files fs.FS) ([]*bundles.Bundle, error) {
	layer, err := bundles.LayerOf(files)
	if err != nil {
		return nil, err
	}
	b, err := bundles.Load(files, layer)
	if err != nil {
		return nil, err
	}
	if layer == bundles.Base {
		return []*bundles.Bundle{b}, nil
	}
	base, err := bundles.Default()
	return []*bundles.Bundle{base, b}, err
}

// check compiles everything of a policy, also the conditions that compile makes
// only when they are first asked for, and returns all that is wrong.
func check(ctx context.Context, e *bundles.Effective) error {
	_, err := compileChecked(ctx, e)
	return err
}

// compileChecked is check for those who go on with the compiled Rego.
func compileChecked(ctx context.Context, e *bundles.Effective) (*rego.Host, error) {
	places := places(e)
	host, err := cel.Compile(wiring.AllConditions(e))
	errs := []error{err}
	if host != nil {
		for _, problem := range host.Check() {
			errs = append(errs, fmt.Errorf("%s: %w", places[problem.ID](problem.Part, problem.Line), problem))
		}
	}
	decider, err := rego.Compile(ctx, e.Modules(), e.Data)
	return decider, errors.Join(append(errs, err, checkDetectors(e))...)
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
