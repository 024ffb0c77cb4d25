package apiserver

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

func (s *Server) listSessions(http.ResponseWriter, *http.Request) (any, *refusal) {
	all, err := s.Queue.Log.Sessions()
	if err != nil {
		return nil, unavailable()
	}
	list := api.Sessions{Sessions: []api.Session{}}
	for i := range all {
		list.Sessions = append(list.Sessions, sessionOf(&all[i]))
	}
	return list, nil
}

func (s *Server) getSession(_ http.ResponseWriter, r *http.Request) (any, *refusal) {
	all, err := s.Queue.Log.Sessions()
	if err != nil {
		return nil, unavailable()
	}
	i := slices.IndexFunc(all, func(one audit.Session) bool { return one.Key.Session == r.PathValue("id") })
	if i < 0 {
		return nil, refuse(http.StatusNotFound, api.CodeNotFound, "the log has no session with this id", "list the sessions")
	}
	waiting, err := s.Queue.Waiting()
	if err != nil {
		return nil, unavailable()
	}
	key := all[i].Key
	waiting = slices.DeleteFunc(waiting, func(q approval.Request) bool { return q.Session != key.Session || q.Harness != key.Harness })
	return api.SessionDetail{Session: sessionOf(&all[i]), Questions: waiting}, nil
}

func sessionOf(s *audit.Session) api.Session {
	one := api.Session{Session: s.Key.Session, Harness: s.Key.Harness, Workspace: s.Workspace, Began: s.First, Last: s.Last,
		Records: s.N, Calls: s.Actions, Prompts: s.Prompts, Denied: s.Denied, Asked: s.Asked, Damaged: s.Err != nil}
	if s.Stopped != nil {
		one.Stopped = cmp.Or(s.Stopped.Reason, "no reason was given")
	}
	return one
}

// reviewEvent decides about an event of another program. Nothing is recorded, so the event
// belongs to no session and no prompt.
func (s *Server) reviewEvent(_ http.ResponseWriter, r *http.Request) (any, *refusal) {
	doc, refused := body(r)
	if refused != nil {
		return nil, refused
	}
	select {
	case s.reviews <- struct{}{}:
		defer func() { <-s.reviews }()
	default:
		return nil, refuse(http.StatusServiceUnavailable, api.CodeBusy, "too many events are reviewed at the same time",
			"send the event again later")
	}
	review, err := s.Review(r.Context(), doc)
	if err != nil {
		return nil, badDocument(err.Error())
	}
	return review, nil
}
