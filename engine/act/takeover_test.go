package act

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/google/go-cmp/cmp"
)

type stopsFunc struct {
	list   func() ([]review.Stopped, error)
	copied bool
}

func (s stopsFunc) Others(engine.SessionKey, string, int64) ([]review.Other, error) { return nil, nil }

func (s stopsFunc) Stopped() ([]review.Stopped, error) { return s.list() }
func (s stopsFunc) Await(engine.Event)                 {}

func (s stopsFunc) Copied(engine.Event, engine.SessionKey) bool { return s.copied }

// A stop follows into copies of a session, and into others of its workspace as policy
// chooses; into no other.
func TestInherit(t *testing.T) {
	for name, c := range map[string]struct {
		scope, mode, workspace, session string
		copied                          bool
		want                            string
		final                           bool
	}{
		"a copy":                       {"session", "default", "/w", "old", true, "a copy of old: too fast", false},
		"another session":              {"session", "default", "/w", "old", false, "", false},
		"itself":                       {"workspace", "default", "/w", "s", true, "", false},
		"a copy elsewhere":             {"session", "default", "/v", "old", true, "", false},
		"of another agent":             {"workspace", "default", "/w", "codex:old", true, "old stopped here: too fast", false},
		"of another agent, watched":    {"unattended", "default", "/w", "codex:old", true, "", false},
		"in the workspace":             {"workspace", "default", "/w", "old", false, "old stopped here: too fast", false},
		"in another workspace":         {"workspace", "default", "/v", "old", false, "", false},
		"watched":                      {"unattended", "default", "/w", "old", false, "", false},
		"nobody watches":               {"unattended", "bypass", "/w", "old", false, "old stopped here: too fast", false},
		"an aborted one":               {"workspace", "bypass", "/w", "old", false, "", true},
		"a copy of an aborted one":     {"session", "default", "/w", "old", true, "a copy of old: too fast", true},
		"an older policy has no texts": {"", "default", "/w", "old", false, "", false},
	} {
		l := newMemoryLog()
		r := newReviewer(l, always(say(engine.Allow)))
		policy, _ := r.Policy("")
		policy.Inherit = review.Inherit{Scope: c.scope, Unattended: []string{"bypass"}, Copied: "a copy of {session}: {reason}", Nearby: "{session} stopped here: {reason}"}
		r.Policy = func(string) (*review.Policy, error) { return policy, nil }
		asked := 0
		r.Services.Sessions = stopsFunc{func() ([]review.Stopped, error) {
			asked++
			key := engine.SessionKey{Harness: "h", Session: c.session}
			if harness, session, other := strings.Cut(c.session, ":"); other {
				key = engine.SessionKey{Harness: harness, Session: session}
			}
			return []review.Stopped{{Key: key, Workspace: c.workspace,
				Reason: "too fast.", Final: c.final}}, nil
		}, c.copied}
		for _, id := range []string{"c1", "c2"} {
			e := event(engine.PhasePre, id)
			e.Mode = c.mode
			if _, err := r.Handle(context.Background(), e); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		if l.history.Stop != nil {
			got = l.history.Stop.Reason
		}
		if got != c.want || asked != 1 {
			t.Errorf("%s: stopped for %q after %d questions, want %q after one", name, got, asked, c.want)
		}
		if want := map[bool]string{true: "open pre pre", false: "open act pre pre"}[c.want == ""]; strings.Join(l.kinds(), " ") != want {
			t.Errorf("%s: records are %v, want %s", name, l.kinds(), want)
		}
	}
}

// The conditions of a session that was resumed follow into its copies, and into no other
// session. A stop is stricter.
func TestInheritConditions(t *testing.T) {
	for name, c := range map[string]struct {
		workspace, session string
		copied, stopped    bool
		want               string
	}{
		"a copy":                       {"/w", "old", true, false, engine.ResumeSupervise},
		"another session":              {"/w", "old", false, false, ""},
		"itself":                       {"/w", "s", true, false, ""},
		"a copy elsewhere":             {"/v", "old", true, false, ""},
		"a copy of a stopped one, too": {"/w", "old", true, true, ""},
	} {
		l := newMemoryLog()
		r := newReviewer(l, always(say(engine.Allow)))
		policy, _ := r.Policy("")
		policy.Inherit = review.Inherit{Scope: "workspace", Copied: "stopped", Nearby: "nearby", Conditions: "a copy of {session}"}
		r.Policy = func(string) (*review.Policy, error) { return policy, nil }
		key := engine.SessionKey{Harness: "h", Session: c.session}
		list := []review.Stopped{{Key: key, Workspace: c.workspace, Resumed: engine.ResumeSupervise, By: "anna"}}
		if c.stopped {
			list = append(list, review.Stopped{Key: engine.SessionKey{Harness: "h", Session: "other"}, Workspace: c.workspace, Reason: "x"})
		}
		r.Services.Sessions = stopsFunc{func() ([]review.Stopped, error) { return list, nil }, c.copied}
		for _, id := range []string{"c1", "c2"} {
			if _, err := r.Handle(context.Background(), event(engine.PhasePre, id)); err != nil {
				t.Fatal(err)
			}
		}
		if l.history.Resumed != c.want || (l.history.Stop != nil) != c.stopped {
			t.Errorf("%s: goes on with %q, want %q; stopped: %+v", name, l.history.Resumed, c.want, l.history.Stop)
		}
		if c.want != "" {
			want := &engine.Control{Do: engine.ControlResume, Mode: c.want, By: "anna", Reason: "a copy of old"}
			if d := cmp.Diff(want, l.records[1].Control); d != "" || len(l.records) != 4 {
				t.Errorf("%s: %v, %s", name, l.kinds(), d)
			}
		}
	}
}

// Where nobody knows which sessions are stopped, the call is denied.
func TestInheritFails(t *testing.T) {
	l := newMemoryLog()
	r := newReviewer(l, always(say(engine.Allow)))
	r.Services.Sessions = stopsFunc{func() ([]review.Stopped, error) { return nil, errors.New("the ledger is damaged") }, false}
	answer, err := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
	if err == nil || answer.Effect != engine.Block {
		t.Errorf("answered %s, %v", answer.Effect, err)
	}
}

// A process that ends between the decision and its act leaves a stopped session.
func TestHandleStopsWithoutTheAct(t *testing.T) {
	stop := say(engine.Block)
	stop.Intervention = &engine.Intervention{Kind: engine.EmergencyStop, Reason: "a loop"}
	l := newMemoryLog()
	l.fail = func(r *engine.Record) error {
		if r.Kind == engine.KindAct {
			return errors.New("killed")
		}
		return nil
	}
	if answer, err := newReviewer(l, always(stop)).Handle(context.Background(), event(engine.PhasePre, "c1")); err == nil || answer.Effect != engine.Block {
		t.Errorf("answered %s, %v", answer.Effect, err)
	}
	if l.history.Stop == nil || l.history.Stop.Reason != "a loop" {
		t.Errorf("the session is stopped: %+v", l.history.Stop)
	}
}

// awaiting counts how often a transcript is waited for.
type awaiting struct {
	stopsFunc
	times *int
}

func (a awaiting) Await(engine.Event) { *a.times++ }

// A transcript is waited for once, and only if the session may be a copy of a stopped one.
func TestAwaitedTranscripts(t *testing.T) {
	for name, c := range map[string]struct {
		harness, workspace string
		want               int
	}{
		"the same agent": {"h", "/w", 1}, "another agent": {"other", "/w", 0}, "another workspace": {"h", "/v", 0},
	} {
		l := newMemoryLog()
		r := newReviewer(l, always(say(engine.Allow)))
		list := []review.Stopped{{Key: engine.SessionKey{Harness: c.harness, Session: "old"}, Workspace: c.workspace, Reason: "x"}}
		times := 0
		r.Services.Sessions = awaiting{stopsFunc{func() ([]review.Stopped, error) { return list, nil }, false}, &times}
		for _, id := range []string{"c1", "c2"} {
			if _, err := r.Handle(context.Background(), event(engine.PhasePre, id)); err != nil {
				t.Fatal(err)
			}
		}
		if times != c.want {
			t.Errorf("%s: waited %d times, want %d", name, times, c.want)
		}
	}
}
