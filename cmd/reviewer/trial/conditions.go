package trial

import (
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/cel"
)

// conditions compiles all conditions of the policy, and returns those that do not
// compile. Otherwise they are compiled on first use, and count as true if that fails:
// a case that expects such a rule to fire would pass.
func (t *trial) conditions() error {
	host, ok := t.policy.Matcher.(*cel.Host)
	if !ok {
		return nil
	}
	var wrong []error
	rows := t.spotters()
	for _, e := range host.Check() {
		at := e.ID
		if row, own := rows[e.ID]; own {
			place := t.place(row, e.Part, e.Line, e.Column)
			at = fmt.Sprintf("%s:%d:%d", place.File, place.Line, place.Col)
		}
		wrong = append(wrong, fmt.Errorf("%s: %s: %s", at, e.Part, e.Message))
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("compile conditions:\n%w", errors.Join(wrong...))
}
