package simulate

import (
	"fmt"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// ImpactVersion is the version of an Impact's JSON document.
const ImpactVersion = 1

// Impact is the difference that a policy makes on recorded sessions, compared with another
// policy or with what was recorded. It is a sum over sessions: the parts of any split add up
// to the whole, byte for byte.
//
// Answers have no consequences here: the history is what happened. So decisions after the
// first difference of a session are hypothetical, as if the session had continued unchanged;
// they are counted separately, as After.
type Impact struct {
	V         int       `json:"v"`         // of the document: ImpactVersion
	Version   int       `json:"version"`   // the same, under its former name
	Baseline  Named     `json:"baseline"`  // the policy that is compared with
	Candidate Named     `json:"candidate"` // the policy that is tried
	Env       string    `json:"env"`       // digest of the deciding environment, see engine.Env
	Selection Selection `json:"selection"` // which part of the input was examined
	Shard     *Shard    `json:"shard,omitempty"`
	Partial   string    `json:"partial,omitempty"` // why it was not examined completely; empty: it was
	First     int64     `json:"first"`             // Unix milliseconds of the first decision; 0: there was none
	Last      int64     `json:"last"`              // and of the last

	Sources  Sources          `json:"sources"`
	Sessions Sessions         `json:"sessions"`
	Work     Work             `json:"work,omitempty"`    // how long sessions worked, and how often they were held up
	Calls    Tally            `json:"calls"`             // before tool calls
	Events   Tally            `json:"events"`            // prompts, results, stops: nothing can be blocked there
	Missing  map[string]int64 `json:"missing,omitempty"` // fact that was not recorded -> calls and events that are unknown without it

	Undecided map[string]int64 `json:"undecided,omitempty"` // rule or file of Rego -> decisions that are unknown or maybe since it may fire
	Unclear   []Unclear        `json:"unclear,omitempty"`   // decisions that could not be compared, by phase, tool, missing fact and rules

	Kinds         []Kind          `json:"kinds"`            // of changes, by phase, state, from, to, rule
	Causes        []Cause         `json:"causes,omitempty"` // differences of policy that may change a decision, each with its effect, by kind and name
	Rules         []RuleCounts    `json:"rules"`            // rules and patterns of either side, by id
	Interventions []Group         `json:"interventions"`
	Stops         *StopCounts     `json:"stops,omitempty"`     // emergency stops, and what comes after them; absent: there are none
	Questions     *QuestionCounts `json:"questions,omitempty"` // to a person; absent: there are none
	Modes         []Group         `json:"modes,omitempty"`     // by permission mode of the agent: calls, and questions of either side
	Days          []Group         `json:"days,omitempty"`      // by day (UTC): calls, and those that either side did not allow; at most maxGroups
	Duties        []SessionDuty   `json:"duties,omitempty"`    // what decisions ask for besides their answer, by session; at most maxGroups
	Files         *FileChanges    `json:"files,omitempty"`     // checkpoints and rollbacks; absent: neither side asks for any
	Tools         []Group         `json:"tools"`
	Workspaces    []Group         `json:"workspaces"`
	Changed       []SessionChange `json:"changed"`     // sessions with a change, the most changed first; at most MaxChanged
	NeverFired    []string        `json:"never_fired"` // ids of the candidate's rules and patterns that never fired, sorted
	Alarms        Alarms          `json:"alarms"`
	Fidelity      *Report         `json:"fidelity,omitempty"` // for audit logs: do recorded decisions reproduce?
	Errors        []StepError     `json:"errors"`             // failed decisions, each counted as a denial; at most maxErrors
}

// Bounds of what an Impact lists. What is left out is counted.
const (
	MaxChanged  = 200 // sessions with their steps
	maxSteps    = 300 // of one session
	maxKinds    = 1000
	maxGroups   = 1000
	maxTroubles = 200
	maxErrors   = 50
	maxText     = 200 // bytes of a reason or a resource
)

// Named is one side of the comparison.
type Named struct {
	Name     string   `json:"name"`             // as it was requested: recorded, active, a folder, git:REV:PATH
	Recorded bool     `json:"recorded"`         // the recorded decisions, not a policy
	Digest   string   `json:"digest,omitempty"` // of the policy
	Rules    []string `json:"rules"`            // ids of its rules, sorted
	Patterns []string `json:"patterns"`         // ids of its patterns, sorted

	Settings []Setting `json:"settings,omitempty"` // of a candidate: those that differ from the baseline's, loosening ones first
}

// Setting is a setting that differs between two policies.
type Setting struct {
	Key       string `json:"key"`              // its path, such as risk.high_threshold
	Before    string `json:"before,omitempty"` // as JSON; empty: it was not set
	After     string `json:"after,omitempty"`  // as JSON; empty: it is not set
	Direction string `json:"direction"`        // as in policy diff: loosened, tightened, mixed, undecided, none
}

// Selection describes which sessions were examined.
type Selection struct {
	Since    int64    `json:"since,omitempty"` // Unix milliseconds; earlier events are history, and not counted
	Sessions []string `json:"sessions"`        // ids or prefixes of ids; none: all
	Tools    []string `json:"tools"`           // none: all

	Until      int64    `json:"until,omitempty"`      // Unix milliseconds; what happened from then on is not counted
	Workspaces []string `json:"workspaces,omitempty"` // folders, with those below them; none: all
	Users      []string `json:"users,omitempty"`      // names: only sessions in a folder of one's home directory; none: all
	Agents     []string `json:"agents,omitempty"`     // such as claude-code; none: all
	Rules      []string `json:"rules,omitempty"`      // ids: only decisions in which one fires on either side, or may; none: all
	Answers    []string `json:"answers,omitempty"`    // reactions of people to stops; none: all
	Sample     string   `json:"sample,omitempty"`     // share of the sessions, such as 10%
}

// Shard is one part of the sessions, or several that were merged: those whose id falls
// into it, or those of its objects.
type Shard struct {
	Index    int    `json:"index"` // from 1
	Of       int    `json:"of"`
	To       int    `json:"to,omitempty"`       // the last of several that were merged; 0: there is one
	Manifest string `json:"manifest,omitempty"` // digest of the manifest that lists the inputs
}

// Last is the last of the shards that a part has.
func (s Shard) Last() int { return max(s.Index, s.To) }

// String is the part as --shard names it.
func (s Shard) String() string {
	if s.To > 0 {
		return fmt.Sprintf("%d-%d/%d", s.Index, s.To, s.Of)
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Sources summarises the sources that were read.
type Sources struct {
	Files    int64            `json:"files"`    // that contain sessions
	Formats  map[string]int64 `json:"formats"`  // format -> sessions
	Lines    int64            `json:"lines"`    // or documents
	Bad      int64            `json:"bad"`      // of them, those that were not understood
	Failed   int64            `json:"failed"`   // files that could not be read, or only in part
	Damaged  int64            `json:"damaged"`  // of them, audit logs with damage
	Copied   int64            `json:"copied"`   // calls that another session contains too, counted there
	Unpaired int64            `json:"unpaired"` // calls without a result
	Unasked  int64            `json:"unasked"`  // calls that the agent rejected before anyone was asked
	Troubles []Trouble        `json:"troubles"` // by path; at most maxTroubles
}

// Trouble is the first problem of a file, and the number of problems.
type Trouble struct {
	Path    string `json:"path"`
	Line    int    `json:"line,omitempty"` // from 1; 0: the file as a whole
	Why     string `json:"why"`
	Count   int64  `json:"count"`
	Failed  bool   `json:"failed,omitempty"`  // the rest could not be read
	Damaged bool   `json:"damaged,omitempty"` // a damaged audit log
}

// Work describes how often calls were held up while agents worked.
type Work struct {
	Milliseconds int64 `json:"ms"`        // between the recorded moments of sessions, without pauses
	Baseline     int64 `json:"baseline"`  // calls that it asks about or blocks, of those whose time is known
	Candidate    int64 `json:"candidate"` // as Baseline
}

// pause is the shortest silence in which a session counts as idle: few calls
// take longer, and a person who is away for less returns to the work.
const pause = 5 * time.Minute

// Sessions counts sessions.
type Sessions struct {
	Total   int64 `json:"total"`
	Changed int64 `json:"changed"` // with at least one difference

	Unattended int64 `json:"unattended,omitempty"` // with a call for which the candidate could ask nobody
}

// State describes what a change of policy means for one decision.
type State string

// The states.
const (
	Unchanged    State = "unchanged"
	Tightened    State = "tightened"    // a stricter answer
	Loosened     State = "loosened"     // a milder one
	Maybe        State = "maybe"        // a different answer, as far as the recorded facts show
	Unknown      State = "unknown"      // a decisive fact was not recorded
	Incomparable State = "incomparable" // recorded in another environment, or with another fold of the history
)

// States lists every State.
func States() []string {
	return []string{string(Unchanged), string(Tightened), string(Loosened), string(Maybe), string(Unknown), string(Incomparable)}
}

// Vocabulary lists the values that a field may have; nil: any.
func (Kind) Vocabulary(field string) []string { return vocabulary(field) }

// Vocabulary lists the values that a field may have; nil: any.
func (Step) Vocabulary(field string) []string { return vocabulary(field) }

func vocabulary(field string) []string {
	if field == "state" {
		return States()
	}
	return nil
}

// Tally counts decisions.
type Tally struct {
	Total  int64           `json:"total"`
	Failed int64           `json:"failed"` // that either side failed to make: each counts as the answer to a failure
	States map[State]int64 `json:"states"` // every state; with After, the sum is Total
	After  map[State]int64 `json:"after"`  // the same, after the first difference of the session
	Matrix []Cell          `json:"matrix"` // of those that can be compared, by from, to

	Open []OpenCell `json:"open,omitempty"` // those that are unknown or incomparable, by from, to
}

// OpenCell counts decisions that could not be compared, by what is known about them.
type OpenCell struct {
	From  engine.Verdict `json:"from,omitempty"` // empty: any
	To    engine.Verdict `json:"to,omitempty"`   // empty: any
	Sure  bool           `json:"sure,omitempty"` // not loosened in any case
	Count int64          `json:"count"`
}

// Cell is a cell of the transition matrix.
type Cell struct {
	From  engine.Verdict `json:"from"`
	To    engine.Verdict `json:"to"`
	Count int64          `json:"count"`
	After int64          `json:"after,omitempty"` // further ones, after the session's first difference
	Maybe int64          `json:"maybe,omitempty"` // of both, those that are maybe
	Sure  int64          `json:"sure,omitempty"`  // of these, those that are not loosened in any case
}

// Kind is a kind of change: by phase, verdicts and rule.
type Kind struct {
	Phase   engine.Phase   `json:"phase"`
	State   State          `json:"state"`
	From    engine.Verdict `json:"from"`
	To      engine.Verdict `json:"to"`
	Rule    string         `json:"rule"`              // the rule that decided; ByScores, ByEnforcement or ByOthers if none did
	Due     string         `json:"due,omitempty"`     // its cause: the kind and name of a Cause; empty if the baseline is not a policy
	Unasked bool           `json:"unasked,omitempty"` // the rule asks, and the call was blocked since nobody could be asked
	Count   int64          `json:"count"`
	After   int64          `json:"after,omitempty"`
	Example Step           `json:"witness"` // the simplest example: before the first difference rather than after it, then the shortest call
}

// Unclear is a kind of decision that could not be compared, with an example.
type Unclear struct {
	Phase   engine.Phase `json:"phase"`
	State   State        `json:"state"` // unknown or incomparable
	Tool    string       `json:"tool,omitempty"`
	Missing string       `json:"missing"`         // the fact that was not recorded, or why it cannot be compared
	Rules   []string     `json:"rules,omitempty"` // rules, or files of Rego, that may have fired, sorted
	Count   int64        `json:"count"`
	Example Step         `json:"example"` // the simplest, as of a Kind
}

// The causes of a decision other than a rule.
const (
	ByScores      = "(scores)"      // the scores did
	ByEnforcement = "(enforcement)" // both sides decide the same, but one enforces less
	ByOthers      = "(others)"      // the person or agent who was asked decided: a transcript does not show who
)

// RuleCounts describes how often a rule fired on either side.
type RuleCounts struct {
	ID        string `json:"id"`
	Pattern   bool   `json:"pattern,omitempty"`
	Baseline  int64  `json:"baseline"`  // decisions in which it fired
	Candidate int64  `json:"candidate"` // as Baseline
	Gained    int64  `json:"gained"`    // it fires only with the candidate
	Lost      int64  `json:"lost"`      // it fired only with the baseline
	Tightened int64  `json:"tightened"` // changes caused by it
	Loosened  int64  `json:"loosened"`
	Maybe     int64  `json:"maybe"`
}

// Group counts decisions with something in common.
type Group struct {
	Name      string `json:"name"`
	Total     int64  `json:"total"`
	Tightened int64  `json:"tightened"`
	Loosened  int64  `json:"loosened"`
	Maybe     int64  `json:"maybe"`
	Baseline  int64  `json:"baseline"`  // interventions: decisions of the baseline that name it; else those that it did not allow
	Candidate int64  `json:"candidate"` // as Baseline
}

// SessionChange is a session in which decisions differ.
type SessionChange struct {
	Session   string `json:"session"`
	Harness   string `json:"harness"`
	Format    string `json:"format"`
	Workspace string `json:"workspace"`
	Calls     int64  `json:"calls"`
	Tightened int64  `json:"tightened"`
	Loosened  int64  `json:"loosened"`
	Maybe     int64  `json:"maybe"`
	First     Step   `json:"first"`          // the first difference
	Steps     []Step `json:"steps"`          // in order: changes, and calls that either side does not simply allow; at most maxSteps
	More      int64  `json:"more,omitempty"` // further ones
}

// Step is one decision, seen from both sides.
type Step struct {
	ID        string         `json:"id"` // of the record
	Session   string         `json:"session"`
	Index     int64          `json:"index"` // calls before it in the session, from 0
	Time      int64          `json:"time"`  // Unix milliseconds
	Phase     engine.Phase   `json:"phase"`
	Agent     string         `json:"agent,omitempty"`
	Call      string         `json:"call,omitempty"`
	Tool      string         `json:"tool,omitempty"`
	Resource  string         `json:"resource,omitempty"` // what is called or touched, masked
	State     State          `json:"state"`
	After     bool           `json:"after,omitempty"` // after the session's first difference
	From      engine.Verdict `json:"from,omitempty"`  // empty: unknown
	To        engine.Verdict `json:"to,omitempty"`
	FromRules []string       `json:"from_rules"`
	ToRules   []string       `json:"to_rules"`
	Reason    string         `json:"reason,omitempty"`  // of the stricter side
	Due       string         `json:"due,omitempty"`     // of another answer: as in Kind
	Example   *Example       `json:"example,omitempty"` // of the example of a kind of change: what is needed to see it
	Missing   string         `json:"missing,omitempty"` // the fact that was not recorded, or why it cannot be compared
}

// StopCounts counts emergency stops, and the calls and prompts that come after them in their session until a person resumes it: those
// are denied without being judged.
type StopCounts struct {
	Baseline       int64 `json:"baseline"` // stops
	Candidate      int64 `json:"candidate"`
	AfterBaseline  int64 `json:"after_baseline"` // calls and prompts after them
	AfterCandidate int64 `json:"after_candidate"`
}

// QuestionCounts counts questions to a person. One is repeated if the same side has asked about the same call in this session: where
// approvals last for the session, it is not asked again.
type QuestionCounts struct {
	Baseline          int64 `json:"baseline"`
	Candidate         int64 `json:"candidate"`
	RepeatedBaseline  int64 `json:"repeated_baseline"`
	RepeatedCandidate int64 `json:"repeated_candidate"`
}

// Alarms describes what people's answers show about stops: a question whose
// call then ran was approved, a denial that a person allowed was overruled. An
// approval does not prove a false alarm: a question may be right and be approved.
type Alarms struct {
	Approved  int64 `json:"approved"`  // questions
	Overruled int64 `json:"overruled"` // denials
	Refused   int64 `json:"refused"`   // questions whose call did not run
	Lost      int64 `json:"lost"`      // calls that people allowed and that the candidate lets through
	Missed    int64 `json:"missed"`    // calls that people refused and that it lets through
	New       int64 `json:"new"`       // calls that the baseline allowed, that ran, and that it stops
	Gained    int64 `json:"gained"`    // of New, how many people would allow if they answer as before; 0 if nobody answered
}

// StepError is a decision that could not be made.
type StepError struct {
	ID    string `json:"id"`
	Side  string `json:"side"` // baseline, candidate
	Error string `json:"error"`
}
