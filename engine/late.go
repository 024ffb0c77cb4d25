package engine

import "context"

// SourceAsync marks calls that were answered before their review (mode: async). The review
// follows, in a record of kind act with a LateReview.
const SourceAsync = "async"

// ActLateReview is the review of a call that was answered before it. Act.Result is its answer,
// or LateReviewFailed.
const ActLateReview = "late_review"

// LateReviewFailed means that a call that was answered before its review could not be reviewed.
// It counts as blocked.
const LateReviewFailed = "failed"

// LateReview is what a review found out about a call that had been answered before it.
type LateReview struct {
	Call     string    `json:"call,omitempty"` // as action.resource of the call, shortened
	Findings []Finding `json:"findings,omitempty"`
	Decision *Decision `json:"decision,omitempty"` // absent: the review failed
	By       *By       `json:"by,omitempty"`
	Failure  string    `json:"failure,omitempty"` // why there is no decision
}

// Answer returns what the agent would have been answered.
func (l *LateReview) Answer() Verdict {
	if l.Decision == nil {
		return Block
	}
	return l.Decision.Enforced
}

// LateFacts describes a call of the session that was answered before its review, which found
// more than the answer said.
type LateFacts struct {
	Record   string  `json:"record"`           // id of the record of the call
	Call     string  `json:"call"`             // what the call was, as action.resource, shortened
	Decision Verdict `json:"decision"`         // the answer that the review would have given; block as well if it failed
	Rule     string  `json:"rule,omitempty"`   // first of the rules that fired; absent: none did
	Reason   string  `json:"reason,omitempty"` // primary reason of the review, shortened
}

// EarlyDecider decides which calls are answered before their review.
type EarlyDecider interface {
	// DecideEarly returns the answer that is given before the review; nil: the call waits for
	// the review, which the function makes. The function may be called at any later time.
	DecideEarly(context.Context, *Input, []Finding) (early *Decision, review func(context.Context) (Decision, error))
}
