package apiserver

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// heartbeat is the interval at which a stream without events gets a comment, so that both
// sides notice a broken connection. streamWait is the time that a client may take for one
// write.
const (
	heartbeat  = 15 * time.Second
	streamWait = 10 * time.Second
)

func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request) (any, *refusal) {
	one, before, ok := s.Events.follow(r.Header.Get("Last-Event-ID"), time.Now().UnixMilli())
	if !ok {
		return nil, refuse(http.StatusServiceUnavailable, api.CodeBusy, "too many clients follow the events", "close another one")
	}
	defer s.Events.leave(one)
	s.look() // what opens from here on is published
	w.Header().Set("Content-Type", "text/event-stream")
	out := &eventWriter{w, http.NewResponseController(w)}
	if !out.write("retry: 2000\n\n") {
		return nil, nil
	}
	for _, e := range before {
		if !out.write(e.text) {
			return nil, nil
		}
	}
	out.copy(r.Context(), one)
	return nil, nil
}

// eventWriter writes to a client that follows events.
type eventWriter struct {
	to      io.Writer
	control *http.ResponseController
}

// write writes a string, and reports whether the client has taken it.
func (o *eventWriter) write(text string) bool {
	now := time.Now()
	if o.control.SetReadDeadline(time.Time{}) != nil || o.control.SetWriteDeadline(now.Add(streamWait)) != nil {
		return false
	}
	if _, err := io.WriteString(o.to, text); err != nil {
		return false
	}
	return o.control.Flush() == nil
}

// copy writes events until the client leaves, is too slow, or the process ends.
func (o *eventWriter) copy(ctx context.Context, one *stream) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		text := ": heartbeat\n\n"
		select {
		case <-ctx.Done():
			return
		case e, ok := <-one.events:
			if text = e.text; !ok {
				return
			}
		case <-tick.C:
		}
		if !o.write(text) {
			return
		}
	}
}
