package overview

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// MaxEvents limits the events that an index keeps of one session; the oldest are left out first. Counts include them.
const MaxEvents = 2000

// slotMS is the length of the spans by which calls are counted: every time zone's midnight begins one.
const slotMS = 15 * 60 * 1000

// Tally counts calls, by their answer before they ran.
type Tally struct {
	Calls    int64
	Allowed  int64 // ran silently
	Warned   int64
	Modified int64 // ran in another form
	Asked    int64
	Denied   int64
	Saved    int64 // calls before which the files that they destroy were stored
	Observed int64 // calls that policy would have treated more strictly, if it was enforced
	Stopped  int64 // stops of a session
	Prompts  int64
}

// call counts a call by its answer.
func (t *Tally) call(effect engine.Verdict) {
	t.Calls++
	switch effect {
	case engine.Allow:
		t.Allowed++
	case engine.Warn:
		t.Warned++
	case engine.Modify:
		t.Modified++
	case engine.Ask:
		t.Asked++
	default:
		t.Denied++
	}
}

// Plus adds another tally.
func (t *Tally) Plus(o Tally) {
	t.Calls += o.Calls
	t.Allowed += o.Allowed
	t.Warned += o.Warned
	t.Modified += o.Modified
	t.Asked += o.Asked
	t.Denied += o.Denied
	t.Saved += o.Saved
	t.Observed += o.Observed
	t.Stopped += o.Stopped
	t.Prompts += o.Prompts
}

// Quiet reports whether nothing happened that a person might want to know.
func (t Tally) Quiet() bool {
	return t.Warned+t.Modified+t.Asked+t.Denied+t.Saved+t.Observed+t.Stopped == 0
}

// Event is a call that did not simply run, or a stop.
type Event struct {
	ID       string // of the record
	T        int64  // Unix milliseconds
	Session  engine.SessionKey
	Agent    string
	Place    string // the session's workspace
	Tool     string
	What     string
	Answer   engine.Verdict
	Decision engine.Verdict // the decision, if it differs because policy only observes
	Rule     string         // the first of the rules with the strictest decision; empty: the scores decided
	Severity string
	Harm     string // what the call would do; empty: no rule says so
	Message  string
	Failure  string // why there is no decision
	Outcome  engine.Outcome
	Person   Answered
	Stop     bool   // it stopped the session
	Point    string // id of the checkpoint that stores what the call destroys
	Until    int64  // how long that is kept, Unix milliseconds
	Files    int64  // stored in it
	Bytes    int64
}

// Answered is what a person answered to a call.
type Answered string

// The answers.
const (
	Unasked   Answered = ""
	Approved  Answered = "approved"
	Refused   Answered = "refused"
	Expired   Answered = "expired"   // nobody answered in time, or the question ended otherwise
	Overruled Answered = "overruled" // the call was denied, and a person allowed it afterwards
)

// AnswersOfPeople lists the answers that a person can have given.
func AnswersOfPeople() []string {
	return []string{string(Approved), string(Refused), string(Expired), string(Overruled)}
}

// Rule counts what followed when a rule fired.
type Rule struct {
	ID        string
	Fired     int64
	Warned    int64
	Asked     int64 // calls about which a person was asked, this rule among the reasons
	Denied    int64
	Approved  int64
	Refused   int64
	WaitMS    int64 // time that questions waited outside the agent, until a person answered
	Waited    int64 // such questions
	Overruled int64 // denied calls that a person allowed afterwards
}

// Index is the overview of a log. It is not safe for concurrent use.
type Index struct {
	sessions map[engine.SessionKey]*Session
	rules    map[string]*Rule
}

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{sessions: map[engine.SessionKey]*Session{}, rules: map[string]*Rule{}}
}

// Session returns what is known about a session, which begins empty.
func (x *Index) Session(key engine.SessionKey) *Session {
	s := x.sessions[key]
	if s == nil {
		s = &Session{Key: key, index: x, slots: map[int64]*Tally{}, open: map[[2]string]*Event{}}
		x.sessions[key] = s
	}
	return s
}

// Keep removes all sessions but those for which it returns true: retention deleted the others. The counts of rules keep them.
func (x *Index) Keep(there func(engine.SessionKey) bool) {
	for key := range x.sessions {
		if !there(key) {
			delete(x.sessions, key)
		}
	}
}

// Sessions lists the sessions, the latest first.
func (x *Index) Sessions() []*Session {
	var list []*Session
	for _, s := range x.sessions {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *Session) int { return byTime(b, a) })
	return list
}

// Rules lists the rules that fired, the most frequent first.
func (x *Index) Rules() []Rule {
	var list []Rule
	for _, r := range x.rules {
		list = append(list, *r)
	}
	slices.SortFunc(list, mostFired)
	return list
}

func (x *Index) rule(id string) *Rule {
	r := x.rules[id]
	if r == nil {
		r = &Rule{ID: id}
		x.rules[id] = r
	}
	return r
}
