package api

import "github.com/agent-reviewer/reviewer/engine/approval"

// The kinds of events.
const (
	EventOpened   = "question_opened"
	EventAnswered = "question_answered" // a person approved or denied the call
	EventExpired  = "question_expired"  // nobody answered in time
	EventEnded    = "question_ended"    // the session was stopped, or the policy or a file has changed since the approval
	EventDecision = "decision"          // an agent was answered
	EventStop     = "stop"              // a session was stopped
	EventChanged  = "installation"      // the installation has changed
	EventMissed   = "missed"            // events were left out: list the questions again
)

// EventKinds lists the kinds of events.
func EventKinds() []string {
	return []string{EventOpened, EventAnswered, EventExpired, EventEnded, EventDecision, EventStop, EventChanged, EventMissed}
}

// Event is the data of a Server-Sent Event. It contains no arguments of calls.
type Event struct {
	Kind     string         `json:"kind"`               // as the field event
	T        int64          `json:"t"`                  // Unix milliseconds
	Session  string         `json:"session,omitempty"`  // that it is about
	Harness  string         `json:"harness,omitempty"`  // name of the agent
	Question string         `json:"question,omitempty"` // id of the question
	State    approval.State `json:"state,omitempty"`    // of the question
	Until    int64          `json:"until,omitempty"`    // opened: without an answer by then the call is denied
	Decision string         `json:"decision,omitempty"` // what the agent was told
	Reason   string         `json:"reason,omitempty"`   // of a stop; what happened to the installation
}
