package approval

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// State is the state of a question.
type State string

// The states. A question begins as Pending; only Pending and Approved can change.
const (
	Pending  State = "pending"
	Approved State = "approved" // a person approved the call, which has not resumed yet
	Resumed  State = "resumed"  // the call runs
	Denied   State = "denied"   // a person denied it
	Expired  State = "expired"  // nobody answered in time
	Stopped  State = "stopped"  // the session was stopped first
	Changed  State = "changed"  // it was approved, but the policy or a file has changed since
)

// Max limits the questions of one session that wait at the same time. It bounds the history.
const Max = 16

// digestLength is the length of a digest that a history keeps, in hex digits.
const digestLength = 32

// Question is a question in the history of a session.
type Question struct {
	N      int64  `json:"n"` // number of the call's record
	Digest string `json:"g"`
	Until  int64  `json:"u"` // Unix milliseconds
	State  State  `json:"s"`
	At     int64  `json:"at,omitempty"` // number of the control record that contains the outcome
}

// Questions are the questions of a session, oldest first.
type Questions []Question

// DigestOf returns the digest of what a record asks: the input that policy saw, which
// includes the action, and the call's arguments.
func DigestOf(r *engine.Record) string {
	if r.SHA == nil {
		return ""
	}
	return engine.HexSum([]byte(r.SHA.Input + "\n" + r.SHA.Args))
}

// Of returns the question of the record with number n; nil: it is unknown, so it counts as
// denied.
func (qs Questions) Of(n int64) *Question {
	if i := slices.IndexFunc(qs, func(q Question) bool { return q.N == n }); i >= 0 {
		return &qs[i]
	}
	return nil
}

// Waiting returns how many questions are pending at a time.
func (qs Questions) Waiting(t int64) int {
	n := 0
	for i := range qs {
		if qs[i].StateAt(t) == Pending {
			n++
		}
	}
	return n
}

// StateAt returns the state at a time: a question expires without a record.
func (q *Question) StateAt(t int64) State {
	if q.State == Pending && t > q.Until {
		return Expired
	}
	return q.State
}

// open reports whether the state can still change at a time.
func (q *Question) open(t int64) bool {
	s := q.StateAt(t)
	return s == Pending || s == Approved
}

// Fold returns the questions after a record. stopped: the session is stopped after it.
func (qs Questions) Fold(r *engine.Record, chain string, stopped bool) Questions {
	if r.Kind == engine.KindPre && r.Answer != nil && r.Answer.Pending != nil {
		qs = append(qs.fit(r.T), Question{N: r.N, Digest: clip(r.Answer.Pending.Digest, digestLength),
			Until: r.Answer.Pending.Until, State: Pending})
	}
	switch {
	case r.Control != nil && r.Control.Of == "":
		qs.answer(r, chain)
	case r.Act != nil && r.Act.Kind == engine.ActResumed:
		if q := qs.at(r.Act.Of, chain); q != nil && q.State == Approved {
			q.State = Resumed
		}
	}
	if stopped {
		for i := range qs {
			if qs[i].open(r.T) {
				qs[i].State, qs[i].At = Stopped, 0
			}
		}
	}
	return qs
}

// fit makes room for one more question: those that have ended are forgotten first.
func (qs Questions) fit(t int64) Questions {
	for len(qs) >= Max {
		i := slices.IndexFunc(qs, func(q Question) bool { return !q.open(t) })
		qs = slices.Delete(qs, max(i, 0), max(i, 0)+1)
	}
	return qs
}

// at returns the question of the record with an id.
func (qs Questions) at(id, chain string) *Question {
	i := slices.IndexFunc(qs, func(q Question) bool { return engine.RecordID(chain, q.N) == id })
	if i < 0 {
		return nil
	}
	return &qs[i]
}

// answer folds a control record. An answer that comes too late changes nothing.
func (qs Questions) answer(r *engine.Record, chain string) {
	q := qs.at(r.Control.Record, chain)
	if q == nil || r.Control.Decided == nil {
		return
	}
	who := r.Control.Decided.Who
	switch {
	case r.Control.Do == engine.ControlApprove:
		if who == engine.DecidedPerson && q.accepts(r.Control.Digest, r.T) == nil {
			q.State, q.At = Approved, r.N
		}
	case r.Control.Do != engine.ControlDeny:
	case who == engine.DecidedStop && q.State == Stopped:
		q.At = r.N
	case who == engine.DecidedTimeout && q.State == Pending:
		q.State, q.At = Expired, r.N
	case who == engine.DecidedRule && q.State == Approved:
		q.State, q.At = Changed, r.N
	case who == engine.DecidedPerson && q.StateAt(r.T) == Pending:
		q.State, q.At = Denied, r.N
	}
}

// The reasons why an answer is refused.
var (
	ErrAnswered = errors.New("this question has been answered already")
	ErrLate     = errors.New("this answer is too late: the time for it has passed, and the call was denied")
	ErrStopped  = errors.New("the session was stopped after this question, so the call does not run")
	ErrOther    = errors.New("the digest does not match this question: look at the question again before you answer")
	ErrUnknown  = errors.New("no such question waits in this session")
)

// Accepts returns why an answer by a person at a time would be refused; nil: it would not.
// digest is that of what the person saw.
func (qs Questions) Accepts(n int64, digest string, t int64) error {
	q := qs.Of(n)
	if q == nil {
		return ErrUnknown
	}
	return q.accepts(digest, t)
}

func (q *Question) accepts(digest string, t int64) error {
	switch s := q.StateAt(t); {
	case s == Expired:
		return ErrLate
	case s == Stopped:
		return ErrStopped
	case s != Pending:
		return fmt.Errorf("%w: %s", ErrAnswered, s)
	case q.Digest == "" || clip(digest, digestLength) != q.Digest:
		return ErrOther
	}
	return nil
}

func clip(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }
