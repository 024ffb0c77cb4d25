// Package api defines the HTTP API of the resident process: its operations, documents and
// errors, which the server, the Go client and the OpenAPI document share.
//
// Out of scope: what an operation does (engine/serve/apiserver), and connections.
package api

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
)

// CodeHeader is the header with the approval code.
const CodeHeader = "Reviewer-Approval-Code"

// The limits of requests, in bytes and in answers.
const (
	MaxBody       = 64 << 10
	MaxBulkBody   = 512 << 10
	MaxReviewBody = 2 << 20
	MaxBulk       = 500
)

// Questions lists questions that wait, oldest first.
type Questions struct {
	Questions []approval.Request `json:"questions"` // that wait for an answer
}

// Answer is an answer to a question.
type Answer struct {
	Digest  string `json:"digest"`            // of the question that the person saw
	Approve bool   `json:"approve"`           // true: the call runs; false: it does not
	Session bool   `json:"session,omitempty"` // approve: the same call is also allowed until the session ends
	Stop    bool   `json:"stop,omitempty"`    // deny: the session is stopped as well, even if the question has another answer
	Message string `json:"message,omitempty"` // for the agent, if the call is denied, and for the log
}

// Answered is an answer that was recorded.
type Answered struct {
	ID       string `json:"id"`                // of the question
	Approved bool   `json:"approved"`          // the call runs
	Session  bool   `json:"session,omitempty"` // the same call is also allowed until the session ends
	Stopped  bool   `json:"stopped,omitempty"` // the session was stopped
	By       string `json:"by"`                // user whose code was given
}

// BulkAnswer is one of several answers.
type BulkAnswer struct {
	ID      string `json:"id"`                // of the question
	Digest  string `json:"digest"`            // of the question that the person saw
	Approve bool   `json:"approve"`           // true: the call runs; false: it does not
	Session bool   `json:"session,omitempty"` // approve: the same call is also allowed until the session ends
	Stop    bool   `json:"stop,omitempty"`    // deny: the session is stopped as well, even if the question has another answer
	Message string `json:"message,omitempty"` // for the agent, if the call is denied, and for the log
}

// Answer returns the answer without the question's id.
func (b *BulkAnswer) Answer() Answer {
	return Answer{b.Digest, b.Approve, b.Session, b.Stop, b.Message}
}

// Bulk is several answers. It covers the questions that it names and no others.
type Bulk struct {
	Answers []BulkAnswer `json:"answers"` // each to another question
}

// BulkResult is the result of one of several answers.
type BulkResult struct {
	ID       string    `json:"id"`                 // of the question
	Status   int       `json:"status"`             // as of a request with this answer alone
	Answered *Answered `json:"answered,omitempty"` // the answer was recorded
	Refused  *Error    `json:"refused,omitempty"`  // it was not
}

// BulkResults has one result for each answer, in their order.
type BulkResults struct {
	Results []BulkResult `json:"results"` // in the order of the answers
}

// Session summarises a session.
type Session struct {
	Session   string `json:"session"`             // its id, as the agent names it
	Harness   string `json:"harness"`             // name of the agent
	Workspace string `json:"workspace,omitempty"` // the agent's project folder
	Began     int64  `json:"began"`               // Unix milliseconds
	Last      int64  `json:"last"`                // of the newest record, Unix milliseconds
	Records   int64  `json:"records"`             // in its log
	Calls     int64  `json:"calls"`               // that were made
	Prompts   int64  `json:"prompts"`             // of the user
	Denied    int64  `json:"denied"`              // calls that did not run
	Asked     int64  `json:"asked"`               // calls about which a person was asked
	Stopped   string `json:"stopped,omitempty"`   // why the session was stopped; absent: it may continue
	Damaged   bool   `json:"damaged,omitempty"`   // its log cannot be read to its end
}

// Sessions lists sessions, the latest first.
type Sessions struct {
	Sessions []Session `json:"sessions"` // that the log has
}

// SessionDetail is a session and its questions.
type SessionDetail struct {
	Session   Session            `json:"session"`   // its numbers
	Questions []approval.Request `json:"questions"` // that wait for an answer
}

// Review is the decision about an event.
type Review struct {
	ID        string            `json:"id"`                  // of the event, or its number
	Decision  engine.Verdict    `json:"decision"`            // of the policy
	Enforced  engine.Verdict    `json:"enforced"`            // what an agent would be told; milder where the policy only observes
	Rules     []string          `json:"rules"`               // that fired
	Reason    string            `json:"reason,omitempty"`    // of the decision
	Error     string            `json:"error,omitempty"`     // why the event could not be reviewed
	Detail    *engine.Decision  `json:"detail,omitempty"`    // the whole decision
	Action    *engine.Action    `json:"action,omitempty"`    // what the event means
	Rewritten *engine.Rewritten `json:"rewritten,omitempty"` // for the decision modify: the modified form, or why there is none
}
