package act

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// A session has one client. Its prompts count, those of other processes are notes; once it has ended, the next one becomes the
// client, and what was permitted is over.
func TestSessionHasOneClient(t *testing.T) {
	first, second := engine.Client{Pid: 7, Start: 1, Boot: "b"}, engine.Client{Pid: 8, Start: 2, Boot: "b"}
	stray := engine.Client{Pid: 9, Start: 3, Boot: "b", Missing: "it runs below the client of session s1"}
	joined, apart := first, first
	joined.Joined = true
	free := first
	free.Free = true
	fed := first
	fed.Feeds = true
	missing := first
	missing.Missing = "its outermost program is kitty"
	timer := first
	timer.Missing, timer.Headless = "a schedule started it", true
	type sent struct {
		phase engine.Phase
		by    engine.Client
	}
	start, prompt, call := engine.PhaseStart, engine.PhasePrompt, engine.PhasePre
	for _, c := range []struct {
		name   string
		events []sent
		ended  []int  // clients that have ended when the last event comes
		want   string // the kind of the last record; with the reason of a note
		expire bool   // the last event is the first under another client
	}{
		{"the client", []sent{{start, first}, {prompt, first}}, nil, "prompt", false},
		{"its first event", []sent{{prompt, first}}, nil, "prompt", false},
		{"a first event that nobody verified", []sent{{prompt, stray}}, nil, "note: it runs below", false},
		{"another process, while it runs", []sent{{start, first}, {prompt, second}}, nil, "note: the client of the session (process 7) still runs, and process 8", false},
		{"a stray one, while it runs", []sent{{start, first}, {prompt, stray}}, nil, "note: it runs below", false},
		{"a stray one, once it has ended", []sent{{start, first}, {prompt, stray}}, []int{7}, "note: it runs below", true},
		{"a resumed session", []sent{{start, first}, {prompt, first}, {prompt, second}}, []int{7}, "prompt", true},
		{"a resumed session, at its start", []sent{{start, first}, {start, second}}, []int{7}, "note", true},
		{"a resumed session, at a call", []sent{{start, first}, {call, stray}}, []int{7}, "pre", true},
		{"a start by another process, while it runs", []sent{{start, first}, {start, second}, {prompt, first}}, nil, "prompt", false},
		{"a call of another process, while it runs", []sent{{start, first}, {call, stray}}, nil, "pre", false},
		{"a hook in another session of processes", []sent{{start, joined}, {prompt, apart}}, nil, "note: the hook does not run in the client's own", false},
		{"hooks that never run in the client's own", []sent{{start, apart}, {prompt, apart}}, nil, "prompt", false},
		{"a hook that does not read from the client", []sent{{start, fed}, {prompt, first}}, nil, "note: the hook does not read from the client", false},
		{"a hook in the client's sandbox", []sent{{start, free}, {prompt, first}}, nil, "note: the hook runs with fewer rights", false},
		{"hooks that are all in its sandbox", []sent{{start, first}, {prompt, first}}, nil, "prompt", false},
		{"hooks that all read from the client", []sent{{start, fed}, {prompt, fed}}, nil, "prompt", false},
		{"the first that reads from the client", []sent{{start, first}, {prompt, fed}}, nil, "prompt", false},
		{"not verified at first, and confirmed later", []sent{{start, missing}, {prompt, first}}, nil, "prompt", true},
		{"not verified at first, and another one is", []sent{{start, stray}, {prompt, first}}, nil, "prompt", true},
		{"never verified", []sent{{start, missing}, {prompt, missing}}, nil, "note: its outermost program", false},
		{"started by a schedule", []sent{{start, timer}, {prompt, timer}}, nil, "note: a schedule", false},
		{"verified, and then it lacks a fact", []sent{{start, first}, {prompt, missing}}, nil, "note: its outermost program", false},
		{"the number given again to another process", []sent{{start, first}, {prompt, engine.Client{Pid: 7, Start: 9, Boot: "b"}}}, []int{7}, "prompt", true},
	} {
		l := newMemoryLog()
		r := newReviewer(l, always(engine.Decision{Decision: engine.Allow, Enforced: engine.Allow}))
		var ended []int
		r.Agent.Runs = func(o *engine.Client) bool {
			for _, pid := range ended {
				if o.Pid == pid {
					return false
				}
			}
			return true
		}
		var answer engine.Answer
		for i, s := range c.events {
			if i == len(c.events)-1 {
				ended = c.ended
			}
			e := event(s.phase, "")
			by := s.by
			e.Client = &by
			if s.phase == prompt {
				e.Prompt, e.Tool = "Tidy up.", ""
			}
			before := len(l.records)
			answer = handle(t, r, e)
			if i < len(c.events)-1 {
				continue
			}
			expired := false
			for _, rec := range l.records[before:] {
				if ctl := rec.Control; ctl != nil && ctl.Do == engine.ControlExpire {
					expired = true
				}
			}
			if expired != c.expire {
				t.Errorf("%s: what was permitted is over: %t", c.name, expired)
			}
		}
		last := l.records[len(l.records)-1]
		kind, why, _ := strings.Cut(c.want, ": ")
		if string(last.Kind) != kind || why != "" && (last.Note == nil || last.Note.What != "unverified" || !strings.Contains(last.Note.Detail, why)) {
			t.Errorf("%s: %s %+v, want %s", c.name, last.Kind, last.Note, c.want)
		}
		if told := strings.Contains(answer.Person, "does not count as a person's words"); told != (why != "") {
			t.Errorf("%s: the person is told %q", c.name, answer.Person)
		}
	}
}

// A policy may let the prompts of a schedule count; it does not make up for any other fact that a client lacks.
func TestPolicyAboutSchedules(t *testing.T) {
	timer := engine.Client{Pid: 7, Start: 1, Boot: "b", Missing: "a schedule started it", Headless: true}
	stray := engine.Client{Pid: 7, Start: 1, Boot: "b", Missing: "it runs below the client of session s1"}
	for _, c := range []struct {
		by      engine.Client
		permits bool
		want    engine.Kind
	}{{timer, true, engine.KindPrompt}, {timer, false, engine.KindNote}, {stray, true, engine.KindNote}} {
		l := newMemoryLog()
		r := newReviewer(l, always(engine.Decision{Decision: engine.Allow, Enforced: engine.Allow}))
		policy := r.Policy
		r.Policy = func(workspace string) (*review.Policy, error) {
			p, err := policy(workspace)
			if c.permits {
				p.Settings.Words.Headless = headlessPermits
			}
			return p, err
		}
		e := event(engine.PhasePrompt, "")
		e.Client, e.Prompt, e.Tool = &c.by, "Tidy up.", ""
		answer := handle(t, r, e)
		if got := l.records[len(l.records)-1].Kind; got != c.want || strings.Contains(answer.Person, "does not count") != (c.want == engine.KindNote) {
			t.Errorf("%s, permitted: %t: %s, want %s; the person is told %q", c.by.Missing, c.permits, got, c.want, answer.Person)
		}
	}
}
