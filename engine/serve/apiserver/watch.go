package apiserver

import (
	"context"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// lookEvery is the interval at which the state directory is examined while somebody
// follows events, since other processes write there too.
const lookEvery = 300 * time.Millisecond

// watch publishes what happens to questions and which sessions are stopped.
func (s *Server) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.Events.wake:
		}
		s.look()
	}
}

// seen is the state at the last look.
type seen struct {
	sync.Mutex
	questions map[string]approval.Request // that wait; nil: nobody followed the events
	over      map[string]bool             // questions that no longer wait, whose files are still there
	record    int64                       // number of the ledger's newest record
	size      int64                       // of the ledger
}

// look compares the state directory with the last look. The first look for a client publishes
// nothing: the client lists the questions itself, once its stream has begun.
func (s *Server) look() {
	v := &s.seen
	v.Lock()
	defer v.Unlock()
	if !s.Events.Followed() {
		v.questions = nil
		return
	}
	first := v.questions == nil
	if first {
		v.questions, v.over = map[string]approval.Request{}, map[string]bool{}
	}
	changed := s.stops(first)
	ids, err := s.Queue.IDs()
	if err != nil {
		return // examined again soon
	}
	there := map[string]bool{}
	for _, id := range ids {
		there[id] = true
		if _, known := v.questions[id]; !known && !v.over[id] {
			s.opened(id, first)
		}
	}
	now := time.Now().UnixMilli()
	for id, q := range v.questions {
		if changed || !there[id] || now > q.Until {
			s.closed(q, there[id])
		}
	}
	for id := range v.over {
		if !there[id] {
			delete(v.over, id)
		}
	}
}

// opened publishes a question whose file is new.
func (s *Server) opened(id string, first bool) {
	q, state, err := s.question(id)
	switch {
	case err != nil: // withdrawn meanwhile, or examined again soon
	case state != approval.Pending:
		s.seen.over[id] = true
	default:
		s.seen.questions[id] = q
		if !first {
			s.Events.Publish(event(api.EventOpened, q, state))
		}
	}
}

// closed publishes the outcome of a question, if it has one. One whose agent has ended is
// pending until its time has passed.
func (s *Server) closed(q approval.Request, there bool) {
	state, err := s.Queue.StateOf(q)
	if err == nil && state == approval.Pending {
		return
	}
	delete(s.seen.questions, q.ID)
	s.seen.over[q.ID] = there
	s.Events.Publish(event(kindOf(state), q, state))
}

func kindOf(state approval.State) string {
	switch state {
	case approval.Approved, approval.Resumed, approval.Denied:
		return api.EventAnswered
	case approval.Expired:
		return api.EventExpired
	}
	return api.EventEnded
}

func event(kind string, q approval.Request, state approval.State) api.Event {
	e := api.Event{Kind: kind, T: time.Now().UnixMilli(), Session: q.Session, Harness: q.Harness, Question: q.ID, State: state}
	if kind == api.EventOpened {
		e.Until = q.Until
	}
	return e
}

// stops publishes the stops that the ledger has since the last look, and reports whether
// anything is new there: answers and stops are copied to it.
func (s *Server) stops(first bool) (changed bool) {
	v := &s.seen
	size := s.Queue.Log.LedgerSize()
	if size == v.size {
		return false
	}
	for r, err := range s.Queue.Log.LedgerFrom(v.record + 1) {
		if err != nil {
			return true // examined again soon
		}
		v.record = r.N
		if c := r.Control; !first && c != nil && (c.Do == engine.ControlStop || c.Do == engine.ControlAbort) {
			s.Events.Publish(api.Event{Kind: api.EventStop, T: r.T, Session: r.Session, Harness: r.Harness, Reason: c.Reason})
		}
	}
	v.size = size
	return true
}
