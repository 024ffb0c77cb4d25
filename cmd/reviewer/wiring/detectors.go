package wiring

import (
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/bundles"
)

// CheckDetectors tries the examples of all detectors.
func CheckDetectors(e *bundles.Effective) error {
	set, err := Detectors(e)
	if err != nil || set == nil {
		return err
	}
	var errs []error
	for i, d := range e.Detectors() {
		for j, text := range append(append([]string{}, d.Examples.Match...), d.Examples.NoMatch...) {
			switch found, should := set.Finds(i, text), j < len(d.Examples.Match); {
			case should && !found:
				errs = append(errs, fmt.Errorf("%s: detector %s does not match this example", d.ExamplePlace(j), d.ID))
			case found && !should:
				errs = append(errs, fmt.Errorf("%s: detector %s matches this example, but should not", d.ExamplePlace(j), d.ID))
			}
		}
	}
	return errors.Join(errs...)
}
