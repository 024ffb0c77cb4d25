package engine

import (
	"math"
	"time"
)

// Input is everything that policy may see. All of it is determined by the log:
// the record's facts, its time, and the history before it in the windows that
// policy declares.
type Input struct {
	Phase   Phase         `json:"phase"`             // phase of the session in which the event happened; only in pre can a call be kept from running
	Harness string        `json:"harness"`           // coding agent in use: claude-code, codex, …
	Agent   string        `json:"agent"`             // name of the agent that makes the call: main, or the id of a sub-agent
	Facts   []string      `json:"facts"`             // names of facts about the event that rows can match cheaply (match.facts), sorted
	Kinds   []string      `json:"kinds"`             // kinds of the action's effects, sorted: testing them first keeps a rule cheap
	Verbs   []string      `json:"verbs"`             // verbs of the action's effects, sorted
	Event   EventFacts    `json:"event"`             // what the agent reported: tool and arguments before a call, the result after it
	Action  Action        `json:"action"`            // what the call would do; empty for events without a call
	Time    TimeFacts     `json:"time"`              // time of the event, in UTC
	Session SessionFacts  `json:"session"`           // state of the whole session, over all its agents
	Goal    GoalFacts     `json:"goal"`              // what people asked for and forbade, and how the action relates to it
	History HistoryFacts  `json:"history"`           // earlier events, as far as they matter for this action
	Request *RequestFacts `json:"request,omitempty"` // call that the agent is about to ask a person about; phase request only
}

// TimeFacts is the event's time, UTC.
type TimeFacts struct {
	MS      int64  `json:"ms"`      // Unix time in milliseconds
	Hour    int64  `json:"hour"`    // hour, 0 to 23
	Minute  int64  `json:"minute"`  // minute, 0 to 59
	Weekday string `json:"weekday"` // day of the week
}

// SessionFacts is the state of the whole session, over all its agents.
type SessionFacts struct {
	Workspace    string `json:"workspace"`               // project folder, fixed when the session begins; empty: unknown
	Stopped      bool   `json:"stopped"`                 // a person or the policy stopped the session
	StopReason   string `json:"stop_reason,omitempty"`   // why it was stopped
	StopBy       string `json:"stop_by,omitempty"`       // who stopped it
	StopUnsigned bool   `json:"stop_unsigned,omitempty"` // nobody signed the stop, so its reason and its author are unknown
	StopRule     string `json:"stop_rule,omitempty"`     // rule or pattern that led to the stop; absent: a person or another session did
	StopHarm     string `json:"stop_harm,omitempty"`     // harm named by the rule that denied the call at which the session was stopped
	StopMS       int64  `json:"stop_ms,omitempty"`       // how long ago it was stopped, in milliseconds
	StopHeard    bool   `json:"stop_heard,omitempty"`    // a person has written to the agent since, and was told
	Aborted      bool   `json:"aborted,omitempty"`       // a person permanently ended the session; it is stopped as well
	Resumed      string `json:"resumed,omitempty"`       // conditions under which a person resumed it: limits, supervise; absent: none
	Restored     bool   `json:"restored,omitempty"`      // a person restored files to a checkpoint since the last call
	// The latest call that was answered before its review (mode: async), if the review was stricter
	// than the answer and no later call has reported that yet.
	Late        *LateFacts `json:"late,omitempty"`
	Actions     int64      `json:"actions"`       // calls reviewed before this one
	Prompts     int64      `json:"prompts"`       // prompts so far
	FileOps     int64      `json:"file_ops"`      // writes and deletions since the last prompt, including this action's
	Bytes       int64      `json:"bytes"`         // bytes written since the last prompt, as far as known; including this action's
	Tokens      int64      `json:"tokens"`        // tokens that the model wrote since the last prompt, as far as they are known
	Busy        int64      `json:"busy"`          // time that calls took since the last prompt, in milliseconds; excluding messages and sub-agents
	TasksDone   int64      `json:"tasks_done"`    // entries of the agent's own list of sub-tasks that are done
	TasksOpen   int64      `json:"tasks_open"`    // entries of that list that are not done
	Denials     int64      `json:"denials"`       // calls denied so far
	DeniedInRow int64      `json:"denied_in_row"` // calls denied since the last one that was not
	SecretsRead bool       `json:"secrets_read"`  // a credential or env file was read
	Labels      []Label    `json:"labels"`        // labels of everything that was read so far
	// Number of distinct paths written or deleted, including this action's,
	// by location; paths that a person named count as "named".
	Written map[string]int64 `json:"written"`
	// Distinct paths written or deleted since the last prompt that are neither in
	// the workspace nor temporary, and that nobody named or approved.
	Elsewhere    int64            `json:"elsewhere"`
	Spread       float64          `json:"spread"`               // share of the paths in `written` that `elsewhere` counts too, 0 to 1
	Deleted      int64            `json:"deleted"`              // distinct deleted paths that the session had not created
	Growing      []Growth         `json:"growing"`              // resources whose use grows steadily
	Agents       int64            `json:"agents"`               // sub-agents started
	Scope        []string         `json:"scope"`                // paths that a person added to the scope
	Allowed      string           `json:"allowed,omitempty"`    // once or session: a person allowed this very call
	AllowedBy    string           `json:"allowed_by,omitempty"` // who allowed it
	Answers      AnswerCounts     `json:"answers"`              // what people answered so far
	CountsByType map[string]int64 `json:"counts_by_type"`       // calls so far, by type
	// What the session started without waiting for it, and lists of processes
	// that it saw; the latest 12.
	Started []StartedFacts `json:"started,omitempty"`
	// Containers and databases that the session made and that are still there, as far as its log shows; the
	// latest 8.
	Made []Made `json:"made,omitempty"`
	// Names of remotes that the session added or redirected; the latest 8.
	Remotes []string `json:"remotes,omitempty"`
	// Interventions in the session so far, oldest first; the latest 16.
	Interventions []InterventionFacts `json:"interventions,omitempty"`
	// Checkpoints of the session, oldest first: the first one and the latest 7.
	Checkpoints []CheckpointState `json:"checkpoints,omitempty"`
	// Harms of the latest denials of denied_in_row, oldest first, back to the last
	// one that named no harm.
	DeniedHarms []string `json:"denied_harms,omitempty"`
	// Denials so far by the harm that their rule names, or limit where it is a limit. Records of earlier
	// versions count with the words of their time.
	DeniedBy map[string]int64 `json:"denied_by,omitempty"`
}

