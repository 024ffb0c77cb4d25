package apiserver

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// The bounds of streams.
const (
	maxStreams = 16   // clients at the same time
	maxKept    = 1024 // events for clients that connect again
	maxBehind  = 256  // events that a client has not taken; it is then dropped
)

// Hub passes events to the clients that follow them, and keeps the last ones for clients that
// connect again.
type Hub struct {
	run string // of this process: the ids of another one mean nothing

	mu      sync.Mutex
	next    uint64
	kept    []sent
	streams map[*stream]bool
	wake    chan struct{}
}

// sent is an event as it is written to clients.
type sent struct {
	n    uint64
	text string
}

// stream is a client. Its channel is closed if it is dropped.
type stream struct{ events chan sent }

// NewHub returns a hub without clients.
func NewHub() *Hub {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails
	return &Hub{run: hex.EncodeToString(b), next: 1, streams: map[*stream]bool{}, wake: make(chan struct{}, 1)}
}

// Publish passes an event to all clients. It never waits for one: a client that reads too
// slowly is dropped, and can connect again.
func (h *Hub) Publish(e api.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := sent{h.next, h.text(h.next, e)}
	h.next++
	if h.kept = append(h.kept, one); len(h.kept) > maxKept {
		h.kept = append([]sent{}, h.kept[len(h.kept)-maxKept/2:]...)
	}
	for s := range h.streams {
		select {
		case s.events <- one:
		default:
			delete(h.streams, s)
			close(s.events)
		}
	}
}

// text writes an event in the format of Server-Sent Events.
func (h *Hub) text(n uint64, e api.Event) string {
	b, err := json.Marshal(e) // without line breaks
	if err != nil {
		b = []byte("{}")
	}
	return fmt.Sprintf("id: %s-%d\nevent: %s\ndata: %s\n\n", h.run, n, e.Kind, b)
}

// follow adds a client. last is the id of the last event that it has; empty: it wants none of
// the past. before is what it has missed; ok is false if there are too many clients.
func (h *Hub) follow(last string, now int64) (s *stream, before []sent, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.streams) >= maxStreams {
		return nil, nil, false
	}
	s = &stream{make(chan sent, maxBehind)}
	h.streams[s] = true
	return s, h.since(last, now), true
}

func (h *Hub) since(last string, now int64) []sent {
	if last == "" {
		return nil
	}
	run, number, _ := strings.Cut(last, "-")
	n, err := strconv.ParseUint(number, 10, 64)
	oldest := h.next - uint64(len(h.kept))
	if run != h.run || err != nil || n >= h.next || n+1 < oldest {
		return []sent{{h.next - 1, h.text(h.next-1, api.Event{Kind: api.EventMissed, T: now})}}
	}
	return append([]sent{}, h.kept[n+1-oldest:]...)
}

func (h *Hub) leave(s *stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, s)
}

// Followed reports whether a client follows the events.
func (h *Hub) Followed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.streams) > 0
}

// nudge makes the watcher look at the questions now.
func (h *Hub) nudge() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}
