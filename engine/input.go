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
	Goal    GoalFacts    `json:"goal"`
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
	Labels       []Label          `json:"labels"`            // of all that was read so far
	Written      map[string]int64 `json:"written"`           // distinct paths that were written or deleted, or were to be, by location; what a person named counts as "named"
	Elsewhere    int64            `json:"elsewhere"`         // of Written since a person spoke last, those that lie neither in the workspace nor among temporary files; and that nobody named or agreed to
	Spread       float64          `json:"spread"`            // share of Elsewhere in Written, 0 to 1
	Deleted      int64            `json:"deleted"`           // distinct paths that were deleted and not made by the session
	Growing      []Growth         `json:"growing"`           // resources whose use grows from bin to bin
	Agents       int64            `json:"agents"`            // sub-agents that were started
	Scope        []string         `json:"scope"`             // paths that a person added to the scope
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
	Follows     []string               `json:"follows"`        // how the action lies to those before: any of contradicts, repeats, builds_on
	Presupposes []Presupposed          `json:"presupposes"`    // what the action takes for granted
	Call        *CallFacts             `json:"call,omitempty"` // what was decided before the call; post only
	Cycle       CycleFacts             `json:"cycle"`          // the same few calls over and over
	Pauses      PauseFacts             `json:"pauses"`         // what lies between the same calls
	Since       SinceFacts             `json:"since"`          // how long ago some things were
	FailedRank  int64                  `json:"failed_rank"`    // reversibility (0 to 5) of the latest action that failed
	Denials     DenialFacts            `json:"denials"`        // how long ago it was that what the action would do was denied
	Rechecks    CheckFacts             `json:"rechecks"`       // how often a check was run again after an edit of what it judges by
	CheckFailed bool                   `json:"check_failed"`   // the agent's latest check is known to have failed
	NewHosts    int64                  `json:"new_hosts"`      // hosts that the session did not contact before
	Fired       map[string]FiredFacts  `json:"fired"`          // findings with a level that earlier events had
	Last        []PastFacts            `json:"last"`           // the latest actions, oldest first; as many as policy asks for

	// What policies of earlier versions read, made of the facts above with the
	// numbers that it always had: so they load, and decide as they did.
	Progression string       `json:"progression"` // contradicts, repeats, builds_on, the first of them that is so, or explores
	Polling     bool         `json:"polling"`     // by Pauses: it waits rather than tries again
	Checks      int64        `json:"checks"`      // Rechecks.Edited
	Denied      FormerDenied `json:"denied"`      // Denials within ten actions
}

// NeverAgo is how long ago something is that never was, or that was forgotten.
const NeverAgo = 1000

// SinceFacts counts the actions since something was: 1 is the action before,
// NeverAgo never.
type SinceFacts struct {
	Failed    int64 `json:"failed"`     // an action of the agent failed; its own actions are counted
	AuthError int64 `json:"auth_error"` // …because of who asked
	News      int64 `json:"news"`       // something came up that was not known: a path, a content, a result, a prompt; of the agent's own actions those that are over
	Secret    int64 `json:"secret"`     // a credential or env file was read by any agent; the session's actions, or the agent's own where it was the one and they are fewer
	Untrusted int64 `json:"untrusted"`  // the same of something that nobody in the session wrote
	Prompt    int64 `json:"prompt"`     // a person spoke; the session's actions
}

// PauseFacts is what lies between a call that changes nothing here and the same
// call before it, of the latest three such pauses.
type PauseFacts struct {
	Waits   bool  `json:"waits"`   // the call itself sleeps before it looks
	Count   int64 `json:"count"`   // pauses that there were
	Waited  int64 `json:"waited"`  // of them, those in which another call sleeps
	Least   int64 `json:"least"`   // the shortest of the others in milliseconds; 0 where there are none
	Shrinks bool  `json:"shrinks"` // one of the others is shorter than the one before it
}

// CheckFacts counts how often a check was run again after an edit of what it
// judges by, and not of the work; the run in question included.
type CheckFacts struct {
	Edited  int64 `json:"edited"`  // of what was there before, while it failed or nobody knew
	Passing int64 `json:"passing"` // of tests, while it passed
	Own     int64 `json:"own"`     // of what the session made itself
}

// CycleFacts is a period of two calls or more that the agent goes through again
// and again, the call in question included.
type CycleFacts struct {
	Period int64 `json:"period"` // 0: none
	Times  int64 `json:"times"`
}

// DenialFacts says how long ago it was that what the action would do was denied,
// to whichever agent: in actions of the session or the agent's own, whichever are
// fewer; NeverAgo where it was not.
type DenialFacts struct {
	Same    int64 `json:"same"`    // the very same call
	Effect  int64 `json:"effect"`  // another call with an effect at least as strong on the same target, or on one that holds it; what is known by its words only is the same in the same words
	Refused int64 `json:"refused"` // the same, but a person said no to the other call

	// Harms are the same as Effect, by what the rule that denied the other call
	// named: the harms without a denial are left out, and so are calls that were
	// denied by their scores, or since nobody could be asked.
	Harms map[string]int64 `json:"harms"`
}

// FormerDenied is DenialFacts as policies of earlier versions read it.
type FormerDenied struct {
	Same    bool  `json:"same"`
	Effect  bool  `json:"effect"`
	Refused bool  `json:"refused"`
	Ago     int64 `json:"ago"` // the least of them; NeverAgo where none holds
}