// HistoryFacts is the earlier history, as far as it bears on this action.
type HistoryFacts struct {
	// Counts over windows of the history, by the names in the setting windows
	// (recent, short, five_minutes) and metrics.
	Windows     map[string]WindowFacts `json:"windows"`
	Similar     SimilarFacts           `json:"similar"`        // earlier actions similar to this one
	FirstTime   bool                   `json:"first_time"`     // no earlier action had the same type and target class
	Follows     []string               `json:"follows"`        // how the action relates to earlier ones
	Presupposes []Precondition         `json:"presupposes"`    // preconditions of the action
	Call        *CallFacts             `json:"call,omitempty"` // what was decided before the call; phase post only
	Cycle       CycleFacts             `json:"cycle"`          // repetition of the same few calls
	Pauses      PauseFacts             `json:"pauses"`         // latest three pauses between calls identical to this one, this call included
	// How many actions ago certain things happened: 1 is the previous action;
	// 1000: never.
	Since      SinceFacts `json:"since"`
	FailedRank int64      `json:"failed_rank"` // reversibility (0 to 5) of the latest action that failed
	// Milliseconds since the call with which the run-up to this event began, by event time.
	// It began with the first of the agent's latest 10 calls that failed or was
	// denied or, if there was none, with the first of the ten.
	Began int64 `json:"began"`
	// How many actions ago something that the action would do was denied; 1000: never.
	Denials     DenialFacts `json:"denials"`
	Rechecks    CheckFacts  `json:"rechecks"`     // how often a check was run again after its own inputs were edited
	CheckFailed bool        `json:"check_failed"` // the agent's latest check is known to have failed
	// Calls of the agent in its current turn that were not denied, this one included;
	// 0 where the agent does not report turns.
	Turn     int64                 `json:"turn"`
	NewHosts int64                 `json:"new_hosts"` // hosts that the session had not contacted before
	Fired    map[string]FiredFacts `json:"fired"`     // findings with a level in earlier events, by id
	// Latest actions one by one, oldest first; the setting history.last is their number.
	Last []PastFacts `json:"last"`
	// Facts of the session that event.says is compared with; present together with event.says.
	Claims *ClaimFacts `json:"claims,omitempty"`

	// Fields that policies of earlier versions read, derived from the facts
	// above with the numbers that applied then, so that these policies load and
	// decide as before.
	Progression string       `json:"progression"` // first of contradicts, repeats, builds_on that applies, else explores; for older policies
	Polling     bool         `json:"polling"`     // the call polls rather than retries; kept for older policies
	Checks      int64        `json:"checks"`      // same as rechecks.edited; kept for older policies
	Denied      LegacyDenied `json:"denied"`      // denials within ten actions; kept for older policies
}

