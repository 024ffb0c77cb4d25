package stats

import "github.com/agent-reviewer/reviewer/engine"

// Document is the records of a log in numbers. Times are Unix milliseconds; lists are sorted
// by count, the highest first, and then by name.
type Document struct {
	Since         int64             `json:"since,omitempty"` // what happened before is not counted
	First         int64             `json:"first,omitempty"` // of the records counted
	Last          int64             `json:"last,omitempty"`
	Sessions      Sessions          `json:"sessions"`
	Records       []Kind            `json:"records"`
	Calls         Verdicts          `json:"calls"`       // tool calls by the answer before they ran
	Policy        Verdicts          `json:"policy"`      // the same calls by the decision of policy, which differs where policy only observes
	Prefiltered   int64             `json:"prefiltered"` // calls that policy allowed before it computed any score
	Decisions     []Decision        `json:"decisions"`   // calls, results, prompts and stops
	ReviewTime    ReviewTime        `json:"review_time"`
	CPUTime       ReviewTime        `json:"cpu_time"` // of the reviews for which it was measured
	Async         Async             `json:"async"`
	Slow          int64             `json:"slow"` // reviews that took more CPU time than performance.max_review_time_ms then
	Checkpoints   Checkpoints       `json:"checkpoints"`
	Observed      []ObservedProgram `json:"observed"`
	Questions     Questions         `json:"questions"`
	Fatigue       Fatigue           `json:"fatigue"`
	Tools         []Group           `json:"tools"`
	Rules         []Rule            `json:"rules"`
	Patterns      []Pattern         `json:"patterns"`
	Interventions []Intervention    `json:"interventions"`
	Escalations   []Escalation      `json:"escalations"`
	Controls      []Control         `json:"controls"`
	Errors        []Error           `json:"errors"`
	Damaged       []DamagedSession  `json:"damaged"`          // counted up to the damage only
	By            string            `json:"by,omitempty"`     // what Groups are: one of Groupings
	Groups        []Group           `json:"groups,omitempty"` // days in UTC, oldest first
	Costs         []Cost            `json:"costs,omitempty"`  // with By rule: what rules cost people
}

// Sessions counts the sessions with a record that was counted.
type Sessions struct {
	Total   int64 `json:"total"`
	Stopped int64 `json:"stopped"` // stopped now
	Damaged int64 `json:"damaged"`
}

// Kind counts the records of a kind.
type Kind struct {
	Kind  engine.Kind `json:"kind"`
	Count int64       `json:"count"`
}

// Verdicts counts calls by verdict.
type Verdicts struct {
	Total  int64 `json:"total"`
	Allow  int64 `json:"allow"`
	Warn   int64 `json:"warn"`
	Modify int64 `json:"modify"`
	Ask    int64 `json:"ask"`
	Block  int64 `json:"block"`
}

// add counts one more. A word that is not a verdict counts as block.
func (v *Verdicts) add(word engine.Verdict) {
	v.Total++
	list := v.fields()
	*list[word.Strictness()]++
}

// fields returns the counts in the order of engine.Verdicts.
func (v *Verdicts) fields() [5]*int64 {
	return [...]*int64{&v.Allow, &v.Warn, &v.Modify, &v.Ask, &v.Block}
}

// Of returns the count of a verdict.
func (v Verdicts) Of(word engine.Verdict) int64 { return *v.fields()[word.Strictness()] }

// Decision counts reviews by event, decision and answer.
type Decision struct {
	Phase    engine.Phase      `json:"phase"`
	Decision engine.Verdict    `json:"decision,omitempty"` // absent: there was no review
	Effect   engine.Verdict    `json:"effect"`
	Mode     engine.AnswerMode `json:"mode"`
	Count    int64             `json:"count"`
}

// ReviewTime describes how long reviews took, from the receipt of an event to
// the decision; or checkpoints. Quantiles are up to 2.5 % off.
type ReviewTime struct {
	Count   int64    `json:"count"`
	SumMS   float64  `json:"sum_ms"`
	P50     float64  `json:"p50_ms"`
	P90     float64  `json:"p90_ms"`
	P99     float64  `json:"p99_ms"`
	Max     float64  `json:"max_ms"`
	Buckets []Bucket `json:"buckets"` // the last one's bound is absent: Count
}

// Bucket counts the reviews that took at most this long.
type Bucket struct {
	MS    float64 `json:"le_ms"`
	Count int64   `json:"count"`
}

// Questions counts people's answers to questions of policy, as far as the log shows them: a
// call that ran was approved.
type Questions struct {
	Asked         int64 `json:"asked"`
	Approved      int64 `json:"approved"`
	Refused       int64 `json:"refused"`
	Ended         int64 `json:"ended"` // waited outside the agent, and nobody answered in time or the session was stopped
	Open          int64 `json:"open"`
	ApprovedShare *Rate `json:"approved_share,omitempty"` // approved of those that were answered; absent: none was
}

// Group counts the calls of a tool, session, agent or day, or the events at which a rule or
// pattern fired, by answer.
type Group struct {
	Key string `json:"key"`
	Verdicts
}

// Rule counts how often a rule fired, and with which decision.
type Rule struct {
	Rule     string         `json:"rule"`
	Decision engine.Verdict `json:"decision"`
	Count    int64          `json:"count"`
}

// Pattern counts the events at which a pattern was found.
type Pattern struct {
	Pattern  string `json:"pattern"`
	Level    string `json:"level"`
	Count    int64  `json:"count"`
	Sessions int64  `json:"sessions"` // with the pattern at this level
}

// Intervention counts interventions of one kind about one issue, and whether the issue
// returned.
type Intervention struct {
	Type    string  `json:"type"`  // a verdict, or an act such as emergency_stop
	Issue   string  `json:"issue"` // the rule or pattern that it was about
	Outcome Outcome `json:"outcome"`
	Count   int64   `json:"count"`
}

// Escalation counts how often something stricter was done about an issue that had returned.
type Escalation struct {
	Issue string `json:"issue"`
	Count int64  `json:"count"`
}

// Control counts what people did: stop, resume, allow_once and so on.
type Control struct {
	Do    string `json:"do"`
	Count int64  `json:"count"`
}

// Error counts what failed.
type Error struct {
	What  ErrorKind `json:"what"`
	ID    string    `json:"id,omitempty"` // the rule's, where there is one
	Count int64     `json:"count"`
}

// ErrorKind is a kind of failure.
type ErrorKind string

// The kinds of errors.
const (
	ErrorRule        ErrorKind = "rule"        // a rule could not be evaluated; its worst outcome was taken
	ErrorCondition   ErrorKind = "condition"   // the condition of a row could not be evaluated
	ErrorDegraded    ErrorKind = "degraded"    // an event could not be reviewed; a call was denied
	ErrorRewrite     ErrorKind = "rewrite"     // a call could not be put in a safer form
	ErrorUndecodable ErrorKind = "undecodable" // what an agent sent could not be read
	ErrorRecovered   ErrorKind = "recovered"   // half a line was cut off after a crash
)

// DamagedSession is a session whose chain does not verify to its end.
type DamagedSession struct {
	Session string `json:"session"` // empty: the machine's ledger
	Error   string `json:"error"`
}
