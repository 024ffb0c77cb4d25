package simulate

import (
	"context"
	"iter"

	"github.com/agent-reviewer/reviewer/engine"
)

// Transcribe makes records of a transcript's events, as a hook would have
// written them, without a decision: what happened, whoever judges it. Calls that
// cannot be classified are recorded as a hook does, and counted as not known.
// copied says which calls are counted in another session; nil: none.
func Transcribe(ctx context.Context, s Session, c engine.Classifier, env engine.Env, copied func(call string) bool) iter.Seq2[Moment, error] {
	return func(yield func(Moment, error) bool) {}
}