// NeverHappened is the number of actions since something that never happened, or
// that was forgotten.
const NeverHappened = 1000

// SinceFacts counts the actions since an event: 1 is the previous action,
// NeverHappened: never.
type SinceFacts struct {
	Failed    int64 `json:"failed"`     // an action of the agent failed
	AuthError int64 `json:"auth_error"` // an action failed because of missing or wrong credentials
	News      int64 `json:"news"`       // something new appeared: a path, contents, a result or a prompt
	Secret    int64 `json:"secret"`     // a credential or env file was read, by any agent
	Untrusted int64 `json:"untrusted"`  // text was read that nobody in the session wrote
	Prompt    int64 `json:"prompt"`     // a person wrote a prompt
}

// PauseFacts describes the latest three pauses between identical
// calls that change nothing here.
type PauseFacts struct {
	Waits   bool  `json:"waits"`   // the call itself sleeps before it reads
	Count   int64 `json:"count"`   // number of pauses
	Waited  int64 `json:"waited"`  // pauses during which another call sleeps
	Least   int64 `json:"least"`   // shortest pause in which no other call sleeps, in milliseconds; 0: none
	Shrinks bool  `json:"shrinks"` // one of the pauses in which no other call sleeps is shorter than the one before
}

// CheckFacts counts how often a check was run again after an edit of its own
// inputs rather than of the work; the current run included.
type CheckFacts struct {
	Edited  int64 `json:"edited"`  // runs after edits to existing inputs, while the check failed or its result was unknown
	Passing int64 `json:"passing"` // runs after edits to tests, while the check passed
	Own     int64 `json:"own"`     // runs after edits to inputs that the session created
}

// CycleFacts describes a period of two or more calls that the agent repeats,
// the current call included.
type CycleFacts struct {
	Period int64 `json:"period"` // number of calls in the cycle, this one included; 0: no cycle
	Times  int64 `json:"times"`  // number of rounds
}

// DenialFacts describes how long ago something that the action would do was
// denied to any agent: in actions of the session or the agent's own, whichever are fewer; NeverHappened if it was not denied.
type DenialFacts struct {
	Same    int64 `json:"same"`    // this very call was denied
	Effect  int64 `json:"effect"`  // another call was denied that had an effect at least as strong on the same target
	Refused int64 `json:"refused"` // a person refused a call with such an effect

	// How many actions ago a call was denied that had an effect at least as strong
	// on the same target, by the harm that the denying rule names, or limit where it is a limit. Harms without a
	// denial are left out, and so are calls that were denied by their scores, or
	// because nobody could be asked.
	Harms map[string]int64 `json:"harms"`
}

// LegacyDenied is DenialFacts in the form that policies of earlier versions
// read.
type LegacyDenied struct {
	Same    bool  `json:"same"`    // this very call was denied within ten actions
	Effect  bool  `json:"effect"`  // such an effect was denied within ten actions
	Refused bool  `json:"refused"` // a person refused such a call within ten actions
	Ago     int64 `json:"ago"`     // smallest number of actions since then; 1000: never
}

// FiredFacts records when, and at which level, an event of the agent last had a
// finding, and when the agent was last told about it.
type FiredFacts struct {
	Ago       int64  `json:"ago"`        // the agent's actions since it had the finding; 1000 where only other agents had it
	Level     string `json:"level"`      // level of the finding then; empty where only other agents had it
	Told      int64  `json:"told"`       // the agent's actions since it was told about the finding; 1000: never
	ToldLevel string `json:"told_level"` // level when it was told; empty: never
	Times     int64  `json:"times"`      // events of the whole session with the finding
}

