package apiserver

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"strconv"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// channel is the channel of answers that are given here.
const channel = "http"

func (s *Server) listQuestions(http.ResponseWriter, *http.Request) (any, *refusal) {
	list, err := s.Queue.Waiting()
	if err != nil {
		return nil, unavailable()
	}
	return api.Questions{Questions: list}, nil
}

func (s *Server) getQuestion(_ http.ResponseWriter, r *http.Request) (any, *refusal) {
	q, state, err := s.question(r.PathValue("id"))
	switch {
	case err != nil:
		return nil, s.notAnswered(r.PathValue("id"), err)
	case state != approval.Pending:
		return nil, over(state)
	}
	return q, nil
}

func (s *Server) question(id string) (approval.Request, approval.State, error) {
	q, err := s.Queue.Get(id)
	if errors.Is(err, fs.ErrNotExist) {
		return q, "", queue.ErrGone
	}
	if err != nil {
		return q, "", err
	}
	state, err := s.Queue.StateOf(q)
	return q, state, err
}

func (s *Server) answerQuestion(w http.ResponseWriter, r *http.Request) (any, *refusal) {
	var a api.Answer
	if refused := read(r, &a); refused != nil {
		return nil, refused
	}
	k, refused := s.unlock(w, r)
	if refused != nil {
		return nil, refused
	}
	defer k.Wipe()
	answered, refused := s.record(r.Context(), r.PathValue("id"), a, k)
	if refused != nil {
		return nil, refused
	}
	return answered, nil
}

func (s *Server) answerQuestions(w http.ResponseWriter, r *http.Request) (any, *refusal) {
	var bulk api.Bulk
	if refused := read(r, &bulk); refused != nil {
		return nil, refused
	}
	if refused := checkBulk(&bulk); refused != nil {
		return nil, refused
	}
	k, refused := s.unlock(w, r)
	if refused != nil {
		return nil, refused
	}
	defer k.Wipe()
	all := api.BulkResults{Results: []api.BulkResult{}}
	reply := http.NewResponseController(w)
	for i := range bulk.Answers {
		// The reply says which answers are recorded, so the time that they take does not count. A writer without a deadline needs none.
		_ = reply.SetWriteDeadline(time.Now().Add(writeWait))
		b := &bulk.Answers[i]
		one := api.BulkResult{ID: b.ID, Status: http.StatusOK}
		answered, refused := s.record(r.Context(), b.ID, b.Answer(), k)
		if one.Answered = answered; refused != nil {
			one.Status, one.Refused = refused.status, &refused.Error
		}
		all.Results = append(all.Results, one)
	}
	return all, nil
}

func checkBulk(bulk *api.Bulk) *refusal {
	if len(bulk.Answers) == 0 || len(bulk.Answers) > api.MaxBulk {
		return badDocument("the document has no answers, or more than " + strconv.Itoa(api.MaxBulk))
	}
	known := map[string]bool{}
	for _, b := range bulk.Answers {
		if known[b.ID] {
			return badDocument("two answers are for the same question")
		}
		known[b.ID] = true
	}
	return nil
}

// unlock returns the key that the approval code of a request yields.
func (s *Server) unlock(w http.ResponseWriter, r *http.Request) (*code.Key, *refusal) {
	given := r.Header.Get(api.CodeHeader)
	if given == "" || len(given) > 64 {
		return nil, refuse(http.StatusForbidden, api.CodeNoCode, "the approval code is missing",
			"send the header "+api.CodeHeader+" with the code of `reviewer approvals code`")
	}
	k, err := s.Codes.UnlockFor(r.Context(), given)
	if locked := new(code.LockedError); errors.As(err, &locked) {
		w.Header().Set("Retry-After", strconv.Itoa(int(locked.For/time.Second)+1))
		return nil, refuse(http.StatusTooManyRequests, api.CodeLocked, locked.Error(), "answer with `reviewer approvals` at a terminal")
	}
	switch {
	case errors.Is(err, code.ErrNone):
		return nil, refuse(http.StatusForbidden, api.CodeNoCode, "no approval code is set", "create one with `reviewer approvals code`")
	case errors.Is(err, audit.ErrOtherKey), errors.Is(err, code.ErrSeen):
		return nil, refuse(http.StatusForbidden, api.CodeNoCode, err.Error(), "see `reviewer doctor code`")
	case errors.Is(err, code.ErrWrong):
		return nil, refuse(http.StatusForbidden, api.CodeWrongCode, err.Error(), "check it; `reviewer approvals code` creates a new one")
	case err != nil:
		return nil, unavailable()
	}
	return k, nil
}

