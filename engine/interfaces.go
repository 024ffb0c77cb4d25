package engine

import (
	"context"
	"encoding/json"
)

// Classifier says what an event means, seen from the session's workspace, and
// puts a call in another form.
type Classifier interface {
	Classify(ctx context.Context, e Event, workspace string) (Facts, error)
	// Rewrite returns the call's raw arguments after the operations. An error
	// says which of them does not fit the call.
	Rewrite(ctx context.Context, e Event, workspace string, ops []Operation) (json.RawMessage, error)
}

// Matcher evaluates the conditions of a policy (CEL). An expression that fails
// is a Finding with an Error; an error means that nothing can be said.
type Matcher interface {
	Match(context.Context, *Input) ([]Finding, error)
}

// Decider judges (Rego). A rule that fails is listed in Decision.Errors and its
// worst outcome taken; an error means that nothing can be said.
type Decider interface {
	Decide(context.Context, *Input, []Finding) (Decision, error)
}

// Detector looks for what policy declares in the raw texts of a call, so that
// policy can judge contents that it never sees. It returns how often each was
// found, by id; nil: nothing was.
type Detector interface {
	Detect(Event) map[string]int64
}