// PastFacts is an earlier action in brief.
type PastFacts struct {
	Types   []Type  `json:"types"`             // types of the action
	Tool    string  `json:"tool"`              // name of the tool
	Target  string  `json:"target"`            // path or host that it was mostly about
	Outcome Outcome `json:"outcome"`           // outcome of the call; pending: no result is reported yet, unknown: none was by the next prompt or stop
	Error   string  `json:"error"`             // error class; empty: no error
	Trouble Trouble `json:"trouble,omitempty"` // kind of error; absent: none, or not a known kind
	Check   bool    `json:"check"`             // the action checked the work
	Ago     int64   `json:"ago"`               // milliseconds before this event
}

// Growth describes the use of a resource that grew over the last bins, of a few
// actions each.
type Growth struct {
	Resource string    `json:"resource"` // what is used
	Last     int64     `json:"last"`     // use in the newest full bin (a bin is a few actions)
	Bins     int64     `json:"bins"`     // number of consecutive bins, each with more use than the one before it; the first one included
	Ratios   []float64 `json:"ratios"`   // use in each bin divided by that in the previous bin, oldest first
	Growth   float64   `json:"growth"`   // mean of the ratios; kept for older policies
	Fit      float64   `json:"fit"`      // share of the ratios above one and a half; kept for older policies
}

// ConstraintFacts is a Constraint together with its relation to the action.
type ConstraintFacts struct {
	Kind    ConstraintKind `json:"kind"`           // what is forbidden
	What    string         `json:"what,omitempty"` // path or name that it is about; absent: everything
	Touched bool           `json:"touched"`        // the action changes, deletes or sends something that the constraint covers
	Later   []Intent       `json:"later"`          // kinds of work that prompts asked for after it, sorted
}

// GoalFacts is what people asked for, and how the action relates to it.
type GoalFacts struct {
	Known       bool              `json:"known"`       // a prompt said something that actions can be compared with
	Intents     []Intent          `json:"intents"`     // kinds of work in the latest prompt that asks for any
	Names       int64             `json:"names"`       // number of paths, files and identifiers that people named so far
	Named       bool              `json:"named"`       // the action touches something that a person named
	Words       float64           `json:"words"`       // share of the action's words that people used, 0 to 1
	Statements  []StatementFacts  `json:"statements"`  // prohibitions that hold, and permissions that were not used
	Constraints []ConstraintFacts `json:"constraints"` // prohibitions in the form that policies of earlier versions read
}

// StatementFacts is a Statement together with its relation to the action.
type StatementFacts struct {
	Kind    StatementKind `json:"kind"`              // forbids, permits or orders
	Act     string        `json:"act"`               // what the statement is about, of the table of acts
	Objects []string      `json:"objects,omitempty"` // paths, branches, packages, …; absent: every object
	Until   string        `json:"until,omitempty"`   // how long it holds: asked, said, other, session; absent: until it is revoked, a permission for one act
	Never   bool          `json:"never,omitempty"`   // only words that name the act take it back
	Text    string        `json:"text,omitempty"`    // the sentence, masked and shortened; absent: it is not kept
	From    string        `json:"from,omitempty"`    // file and line that it was read from; absent: a prompt
	Prompt  int64         `json:"prompt"`            // number of the prompt that says so, in the session
	Touched bool          `json:"touched"`           // the action concerns one of the objects; true without objects
	Changes bool          `json:"changes"`           // the action changes, deletes or sends one of the objects; anything, without objects
	Beyond  bool          `json:"beyond"`            // the action changes a file that is none of the objects
	Later   []Intent      `json:"later"`             // kinds of work that prompts asked for after it, sorted
}

// SimilarFacts counts earlier actions of the same agent with the same type and
// target, or whose arguments share 85 % of their words.
type SimilarFacts struct {
	// Earlier actions of the same agent with the same type and target, or with nearly the same words
	// (setting history.similar).
	Count  int64 `json:"count"`
	Failed int64 `json:"failed"` // of those, actions that failed
}