// record records an answer with the key of the person's code.
func (s *Server) record(ctx context.Context, id string, a api.Answer, k *code.Key) (*api.Answered, *refusal) {
	message, err := s.Mask(a.Message)
	if err != nil {
		return nil, unavailable()
	}
	// A client that hangs up does not decide whether the answer counts.
	_, err = s.Queue.Answer(context.WithoutCancel(ctx), queue.Answer{ID: id, Digest: a.Digest, Approve: a.Approve,
		Session: a.Session && a.Approve, Stop: a.Stop && !a.Approve, Message: message, By: s.By, Channel: channel, Signer: k})
	s.Events.nudge()
	answered := &api.Answered{ID: id, Approved: a.Approve, Session: a.Session && a.Approve, Stopped: a.Stop && !a.Approve, By: s.By}
	if err == nil {
		return answered, nil
	}
	refused := s.notAnswered(id, err)
	if refused.Code == api.CodeUnavailable && answered.Session && s.approved(id) {
		answered.Session = false // the call would not be recognised if it were made again
		return answered, nil
	}
	return nil, refused
}

// approved reports whether the call of a question was approved.
func (s *Server) approved(id string) bool {
	_, state, err := s.question(id)
	return err == nil && (state == approval.Approved || state == approval.Resumed)
}

// notAnswered returns why an answer was refused.
func (s *Server) notAnswered(id string, err error) *refusal {
	switch {
	case errors.Is(err, approval.ErrAnswered):
		return refuse(http.StatusConflict, api.CodeAnswered, approval.ErrAnswered.Error(), listAgain)
	case errors.Is(err, approval.ErrStopped):
		return over(approval.Stopped)
	case errors.Is(err, approval.ErrOther):
		return refuse(http.StatusConflict, api.CodeStale, "the digest does not match this question",
			"get the question again, and read it before you answer")
	case errors.Is(err, approval.ErrLate):
		return over(approval.Expired)
	case errors.Is(err, queue.ErrGone), errors.Is(err, approval.ErrUnknown):
		return s.gone(id)
	}
	return unavailable()
}

const listAgain = "list the questions again"

// gone returns the outcome of a question whose request was withdrawn, from the log.
func (s *Server) gone(id string) *refusal {
	r, err := s.Queue.Log.Find(id)
	if err != nil || r.Answer == nil || r.Answer.Pending == nil {
		return refuse(http.StatusNotFound, api.CodeUnknown, "no question with this id waits", listAgain)
	}
	state, err := s.Queue.StateOf(requestOf(r))
	if err != nil || state == approval.Pending {
		return over(approval.Expired) // the agent no longer waits
	}
	return over(state)
}

// requestOf returns as much of a question's request as its state needs.
func requestOf(r *engine.Record) approval.Request {
	return approval.Request{ID: r.ID(), Harness: r.Harness, Session: r.Session}
}

// over is the error for a question that no longer waits.
func over(state approval.State) *refusal {
	switch state {
	case approval.Expired:
		return refuse(http.StatusGone, api.CodeLate, "the time for an answer has passed, and the call was denied", listAgain)
	case approval.Stopped:
		return refuse(http.StatusConflict, api.CodeStopped, "the session was stopped after this question, so the call does not run", listAgain)
	}
	return refuse(http.StatusConflict, api.CodeAnswered, "this question has an answer: "+string(state), listAgain)
}
