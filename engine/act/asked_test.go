package act

import (
	"context"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// TestAskedByTheClient: a question and its answer count only from the session's client, in a mode in which a person answers.
func TestAskedByTheClient(t *testing.T) {
	client := engine.Client{Pid: 7, Start: 1, Boot: "b"}
	other := engine.Client{Pid: 8, Start: 2, Boot: "b"}
	stray := engine.Client{Pid: 9, Start: 3, Boot: "b", Missing: "it runs below the client of session s1"}
	for name, c := range map[string]struct {
		by     *engine.Client
		mode   string
		counts bool
	}{
		"the client":                 {&client, "default", true},
		"another process":            {&other, "default", false},
		"a call of the agent":        {&stray, "default", false},
		"where nobody is asked":      {&client, "bypassPermissions", false},
		"nobody says who reports it": {nil, "default", true},
	} {
		l := newMemoryLog()
		r := newReviewer(l, always(engine.Decision{Decision: engine.Allow, Enforced: engine.Allow}))
		r.Agent.Runs = func(*engine.Client) bool { return true }
		start := event(engine.PhaseStart, "")
		start.Client = &client
		handle(t, r, start)
		e := event(engine.PhasePre, "q1")
		e.Client, e.Mode, e.Asked = c.by, c.mode, &engine.Question{Plan: "1. Push"}
		p := &review.Policy{Settings: settings.Settings{UnattendedModes: []string{"bypassPermissions"}}}
		got, err := r.from(context.Background(), engine.SessionKey{Harness: e.Harness, Session: e.Session}, e, p)
		if err != nil || (got.Asked != nil) != c.counts {
			t.Errorf("%s: %+v %v", name, got.Asked, err)
		}
	}
}

// copies are sessions that another one may be a copy of.
type copies struct {
	stopsFunc
	others []review.Other
}

func (c copies) Others(engine.SessionKey, string, int64) ([]review.Other, error) {
	return c.others, nil
}

// TestCopiesKeepProhibitions: what people forbade in a session is forbidden in its copies, once, and in no other session; what they
// permitted stays where they did.
func TestCopiesKeepProhibitions(t *testing.T) {
	forbids, orders := engine.Statement{Kind: engine.Forbids, Act: "push"}, engine.Statement{Kind: engine.Orders, Act: "commit"}
	original := &history.State{}
	original.Append(&engine.Record{N: 1, Kind: engine.KindPrompt, Event: &engine.EventFacts{Goal: &engine.Goal{Statements: []engine.Statement{forbids, orders}}}})
	for name, c := range map[string]struct {
		harness string
		copied  bool
		want    int
	}{
		"a copy":           {"h", true, 1},
		"another session":  {"h", false, 0},
		"of another agent": {"codex", true, 0},
	} {
		l := newMemoryLog()
		r := newReviewer(l, always(engine.Decision{Decision: engine.Allow, Enforced: engine.Allow}))
		none := func() ([]review.Stopped, error) { return nil, nil }
		r.Services.Sessions = copies{stopsFunc{none, c.copied},
			[]review.Other{{Key: engine.SessionKey{Harness: c.harness, Session: "old"}, Chain: "c0ffee", State: original}}}
		for _, id := range []string{"c1", "c2"} {
			e := event(engine.PhasePre, id)
			e.Transcript = "/t.jsonl"
			handle(t, r, e)
		}
		if said := l.history.Goals.Statements(); len(said) != c.want || c.want > 0 && (said[0].Act != "push" || said[0].Prompt != 0) {
			t.Errorf("%s: %+v", name, said)
		}
	}
}