// Precondition is a precondition of an action.
type Precondition struct {
	What string `json:"what"` // read_before_edit or earlier_step_succeeded
	Met  bool   `json:"met"`  // whether it is met
}

// CallFacts describes the decision before a call that has now ended.
type CallFacts struct {
	Decision        Verdict `json:"decision"`         // decision of the policy
	Enforced        Verdict `json:"enforced"`         // the answer after enforcement, which may be milder
	ExecutedDiffers bool    `json:"executed_differs"` // the call ran with arguments other than those approved
}

// WindowFacts contains counts over the last events of one agent.
type WindowFacts struct {
	Events    int64            `json:"events"`     // actions in the window
	Failed    int64            `json:"failed"`     // actions that failed
	Denied    int64            `json:"denied"`     // actions that were denied
	ByType    map[string]int64 `json:"by_type"`    // actions by type
	Errors    map[string]int64 `json:"errors"`     // failures by error class
	MaxErrors int64            `json:"max_errors"` // largest number in errors
	Distinct  int64            `json:"distinct"`   // number of different calls
	// Times that this call was made and has finished, itself included, always
	// with the same result and without a change by the agent or a prompt in between.
	Same     int64 `json:"same"`
	InFlight int64 `json:"in_flight,omitempty"` // identical calls that are still running
	// Attempts that failed with the event's error class, itself included; 0: no error. Calls that were
	// made before the first of them was reported, or in the same turn, are one attempt.
	SameError int64 `json:"same_error"`
	// References to things that do not exist and that nothing created,
	// including the action's own.
	Missing   int64   `json:"missing"`
	Runs      int64   `json:"runs"`       // actions that run programs and were not denied
	Edits     int64   `json:"edits"`      // actions that write or delete files and were not denied
	Places    int64   `json:"places"`     // distinct folders
	Returns   int64   `json:"returns"`    // times that the agent returned to a folder
	Goals     int64   `json:"goals"`      // actions while a goal was known
	Named     int64   `json:"named"`      // actions, while a goal was known, that touch something a person named
	Words     float64 `json:"words"`      // mean share of the words of the actions that people had used
	WordsTend float64 `json:"words_tend"` // words in the newer half minus words in the older half
}

// Window selects a part of the history. Exactly one of Last and For is set.
type Window struct {
	Name string
	Last int           // events
	For  time.Duration // by event time
}

// View limits how much of the history a policy can read.
type View struct {
	Windows []Window
	Last    int     // of HistoryFacts.Last, at most MaxLast
	Similar float64 // minimum share of common words for calls to be similar; 0: DefaultSimilar
}

// DefaultSimilar is the minimum share of common words for calls to count as similar,
// where a policy does not set one.
const DefaultSimilar = 0.85

// MaxLast is the number of earlier actions that a policy can see one by one.
const MaxLast = 20

// Weekdays lists the weekdays as Input spells them, in Go's order.
func Weekdays() []string {
	return []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
}

// Round6 rounds a measure to 1e-6, the precision at which findings are compared.
func Round6(f float64) float64 { return math.Round(f*1e6) / 1e6 }

// Resources lists the resources whose use is counted per session.
func Resources() []string { return []string{"bytes", "files", "agents", "output", "time", "tokens"} }

// AnswerCounts counts people's answers in a session. Questions that were
// answered with yes and denials that were overruled are false alarms.
type AnswerCounts struct {
	Asked     int64 `json:"asked"`     // calls that were answered with a question
	Approved  int64 `json:"approved"`  // questions after which the call ran (inferred)
	Refused   int64 `json:"refused"`   // questions after which the call had not run by the next prompt or the end of the turn (inferred)
	Overruled int64 `json:"overruled"` // number of times that a person allowed a call in a terminal
}

// How long a call is allowed: the values of SessionFacts.Allowed.
const (
	AllowedOnce    = "once"
	AllowedSession = "session"
)

// How an action can relate to earlier ones: the values of HistoryFacts.Follows.
const (
	FollowsContradicts = "contradicts" // undoes what the session did
	FollowsRepeats     = "repeats"     // is repeated, with nothing in between
	FollowsBuildsOn    = "builds_on"   // uses what an earlier action touched
)
