package apiserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// follower reads a stream of events.
type follower struct {
	t     *testing.T
	lines *bufio.Scanner
	last  string // id of the last event
	end   func()
}

func (b *bench) follow(last string) *follower {
	b.t.Helper()
	ctx, end := context.WithTimeout(context.Background(), 20*time.Second)
	b.t.Cleanup(end)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+"/v1/events", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+b.server.Token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		b.t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	return &follower{t: b.t, lines: bufio.NewScanner(answer.Body), end: end}
}

func (f *follower) next() api.Event {
	f.t.Helper()
	var e api.Event
	for f.lines.Scan() {
		name, value, _ := strings.Cut(f.lines.Text(), ": ")
		switch name {
		case "id":
			f.last = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				f.t.Fatal(err)
			}
			return e
		}
	}
	f.t.Fatalf("the stream ended: %v", f.lines.Err())
	return e
}

func TestEvents(t *testing.T) {
	b := newBench(t)
	before := b.ask("s1", 1, time.Minute)
	f := b.follow("")
	q := b.ask("s1", 2, time.Minute)
	if e := f.next(); e.Kind != api.EventOpened || e.Question != q.ID || e.Session != "s1" || e.Until != q.Until {
		t.Errorf("%+v", e)
	}
	if status, text := b.answer(before, api.Answer{Digest: before.Digest, Approve: true}); status != 200 {
		t.Fatal(text)
	}
	if e := f.next(); e.Kind != api.EventAnswered || e.Question != before.ID || e.State != "approved" {
		t.Errorf("%+v", e)
	}
	short := b.ask("s1", 3, 500*time.Millisecond)
	if e := f.next(); e.Question != short.ID || e.Kind != api.EventOpened {
		t.Errorf("%+v", e)
	}
	if e := f.next(); e.Kind != api.EventExpired || e.Question != short.ID {
		t.Errorf("%+v", e)
	}
	b.stop("s1")
	kinds := map[string]api.Event{}
	for range 2 {
		e := f.next()
		kinds[e.Kind] = e
	}
	if kinds[api.EventStop].Reason != "enough" || kinds[api.EventEnded].Question != q.ID {
		t.Errorf("%+v", kinds)
	}
	b.server.Events.Publish(api.Event{Kind: api.EventDecision, Session: "s1", Decision: "allow"})
	if e := f.next(); e.Kind != api.EventDecision || e.Decision != "allow" {
		t.Errorf("%+v", e)
	}
}

func TestEventsAgain(t *testing.T) {
	b := newBench(t)
	f := b.follow("")
	publish := func(from, to int) {
		for i := from; i < to; i++ {
			b.server.Events.Publish(api.Event{Kind: api.EventDecision, Session: fmt.Sprint(i)})
		}
	}
	publish(0, 3)
	for range 3 {
		f.next()
	}
	last := f.last
	f.end()
	publish(3, 6)
	again := b.follow(last)
	for i := 3; i < 6; i++ {
		if e := again.next(); e.Session != fmt.Sprint(i) {
			t.Errorf("%+v, want %d", e, i)
		}
	}
	publish(6, 6+2*maxKept)
	for _, last := range []string{last, "00000000-1", "x", b.server.Events.run + "-99999999"} {
		if e := b.follow(last).next(); e.Kind != api.EventMissed {
			t.Errorf("%s: %+v", last, e)
		}
	}
}

func TestTooManyStreams(t *testing.T) {
	b := newBench(t)
	for range maxStreams {
		b.follow("")
	}
	if status, _, text := b.request(http.MethodGet, "/v1/events", nil); status != 503 || !strings.Contains(text, api.CodeBusy) {
		t.Errorf("%d %s", status, text)
	}
	if status, _, _ := b.request(http.MethodGet, "/v1/approvals", nil); status != 200 {
		t.Errorf("another request: %d", status)
	}
}

// A client that takes nothing is dropped, and holds up nobody.
func TestSlowFollower(t *testing.T) {
	h := NewHub()
	slow, _, _ := h.follow("", 0)
	for range maxBehind + 1 {
		h.Publish(api.Event{Kind: api.EventDecision})
	}
	n := 0
	for range slow.events {
		n++
	}
	if n != maxBehind || h.Followed() {
		t.Errorf("%d events, followed: %t", n, h.Followed())
	}
	h.leave(slow)
}
