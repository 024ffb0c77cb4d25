package classify

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/agent-reviewer/reviewer/engine"
)

// Rewrite returns the raw arguments of a call after the operations of a policy.
func (c *Classifier) Rewrite(context.Context, engine.Event, string, []engine.Operation) (json.RawMessage, error) {
	return nil, errors.New("calls cannot be put in another form yet")
}
