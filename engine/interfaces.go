package engine

import (
	"context"
	"encoding/json"
)

// Classifier determines what an event means, relative to the session's workspace, and modifies
// calls.
type Classifier interface {
	Classify(ctx context.Context, e Event, workspace string) (Facts, error)
	// Rewrite returns the call's raw arguments after the operations. An error
	// names the operation that does not fit the call.
	Rewrite(ctx context.Context, e Event, workspace string, ops []Operation) (json.RawMessage, error)
	// Mask masks secrets in a text that is not part of the facts, such as an error.
	Mask(text string) string
}

// Matcher evaluates the conditions of a policy (CEL). An expression that fails
// is a Finding with an Error; an error means that no condition could be
// evaluated.
type Matcher interface {
	Match(context.Context, *Input) ([]Finding, error)
}

// Decider decides (Rego). A rule that fails is listed in Decision.Errors and
// its strictest outcome is assumed; an error means that there is no decision.
type Decider interface {
	Decide(context.Context, *Input, []Finding) (Decision, error)
}

// Detector searches the raw texts of a call for the patterns that policy declares, so that policy
// can judge contents that it cannot read. It returns the number of matches by id; nil: none.
type Detector interface {
	Detect(Event) map[string]int64
}

// EarlyDecider decides which calls are answered before their review.
type EarlyDecider interface {
	// DecideEarly returns the answer that is given before the review; nil: the call waits for
	// the review, which the function makes. The function may be called at any later time.
	DecideEarly(context.Context, *Input, []Finding) (early *Decision, review func(context.Context) (Decision, error))
}

// Place is the part of a call in which a detector searches a string.
type Place string

// The places. Before a call there are arguments and contents, after it results.
const (
	PlaceArguments Place = "arguments" // texts of the tool's input other than contents: commands, paths, queries
	PlaceContents  Place = "contents"  // texts that the tool writes, sends or passes on
	PlaceResults   Place = "results"   // results, errors included
)

// Places lists every Place.
func Places() []string {
	return []string{string(PlaceArguments), string(PlaceContents), string(PlaceResults)}
}

// Limits of what detectors may report, since a record's line is limited.
const (
	MaxDetected   = 12 // ids in one record
	MaxDetectorID = 40 // bytes of an id
)
