package simulate

import "github.com/agent-reviewer/reviewer/engine"

// ImpactVersion is the version of an Impact's JSON document.
const ImpactVersion = 1

// Impact is what one policy makes otherwise of recorded sessions than another,
// or than was recorded. It is a sum over sessions: what the parts of any split
// add up to is the whole, byte for byte.
//
// Nothing follows from an answer here: the history is what happened. So what
// comes after the first other answer of a session is what would be said if the
// session had gone on all the same; it is counted apart, as After.
type Impact struct {
	Version   int       `json:"version"`   // of the document: ImpactVersion
	Baseline  Named     `json:"baseline"`  //
	Candidate Named     `json:"candidate"` //
	Env       string    `json:"env"`       // digest of what decided, see engine.Env
	Selection Selection `json:"selection"` // of all that was there, what was looked at
	Shard     *Shard    `json:"shard,omitempty"`
	Partial   string    `json:"partial,omitempty"` // why not all of it was; empty: it was
	First     int64     `json:"first"`             // Unix milliseconds of the first decision; 0: there was none
	Last      int64     `json:"last"`              // and of the last

	Sources       Sources         `json:"sources"`
	Sessions      Sessions        `json:"sessions"`
	Calls         Tally           `json:"calls"`  // before tool calls
	Events        Tally           `json:"events"` // prompts, results, stops: nothing can be kept from happening there
	Kinds         []Kind          `json:"kinds"`  // of changes, by phase, state, from, to, rule
	Rules         []Spoken        `json:"rules"`  // that either side has, patterns too, by id
	Interventions []Group         `json:"interventions"`
	Tools         []Group         `json:"tools"`
	Workspaces    []Group         `json:"workspaces"`
	Changed       []SessionChange `json:"changed"`     // sessions with a change, the most changed first; at most MaxChanged
	NeverFired    []string        `json:"never_fired"` // ids of the candidate's rules and patterns that never spoke, sorted
	Alarms        Alarms          `json:"alarms"`
	Fidelity      *Report         `json:"fidelity,omitempty"` // of audit logs: do recorded decisions come out again?
	Errors        []StepError     `json:"errors"`             // decisions that failed, each taken for a denial; at most maxErrors
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
	Name     string   `json:"name"`             // as it was asked for: recorded, active, a folder, git:REV:PATH
	Recorded bool     `json:"recorded"`         // it is what was decided then, not a policy
	Digest   string   `json:"digest,omitempty"` // of the policy
	Rules    []string `json:"rules"`            // ids of its rules, sorted
	Patterns []string `json:"patterns"`         // ids of its patterns, sorted

	Settings []Setting `json:"settings,omitempty"` // of a candidate: those that differ from the baseline's, what loosens first
}

// Setting is a setting that differs between two policies.
type Setting struct {
	Key       string `json:"key"`              // its path, such as risk.high_threshold
	Before    string `json:"before,omitempty"` // as JSON; empty: it was not set
	After     string `json:"after,omitempty"`  // likewise
	Direction string `json:"direction"`        // as policy diff has it: loosened, tightened, mixed, undecided, none
}

// Selection says what was looked at.
type Selection struct {
	Since    int64    `json:"since,omitempty"`  // Unix milliseconds; what came before is history, and not counted
	Sessions []string `json:"sessions"`         // ids or beginnings of ids; none: all
	Tools    []string `json:"tools"`            // none: all
	Sample   string   `json:"sample,omitempty"` // share of the sessions, such as 10%
}

// Shard is one part of the sessions: those whose id falls into it.
type Shard struct {
	Index int `json:"index"` // from 1
	Of    int `json:"of"`
}

// Sources sums up what was read.
type Sources struct {
	Files    int64            `json:"files"`    // that hold sessions
	Formats  map[string]int64 `json:"formats"`  // format -> sessions
	Lines    int64            `json:"lines"`    // or documents
	Bad      int64            `json:"bad"`      // of them, those that were not understood
	Failed   int64            `json:"failed"`   // files that could not be read, or only in part
	Damaged  int64            `json:"damaged"`  // of them, audit logs that are not what was written
	Copied   int64            `json:"copied"`   // calls that another session holds already, counted there
	Unpaired int64            `json:"unpaired"` // calls without a result
	Unasked  int64            `json:"unasked"`  // calls that the agent turned down before anybody was asked
	Troubles []Trouble        `json:"troubles"` // by path; at most maxTroubles
}

// Trouble is what was wrong with a file: the first place, and how many.
type Trouble struct {
	Path    string `json:"path"`
	Line    int    `json:"line,omitempty"` // from 1; 0: the file as a whole
	Why     string `json:"why"`
	Count   int64  `json:"count"`
	Failed  bool   `json:"failed,omitempty"`  // what follows could not be read
	Damaged bool   `json:"damaged,omitempty"` // an audit log that is not what was written
}

// Sessions counts sessions.
type Sessions struct {
	Total   int64 `json:"total"`
	Changed int64 `json:"changed"` // with at least one other answer
}

// State says what a change of policy means for one decision.
type State string

