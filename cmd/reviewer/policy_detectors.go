package main

import (
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/detect"
)

// detectors makes the detectors of a policy; nil where it declares none. All
// patterns that are wrong are returned together, by file and line.
func detectors(e *bundles.Effective) (*detect.Set, error) {
	rows := e.Detectors()
	if len(rows) == 0 {
		return nil, nil
	}
	list := make([]detect.Detector, len(rows))
	byID := map[string]bundles.Detector{}
	for i, r := range rows {
		list[i] = detect.Detector{ID: r.ID, Patterns: r.All(), Tools: r.Tools, Max: r.Max}
		for _, p := range r.In {
			list[i].In = append(list[i].In, engine.Place(p))
		}
		byID[r.ID] = r
	}
	set, err := detect.New(list, classify.Places)
	return set, placed(err, byID)
}

// placed says of wrong patterns where they are written.
func placed(err error, byID map[string]bundles.Detector) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var errs []error
	for _, err := range joined.Unwrap() {
		var wrong *detect.Error
		if errors.As(err, &wrong) {
			err = fmt.Errorf("%s: %w", byID[wrong.ID].PatternPlace(wrong.Pattern), err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// useDetectors gives a policy its detectors.
func useDetectors(p *engine.Policy, e *bundles.Effective) error {
	set, err := detectors(e)
	if err != nil {
		return fmt.Errorf("compile detectors: %w", err)
	}
	if set != nil {
		p.Detector, p.Detectors = set, set.Digest
	}
	return nil
}

// checkDetectors tries the examples of all detectors.
func checkDetectors(e *bundles.Effective) error {
	set, err := detectors(e)
	if err != nil || set == nil {
		return err
	}
	var errs []error
	for i, d := range e.Detectors() {
		for j, text := range append(append([]string{}, d.Examples.Match...), d.Examples.NoMatch...) {
			switch found, should := set.Finds(i, text), j < len(d.Examples.Match); {
			case should && !found:
				errs = append(errs, fmt.Errorf("%s: detector %s does not find this example", d.ExamplePlace(j), d.ID))
			case found && !should:
				errs = append(errs, fmt.Errorf("%s: detector %s finds this example, and should not", d.ExamplePlace(j), d.ID))
			}
		}
	}
	return errors.Join(errs...)
}
