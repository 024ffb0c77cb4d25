package act

import (
	"context"
	"math"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Reviewer answers the events of agents. It has side effects only through its fields.
type Reviewer struct {
	Policy     func(workspace string) (*review.Policy, error)
	Classifier engine.Classifier
	Log        Log
	Env        engine.Env
	Clock      Clock
	Agent      Agent
	Services   Services
}

// Log keeps the records.
type Log interface {
	// Update calls fn under the session's lock, and starts a new chain if the
	// session has none. The settings of p say how the log is kept; nil: that is unknown.
	Update(ctx context.Context, p *review.Policy, key engine.SessionKey, fn func(history.Tail) error) error
	// Workspace returns the workspace that the session's chain was opened
	// with, and when that was, without locking; empty if there is no chain yet.
	Workspace(key engine.SessionKey) (workspace string, began int64, err error)
}

// Clock measures time. Nothing that it returns changes a decision.
type Clock struct {
	Now     func() int64   // Unix milliseconds
	Elapsed func() float64 // milliseconds since the event was received; nil: it is not measured
	CPU     func() float64 // milliseconds of CPU time since then; nil: it is not measured
}

// lap returns the milliseconds since the event was received.
func (c Clock) lap() float64 {
	if c.Elapsed == nil {
		return 0
	}
	return float64(int64(c.Elapsed()*100)) / 100
}

// Agent is what is known about the agent of an event besides the event. The zero value knows nothing.
type Agent struct {
	Channels engine.Channels                     // the ways that it supports; nil: all
	Runs     func(*engine.Client) bool           // whether the client of a session still runs; nil: none does
	Request  func(engine.Event) string           // latest words of a person, raw; empty: unknown. nil: they are never read
	SubTasks func(engine.Event) []engine.SubTask // the agent's own list, raw; nil: it is never read
	// Usage returns the tokens since the previous event, given what that event recorded; nil:
	// unknown. It is called under the session's lock, so that no token is counted twice.
	Usage func(e engine.Event, before *engine.Usage) *engine.Usage
}

func (r *Reviewer) mask(s string) string { return r.Classifier.Mask(s) }

func (r *Reviewer) failed(p engine.Phase, err error) *engine.AnswerFacts {
	failure := engine.ClipJSON(r.mask(err.Error()), 480)
	return &engine.AnswerFacts{Effect: engine.Degraded(p, failure).Effect, Mode: engine.ModeDegraded, MS: r.Clock.lap(), Failure: failure}
}

// measure notes the CPU time of a review, and whether it is more than the policy expects. It
// never changes an answer: load is not a reason to deny.
func (r *Reviewer) measure(a *engine.AnswerFacts, p *review.Policy) {
	if r.Clock.CPU == nil {
		return
	}
	ms := r.Clock.CPU()
	a.CPU = math.Floor(ms*100) / 100
	if p != nil {
		limit := p.Settings.Performance.MaxReviewTimeMS
		a.Slow = limit > 0 && ms > limit
	}
}

// handling is an event on its way to an answer.
type handling struct {
	key       engine.SessionKey
	event     engine.Event
	workspace string
	policy    *review.Policy
	rec       *engine.Record
	standing  *engine.Record // what instruction files forbid, of a session that does not begin with its start; nil: nothing
	failure   error          // why the event cannot be reviewed
	duties    []duty
	recorded  bool // its record, or the note that repeats it, is in the log
	// early makes the review of a call that is answered before it; nil: the review precedes the answer.
	early func(context.Context) (engine.Decision, error)
	made  *engine.Record // the review of an earlier call that was missing; nil: none was
}

// duty is a duty with the records that it names; those that cannot be read are nil.
type duty struct {
	review.Duty
	of, result, saved *engine.Record
}