// The states.
const (
	Unchanged    State = "unchanged"
	Tightened    State = "tightened"    // a stricter answer
	Loosened     State = "loosened"     // a milder one
	Maybe        State = "maybe"        // another answer, as far as the facts go that were recorded
	Unknown      State = "unknown"      // a fact that decides was not recorded
	Incomparable State = "incomparable" // recorded under another environment, or another fold of the history
)

// States lists every State.
func States() []string {
	return []string{string(Unchanged), string(Tightened), string(Loosened), string(Maybe), string(Unknown), string(Incomparable)}
}

// Vocabulary lists the words of a field that is one of few.
func (Kind) Vocabulary(field string) []string { return vocabulary(field) }

// Vocabulary lists the words of a field that is one of few.
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
	Failed int64           `json:"failed"` // that one side or the other could not make: each is taken for what a failure is answered with
	States map[State]int64 `json:"states"` // every state; with After it sums up to Total
	After  map[State]int64 `json:"after"`  // the same, behind the first other answer of the session
	Matrix []Cell          `json:"matrix"` // of those that can be compared, by from, to
}

// Cell is a cell of the transition matrix.
type Cell struct {
	From  engine.Verdict `json:"from"`
	To    engine.Verdict `json:"to"`
	Count int64          `json:"count"`
	After int64          `json:"after,omitempty"` // further ones, behind the session's first other answer
}

// Kind is a kind of change: at which point, what became of what, and by which rule.
type Kind struct {
	Phase   engine.Phase   `json:"phase"`
	State   State          `json:"state"`
	From    engine.Verdict `json:"from"`
	To      engine.Verdict `json:"to"`
	Rule    string         `json:"rule"`              // that decided so; ByScores, ByEnforcement or ByOthers where none did
	Unasked bool           `json:"unasked,omitempty"` // the rule asks, and the call was blocked since nobody could be asked
	Count   int64          `json:"count"`
	After   int64          `json:"after,omitempty"`
	Witness Step           `json:"witness"` // the smallest: one before the first other answer rather than behind it, then the shortest call
}

// What stands for a rule where none decided.
const (
	ByScores      = "(scores)"      // the scores did
	ByEnforcement = "(enforcement)" // both sides say the same of the call, and one enforces it less
	ByOthers      = "(others)"      // whoever was asked then did: a transcript does not tell who
)

// Spoken says how often a rule spoke on either side.
type Spoken struct {
	ID        string `json:"id"`
	Pattern   bool   `json:"pattern,omitempty"`
	Baseline  int64  `json:"baseline"`  // decisions in which it spoke
	Candidate int64  `json:"candidate"` //
	Gained    int64  `json:"gained"`    // it speaks with the candidate only
	Lost      int64  `json:"lost"`      // it spoke with the baseline only
	Tightened int64  `json:"tightened"` // changes that are due to it
	Loosened  int64  `json:"loosened"`
	Maybe     int64  `json:"maybe"`
}

// Group counts the decisions that have something in common.
type Group struct {
	Name      string `json:"name"`
	Total     int64  `json:"total"`
	Tightened int64  `json:"tightened"`
	Loosened  int64  `json:"loosened"`
	Maybe     int64  `json:"maybe"`
	Baseline  int64  `json:"baseline"`  // interventions: decisions of the baseline that name it; else those that it did not let through
	Candidate int64  `json:"candidate"` // likewise
}

// SessionChange is a session in which something comes out otherwise.
type SessionChange struct {
	Session   string `json:"session"`
	Harness   string `json:"harness"`
	Format    string `json:"format"`
	Workspace string `json:"workspace"`
	Calls     int64  `json:"calls"`
	Tightened int64  `json:"tightened"`
	Loosened  int64  `json:"loosened"`
	Maybe     int64  `json:"maybe"`
	First     Step   `json:"first"`          // the first other answer
	Steps     []Step `json:"steps"`          // in order: what changed, and what either side does not simply allow; at most maxSteps
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
	After     bool           `json:"after,omitempty"` // behind the session's first other answer
	From      engine.Verdict `json:"from,omitempty"`  // empty: not known
	To        engine.Verdict `json:"to,omitempty"`
	FromRules []string       `json:"from_rules"`
	ToRules   []string       `json:"to_rules"`
	Reason    string         `json:"reason,omitempty"`  // of the stricter side
	Missing   string         `json:"missing,omitempty"` // the fact that was not recorded, or why it cannot be compared
}

// Alarms says what is known of whether stops were right, from what people
// answered: a question whose call then ran was approved, a denial that a person
// allowed was overruled; both were false alarms.
type Alarms struct {
	Approved  int64 `json:"approved"`  // questions
	Overruled int64 `json:"overruled"` // denials
	Refused   int64 `json:"refused"`   // questions whose call did not run: true alarms
	Lost      int64 `json:"lost"`      // false alarms that the candidate lets through
	Missed    int64 `json:"missed"`    // true alarms that it lets through
	New       int64 `json:"new"`       // calls that the baseline let through, that ran, and that it stops
	Gained    int64 `json:"gained"`    // of New, how many are false alarms if as many are as among those that people answered; 0 where nobody did
}

// StepError is a decision that could not be made.
type StepError struct {
	ID    string `json:"id"`
	Side  string `json:"side"` // baseline, candidate
	Error string `json:"error"`
}