// FiredFacts is when an event of the agent had a finding last, and at which
// level; and when the agent was last told so, and at which.
type FiredFacts struct {
	Ago       int64  `json:"ago"`        // the agent's actions since; NeverAgo where only others had it
	Level     string `json:"level"`      // empty where only others had it
	Told      int64  `json:"told"`       // the agent's actions since it was told what the rule of that id says; NeverAgo where it was not
	ToldLevel string `json:"told_level"` // empty where it did not
	Times     int64  `json:"times"`      // events of the whole session that had it
}

// PastFacts is an earlier action in brief.
type PastFacts struct {
	Types   []Type  `json:"types"`
	Tool    string  `json:"tool"`
	Target  string  `json:"target"` // path or host that it was mostly about
	Outcome Outcome `json:"outcome"`
	Error   string  `json:"error"` // class of its error
	Trouble Trouble `json:"trouble,omitempty"`
	Check   bool    `json:"check"`
	Ago     int64   `json:"ago"` // milliseconds before this event
}

// Growth is the use of a resource that grew over the last bins, of a few actions
// each.
type Growth struct {
	Resource string    `json:"resource"` // one of Resources
	Last     int64     `json:"last"`     // in the newest full bin
	Bins     int64     `json:"bins"`     // how many bins it grew in, without a break
	Ratios   []float64 `json:"ratios"`   // of each of them to the one before, oldest first
	Growth   float64   `json:"growth"`   // their mean; read by policies of earlier versions
	Fit      float64   `json:"fit"`      // the share of them that is above one and a half; as Growth
}

// Restraint is a Constraint, and whether an action has to do with it.
type Restraint struct {
	Kind    ConstraintKind `json:"kind"`
	What    string         `json:"what,omitempty"`
	Touched bool           `json:"touched"` // the action changes, deletes or sends something of What; of anything where What is absent
	Later   []Intent       `json:"later"`   // what prompts asked for since it was said, sorted
}

// GoalFacts is what people said they want, and how the action lies to it.
type GoalFacts struct {
	Known       bool        `json:"known"`       // a prompt said something that actions can be compared with
	Intents     []Intent    `json:"intents"`     // of the latest prompt that has any
	Names       int64       `json:"names"`       // paths, files and identifiers that people named so far, of those that are kept
	Named       bool        `json:"named"`       // the action touches something that a person named
	Words       float64     `json:"words"`       // share of the action's words that people used, 0 to 1
	Constraints []Restraint `json:"constraints"` // of all prompts so far, that were not taken back
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
	Errors    map[string]int64 `json:"errors"`              // by error class
	MaxErrors int64            `json:"max_errors"`          // the largest of Errors
	Distinct  int64            `json:"distinct"`            // distinct fingerprints
	Same      int64            `json:"same"`                // times the call was made and is not running any more, itself included, as long as no other result is known and the agent changed nothing in between
	InFlight  int64            `json:"in_flight,omitempty"` // of the same calls, those that are still running
	SameError int64            `json:"same_error"`          // times the event's error class came up, itself included; 0: no error
	Missing   int64            `json:"missing"`             // references to what does not exist and nothing made, the action's own included
	Edits     int64            `json:"edits"`               // actions that write or delete files and were not denied
	Places    int64            `json:"places"`              // distinct folders
	Returns   int64            `json:"returns"`             // times a folder was come back to
	Goals     int64            `json:"goals"`               // actions while a goal was known
	Named     int64            `json:"named"`               // of them, those that touch something a person named
	Words     float64          `json:"words"`               // mean share of their words that people used
	WordsTend float64          `json:"words_tend"`          // the same of the newer half less that of the older
}

// Window names a stretch of history. Exactly one of Last and For is set.
type Window struct {
	Name string
	Last int           // events
	For  time.Duration // by event time
}

// View says how much of the history a policy sees.
type View struct {
	Windows []Window
	Last    int     // of HistoryFacts.Last, at most MaxLast
	Similar float64 // share of common words from which calls are similar; 0: DefaultSimilar
}

// DefaultSimilar is the share of common words from which calls are similar where
// a policy does not say.
const DefaultSimilar = 0.85

// MaxLast is how many earlier actions a policy can see one by one.
const MaxLast = 20

// Weekdays lists the weekdays as Input spells them, in Go's order.
func Weekdays() []string {
	return []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
}

// Round6 rounds a measure to 1e-6, the precision at which findings are compared.
func Round6(f float64) float64 { return math.Round(f*1e6) / 1e6 }

// Resources lists what a session's use is counted of.
func Resources() []string { return []string{"bytes", "files", "agents", "output", "time"} }

// AnswerCounts counts what people said in a session. Questions that were
// answered with yes and denials that were overruled are false positives.
type AnswerCounts struct {
	Asked     int64 `json:"asked"`     // calls that were answered with a question
	Approved  int64 `json:"approved"`  // of them, those that ran: inferred
	Refused   int64 `json:"refused"`   // of them, those that did not run by the next prompt or stop: inferred
	Overruled int64 `json:"overruled"` // times that a person allowed a call in a terminal
}

// How long a call is allowed, as SessionFacts.Allowed has it.
const (
	AllowedOnce    = "once"
	AllowedSession = "session"
)

// How an action can lie to those before, as HistoryFacts.Follows has it.
const (
	FollowsContradicts = "contradicts" // undoes what the session did
	FollowsRepeats     = "repeats"     // is made again, and nothing came in between
	FollowsBuildsOn    = "builds_on"   // uses what an earlier action touched
)
