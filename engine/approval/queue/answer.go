package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Answer is a person's answer to a question.
type Answer struct {
	ID      string
	Digest  string // of the request that the person saw
	Approve bool
	Session bool         // approve: the same call is also allowed until the session ends
	Stop    bool         // deny: the session is stopped as well, even if the question has another answer
	Message string       // deny: for the agent; approve: for the log. Without secrets
	By      string       // user
	Channel string       // terminal, http, or the name of another channel
	Signer  audit.Signer // of the person's code; nil: only a denial, without a message, can be recorded
}

// ErrGone means that no question with an id waits.
var ErrGone = errors.New("no question with this id waits: it was answered, its time has passed, or the agent has ended")

// Waiting returns the requests of all questions that wait for an answer, oldest first. Each
// session's history is read once, however many of its requests were left behind.
func (q Queue) Waiting() ([]approval.Request, error) {
	all, err := q.List()
	if err != nil {
		return nil, err
	}
	sessions := map[engine.SessionKey]asked{}
	list := make([]approval.Request, 0, len(all))
	for _, r := range all {
		key := keyOf(r)
		one, known := sessions[key]
		if !known {
			if one, err = q.askedIn(key); err != nil {
				one = asked{} // damaged: its questions cannot be answered
			}
			sessions[key] = one
		}
		if state, err := one.state(r.ID); err == nil && state == approval.Pending {
			list = append(list, r)
		}
	}
	return list, nil
}

// StateOf returns the state of a request's question.
func (q Queue) StateOf(r approval.Request) (approval.State, error) {
	one, err := q.askedIn(keyOf(r))
	if err != nil {
		return "", err
	}
	return one.state(r.ID)
}

// asked contains the questions of a session's history, at a time.
type asked struct {
	chain     string
	questions approval.Questions
	t         int64 // Unix milliseconds
}

func (q Queue) askedIn(key engine.SessionKey) (asked, error) {
	var one asked
	err := q.Log.Update(context.Background(), key, func(t history.Tail) error {
		one = asked{t.History.Chain, slices.Clone(t.History.Questions), max(q.now(), t.History.T)}
		return nil
	})
	return one, err
}

// state returns the state of a question by the id of its record.
func (a *asked) state(id string) (approval.State, error) {
	one := a.questions.Of(numberOf(id))
	if one == nil || engine.RecordID(a.chain, one.N) != id {
		return "", ErrGone
	}
	return one.StateAt(a.t), nil
}

// Answer records an answer. It is refused unless the question waits and has the digest. Two
// answers at the same time: the log takes one, and the other is refused. A stop that could not be
// recorded is a StopError.
func (q Queue) Answer(ctx context.Context, a Answer) (approval.Request, error) {
	r, err := q.Get(a.ID)
	switch {
	case err == nil:
		err = q.record(ctx, r, a)
	case errors.Is(err, fs.ErrNotExist):
		err = ErrGone
	}
	if a.Stop && !a.Approve {
		if failed := q.stop(ctx, a); failed != nil {
			err = errors.Join(err, &StopError{failed})
		}
	}
	return r, err
}

func (q Queue) record(ctx context.Context, r approval.Request, a Answer) error {
	choice := engine.Control{Do: engine.ControlDeny, Record: r.ID, Digest: a.Digest, Reason: reasonOf(a),
		By: a.By, Decided: &engine.Decided{Who: engine.DecidedPerson, Channel: a.Channel}}
	if a.Approve {
		choice.Do = engine.ControlApprove
	}
	err := q.Log.ControlIf(ctx, keyOf(r), choice, a.Signer, func(h *history.State) error {
		if h.Chain == "" || !strings.HasPrefix(r.ID, h.Chain[:min(8, len(h.Chain))]+"-") {
			return ErrGone
		}
		return h.Questions.Accepts(numberOf(r.ID), a.Digest, max(q.now(), h.T))
	})
	if err == nil && a.Approve && a.Session {
		err = q.allow(ctx, r, choice, a.Signer)
	}
	return err
}

func reasonOf(a Answer) string { return engine.ClipJSON(a.Message, 480) }

// stop stops the session of a question, whatever became of the question.
func (q Queue) stop(ctx context.Context, a Answer) error {
	rec, err := q.Log.Find(a.ID)
	if err != nil {
		return err
	}
	if rec.Answer == nil || rec.Answer.Pending == nil {
		return fmt.Errorf("%s is not a question", a.ID)
	}
	return q.Log.Control(ctx, engine.SessionKey{Harness: rec.Harness, Session: rec.Session},
		engine.Control{Do: engine.ControlStop, Reason: cmp.Or(reasonOf(a), "stopped by a person"), By: a.By}, a.Signer)
}

// StopError means that a session could not be stopped.
type StopError struct{ Err error }

// Error reports that the session continues.
func (e *StopError) Error() string { return "the session could not be stopped: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StopError) Unwrap() error { return e.Err }

// allow allows the same call until the session ends.
func (q Queue) allow(ctx context.Context, r approval.Request, choice engine.Control, signer audit.Signer) error {
	rec, err := q.Log.Find(r.ID)
	if err != nil {
		return err
	}
	key, known := rec.CallKey()
	if !known {
		return fmt.Errorf("the call was approved once; it would not be recognised if it were made again")
	}
	choice.Do, choice.Print, choice.CWD = engine.ControlAllowSession, key.Print, key.CWD
	choice.Digest, choice.Decided = "", nil
	return q.Log.Control(ctx, keyOf(r), choice, signer)
}

func (q Queue) now() int64 {
	if q.Now != nil {
		return q.Now()
	}
	return time.Now().UnixMilli()
}

func keyOf(r approval.Request) engine.SessionKey {
	return engine.SessionKey{Harness: r.Harness, Session: r.Session}
}

// numberOf returns the number of a record by its id; 0: it is not one.
func numberOf(id string) int64 {
	n, err := strconv.ParseInt(id[strings.LastIndexByte(id, '-')+1:], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
