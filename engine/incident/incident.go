// Package incident derives incidents from the records of a session: what stopped it,
// what came before, what was changed, and what a person can do now.
//
// An incident is a view of the log. The record of the decision that stopped a session
// opens it, and its id is that record's id; the control record of a person closes it.
// So nothing is stored besides the log, and an incident lives as long as the log does.
//
// Out of scope: reading the log, which policy is active, and how a report looks.
package incident

import (
	"github.com/agent-reviewer/reviewer/engine"
)

// State is the state of an incident.
type State string

// The states of an incident.
const (
	Open   State = "open"   // no person has closed it
	Closed State = "closed" // a person has
)

// Incident is an emergency stop that the policy chose, with its report. Every text in
// it is masked as in the log.
type Incident struct {
	ID        string           `json:"id"` // of the record whose decision stopped the session
	State     State            `json:"state"`
	Summary   string           `json:"summary"`
	Severity  string           `json:"severity"` // low, medium, high or critical: the worst that the rule or pattern reached
	Session   string           `json:"session"`
	Harness   string           `json:"harness"`
	Agent     string           `json:"agent"` // that made the call: main, or the id of a sub-agent
	Workspace string           `json:"workspace,omitempty"`
	Time      string           `json:"time"`              // of the stop, RFC 3339 in UTC
	Began     string           `json:"began"`             // of the first sign of its cause
	Duration  int64            `json:"duration_ms"`       // milliseconds between the two
	Stopped   bool             `json:"stopped"`           // the session is still stopped
	Resumed   *Choice          `json:"resumed,omitempty"` // who resumed it
	Closed    *Choice          `json:"closed,omitempty"`  // who closed the incident
	Cause     Cause            `json:"cause"`
	Factors   []Factor         `json:"factors"`         // what contributed, the most important first
	Impact    Impact           `json:"impact"`          // of the session until the stop
	Timeline  []*TimelineEntry `json:"timeline"`        // the last actions before the stop, and the one that was stopped
	Earlier   int64            `json:"earlier"`         // actions before the first one of the timeline
	Rules     []string         `json:"rules,omitempty"` // rules and patterns that fired until the stop, the most frequent first
	Advice    Recommendation   `json:"recommendations"`

	at int64 // Unix milliseconds of the stop
}

// At returns when the session was stopped, in Unix milliseconds.
func (i *Incident) At() int64 { return i.at }

// Vocabulary returns the values that an incident's field may have; nil: any.
func (Incident) Vocabulary(field string) []string {
	if field == "state" {
		return []string{string(Open), string(Closed)}
	}
	return nil
}

// Choice is a person's choice about an incident.
type Choice struct {
	Time   string `json:"time"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	Record string `json:"record"` // its id
}

// Cause is the root cause: why the policy stopped the session, and the records that show it.
type Cause struct {
	Issue    string   `json:"issue"`             // rule or pattern
	Reason   string   `json:"reason"`            // why the session was stopped
	Message  string   `json:"message,omitempty"` // of the rule, about the last call
	Level    string   `json:"level,omitempty"`   // that the pattern reached
	Details  string   `json:"details,omitempty"` // of the pattern
	Harm     string   `json:"harm,omitempty"`    // what the call would have done
	Call     string   `json:"call,omitempty"`    // the call that was stopped
	Evidence []string `json:"evidence"`          // ids of records, the first sign first
}

// FactorKind is the kind of something that contributed to an incident.
type FactorKind string

// The kinds of factors.
const (
	FactorIntervention FactorKind = "intervention" // an earlier one about the issue did not help
	FactorDenials      FactorKind = "denials"      // denials in a row before the stop
	FactorErrors       FactorKind = "errors"       // calls that failed in a row before the stop
	FactorPattern      FactorKind = "pattern"      // another pattern was found
	FactorWarnings     FactorKind = "warnings"     // a rule warned, and the agent continued
	FactorRefused      FactorKind = "refused"      // a person refused a call
	FactorDegraded     FactorKind = "degraded"     // calls could not be reviewed
)

// FactorKinds lists every FactorKind.
func FactorKinds() []string {
	return []string{string(FactorIntervention), string(FactorDenials), string(FactorErrors), string(FactorPattern), string(FactorWarnings),
		string(FactorRefused), string(FactorDegraded)}
}

// Factor is something that contributed to an incident.
type Factor struct {
	Kind    FactorKind `json:"kind"`
	Text    string     `json:"text"`
	Records []string   `json:"records"` // ids of those that show it; at most 8
}

// Vocabulary returns the values that a factor's field may have; nil: any.
func (Factor) Vocabulary(field string) []string {
	if field == "kind" {
		return FactorKinds()
	}
	return nil
}

// Impact is what the session did until it was stopped. A call counts if it was
// allowed, and one that a person was asked about if it ran.
type Impact struct {
	Calls     int64    `json:"calls"`
	Denied    int64    `json:"denied"`
	Asked     int64    `json:"asked"`
	Failed    int64    `json:"failed"`
	Prompts   int64    `json:"prompts"`
	Requests  int64    `json:"requests"`  // calls that contact other machines
	Agents    int64    `json:"agents"`    // sub-agents that were started
	System    int64    `json:"system"`    // effects on the system beyond files
	Busy      int64    `json:"busy_ms"`   // milliseconds that calls took, as far as the agent reports them
	Span      int64    `json:"span_ms"`   // milliseconds from the start of the session to the stop
	Written   int64    `json:"written"`   // distinct paths that were written
	Deleted   int64    `json:"deleted"`   // distinct paths that were deleted
	Files     []Path   `json:"files"`     // the latest of them; at most 100
	Hosts     []string `json:"hosts"`     // other machines that were contacted; at most 50
	Processes []string `json:"processes"` // what keeps running; at most 50
}

// Path is a file or folder that was changed.
type Path struct {
	Path    string               `json:"path"`
	Written int64                `json:"written,omitempty"` // number of calls that wrote it
	Deleted int64                `json:"deleted,omitempty"`
	Undo    engine.Reversibility `json:"undo,omitempty"` // the worst of its effects: R0 nothing to undo, to R5 never; absent: unknown
	Outside bool                 `json:"outside,omitempty"`
}

// TimelineEntry is an action, a prompt or a choice in the timeline.
type TimelineEntry struct {
	ID      string         `json:"id"`
	Time    string         `json:"time"`
	Before  int64          `json:"before_ms"` // milliseconds before the stop
	Kind    engine.Kind    `json:"kind"`      // pre: a call; prompt, control
	Agent   string         `json:"agent"`
	What    string         `json:"what"`
	Answer  engine.Verdict `json:"answer,omitempty"`
	Outcome engine.Outcome `json:"outcome,omitempty"`
	Rules   []string       `json:"rules,omitempty"`
	Done    string         `json:"intervention,omitempty"` // kind of intervention
	Trouble string         `json:"error,omitempty"`        // class of the error

	at   int64
	call [2]string
}

// Recommendation is an action that a person can take.
type Recommendation struct {
	Immediate     []string       `json:"immediate"`     // now
	Preventive    []string       `json:"preventive"`    // how to prevent it in the future
	Configuration map[string]any `json:"configuration"` // settings for a policy layer that would have intervened earlier; may be empty
}
