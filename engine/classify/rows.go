package classify

import "github.com/agent-reviewer/reviewer/engine/classify/rows"

// NewRows reads what the layers of a policy know of programs, for events to be
// read by. A row is parsed when a call needs it.
func NewRows(layers []rows.Layer) *rows.Set { return rows.New(layers) }
