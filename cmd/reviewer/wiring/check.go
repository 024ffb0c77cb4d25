package wiring

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/rego"
)

// Check compiles everything in a policy, including the conditions that are
// otherwise compiled on first use, and returns all problems.
func Check(ctx context.Context, e *bundles.Effective) error {
	_, err := CompileChecked(ctx, e)
	return err
}

// CompileChecked is Check, and returns the compiled Rego.
func CompileChecked(ctx context.Context, e *bundles.Effective) (*rego.Host, error) {
	var errs []error
	host, err := cel.Compile(AllConditions(e))
	if host == nil {
		errs = append(errs, located(e, cel.Problems(err))...)
	} else {
		errs = append(errs, located(e, host.Check())...)
	}
	decider, err := rego.Compile(ctx, e.Modules(), e.Data)
	return decider, errors.Join(append(errs, err, CheckDetectors(e))...)
}

// located puts file and line before each problem.
func located(e *bundles.Effective, problems []*cel.Error) (errs []error) {
	places := places(e)
	for _, problem := range problems {
		errs = append(errs, fmt.Errorf("%s: %w", places[problem.ID](problem.Part, problem.Line), problem))
	}
	return errs
}

// places returns for each condition the place of a line of its parts.
func places(e *bundles.Effective) map[string]func(part string, line int) string {
	all := map[string]func(string, int) string{}
	for _, layer := range e.Layers {
		in := func(place func(string, int) string) func(string, int) string {
			return func(part string, line int) string { return layer.Layer + "/" + place(part, line) }
		}
		for _, d := range layer.Definitions {
			all[cel.DefinitionID(d.Name)] = in(d.Place)
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
