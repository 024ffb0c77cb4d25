package engine

import (
	"math"
	"time"
)

// Input is all that policy may see. Every bit of it is determined by the log:
// the record's facts, its time, and the history before it through the windows
// that policy declares.
type Input struct {
	Phase   Phase        `json:"phase"`
	Harness string       `json:"harness"`
	Agent   string       `json:"agent"`
	Facts   []string     `json:"facts"` // sorted; see FactNames
	Event   EventFacts   `json:"event"`
	Action  Action       `json:"action"`
	Time    TimeFacts    `json:"time"`
	Session SessionFacts `json:"session"`
	History HistoryFacts `json:"history"`
}

// TimeFacts is the event's time, UTC.
type TimeFacts struct {
	MS      int64  `json:"ms"`      // Unix milliseconds
	Hour    int64  `json:"hour"`    // 0 to 23
	Minute  int64  `json:"minute"`  // 0 to 59
	Weekday string `json:"weekday"` // monday to sunday
}

// SessionFacts is the state of the whole session, over all its agents.
type SessionFacts struct {
	Workspace    string           `json:"workspace"`
	Stopped      bool             `json:"stopped"`
	StopReason   string           `json:"stop_reason,omitempty"`
	StopBy       string           `json:"stop_by,omitempty"`
	Actions      int64            `json:"actions"`           // calls reviewed before this one
	Prompts      int64            `json:"prompts"`           // prompts so far
	FileOps      int64            `json:"file_ops"`          // writes and deletions since the last prompt, this action's included
	Denials      int64            `json:"denials"`           // calls denied so far
	DeniedInRow  int64            `json:"denied_in_row"`     // calls denied since the last one that was not
	SecretsRead  bool             `json:"secrets_read"`      // a credential or env file was read
	Allowed      string           `json:"allowed,omitempty"` // a person allowed this very call: once, session
	AllowedBy    string           `json:"allowed_by,omitempty"`
	Answers      AnswerCounts     `json:"answers"` // what people said so far
	CountsByType map[string]int64 `json:"counts_by_type"`
}

// HistoryFacts is what came before, as far as it bears on this action.
type HistoryFacts struct {
	Windows     map[string]WindowFacts `json:"windows"`        // by the names that policy declares
	Similar     SimilarFacts           `json:"similar"`        // earlier actions like this one
	FirstTime   bool                   `json:"first_time"`     // no earlier action of the same type and target class
	Progression string                 `json:"progression"`    // builds_on, explores, repeats, contradicts
	Presupposes []Presupposed          `json:"presupposes"`    // what the action takes for granted
	Call        *CallFacts             `json:"call,omitempty"` // what was decided before the call; post only
}

// SimilarFacts counts earlier actions of the same agent with the same type and
// target, or whose arguments share 85 % of their words.
type SimilarFacts struct {
	Count  int64 `json:"count"`
	Failed int64 `json:"failed"`
}

// Presupposed is something that an action takes for granted.
type Presupposed struct {
	What string `json:"what"` // read_before_edit, earlier_step_succeeded
	Met  bool   `json:"met"`
}

// CallFacts is what was decided before a call that is now over.
type CallFacts struct {
	Decision        Verdict `json:"decision"`
	Enforced        Verdict `json:"enforced"`
	ExecutedDiffers bool    `json:"executed_differs"` // other arguments ran than those that were approved
}

// WindowFacts counts over the last events of one agent.
type WindowFacts struct {
	Events    int64            `json:"events"`
	Failed    int64            `json:"failed"`
	Denied    int64            `json:"denied"`
	ByType    map[string]int64 `json:"by_type"`
	Errors    map[string]int64 `json:"errors"`     // by error class
	MaxErrors int64            `json:"max_errors"` // the largest of Errors
	Distinct  int64            `json:"distinct"`   // distinct fingerprints
}

// Window names a stretch of history. Exactly one of Last and For is set.
type Window struct {
	Name string
	Last int           // events
	For  time.Duration // by event time
}

// Weekdays lists the weekdays as Input spells them, in Go's order.
func Weekdays() []string {
	return []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
}

func timeFacts(ms int64) TimeFacts {
	t := time.UnixMilli(ms).UTC()
	return TimeFacts{MS: ms, Hour: int64(t.Hour()), Minute: int64(t.Minute()), Weekday: Weekdays()[t.Weekday()]}
}

// NewInput joins a record's facts with the history before it. The record needs
// its facts, phase and time; history is not changed.
func NewInput(r *Record, h *History, windows []Window) Input {
	in := Input{
		Phase: r.Phase, Harness: r.Harness, Agent: agentOf(r),
		Time: timeFacts(r.T), Action: emptyAction(),
	}
	if r.Event != nil {
		in.Event = *r.Event
	}
	if r.Action != nil {
		in.Action = h.join(*r.Action)
	}
	in.Session = h.sessionFacts(r)
	in.History = h.facts(r, in.Action, windows)
	in.Facts = in.facts()
	return in
}

// emptyAction has no nil lists: policy can count and iterate without asking.
func emptyAction() Action {
	return Action{
		Types: []Type{}, Commands: []Command{}, Paths: []string{}, Hosts: []string{},
		Effects: []Effect{}, Signals: []Signal{}, Opaque: []Opaque{},
	}
}

// Round6 rounds a measure to 1e-6, the precision at which findings are compared.
func Round6(f float64) float64 { return math.Round(f*1e6) / 1e6 }
