package act

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/google/go-cmp/cmp"
)

// neighbours are the other sessions of a workspace.
type neighbours struct {
	stopsFunc
	list  []review.Other
	since []int64
	err   error
}

func (n *neighbours) Others(_ engine.SessionKey, workspace string, since int64) ([]review.Other, error) {
	n.since = append(n.since, since)
	if workspace != "/w" {
		return nil, errors.New("another workspace")
	}
	return n.list, n.err
}

// neighbour is a session of another agent: one call was denied by a rule, the session was
// throttled then, and stopped by a person.
func neighbour(t *testing.T, stop bool) review.Other {
	t.Helper()
	h := lenient()
	add := func(r *engine.Record) {
		r.V, r.Chain, r.N, r.T = engine.FormatVersion, strings.Repeat("d", 32), h.N+1, 1000+h.N
		h.Append(r)
	}
	add(&engine.Record{Kind: engine.KindOpen, Session: "other", Harness: "codex", Open: &engine.Open{Workspace: "/w", Env: &engine.Env{}}})
	add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Call: "c1", Event: &engine.EventFacts{Tool: "Bash"},
		Answer: &engine.AnswerFacts{Effect: engine.Block},
		Action: &engine.Action{Fingerprint: "0123456789abcdef", Types: []engine.Type{engine.TypeFileRead},
			Effects: []engine.Effect{{Kind: engine.EffectFileDelete, Short: "./data", Exists: "yes", Location: engine.LocationInside}}},
		Decision: &engine.Decision{Decision: engine.Block, Enforced: engine.Block,
			Rules:        []engine.RuleResult{{ID: "r", Decision: engine.Block, Harm: "loss"}},
			Intervention: &engine.Intervention{Kind: engine.ResourceThrottling, Issue: "loop", Factor: 0.5}}})
	if stop {
		add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlStop, Reason: "enough.", By: "anna"}})
	}
	return review.Other{Key: engine.SessionKey{Harness: "codex", Session: "other"}, Chain: h.Chain, State: h}
}

// sharing is a reviewer whose policy takes from other sessions what p says.
func sharing(l *memoryLog, n *neighbours, p review.Inherit) *Reviewer {
	r := newReviewer(l, always(say(engine.Allow)))
	policy, _ := r.Policy("")
	p.Unattended, p.Nearby, p.Within, p.MS, p.Unsigned = []string{"bypass"}, "{session} stopped here: {reason}", 50, 60_000, "unsigned"
	policy.Inherit = p
	r.Policy = func(string) (*review.Policy, error) { return policy, nil }
	n.stopsFunc.list = func() ([]review.Stopped, error) { return nil, nil }
	r.Services.Sessions = n
	return r
}

func call(t *testing.T, r *Reviewer, id, mode string) {
	t.Helper()
	e := event(engine.PhasePre, id)
	e.Mode = mode
	if _, err := r.Handle(context.Background(), e); err != nil {
		t.Fatal(err)
	}
}

// A session takes what policy chooses from another agent's session, once, and before its call.
func TestTakes(t *testing.T) {
	for name, c := range map[string]struct {
		p                review.Inherit
		mode             string
		stop             bool
		kind             string
		denials, limits  int
		stopped, ignored bool
	}{
		"nothing":             {p: review.Inherit{Scope: "session", Denials: "session", Limits: "session"}, ignored: true},
		"an older policy":     {p: review.Inherit{}, ignored: true},
		"denials":             {p: review.Inherit{Denials: "workspace"}, kind: engine.ActTaken, denials: 1},
		"limits":              {p: review.Inherit{Limits: "workspace"}, kind: engine.ActTaken, limits: 1},
		"somebody watches":    {p: review.Inherit{Denials: "unattended"}, mode: "default", ignored: true},
		"nobody watches":      {p: review.Inherit{Denials: "unattended", Limits: "unattended"}, mode: "bypass", kind: engine.ActTaken, denials: 1, limits: 1},
		"a stop":              {p: review.Inherit{Scope: "workspace"}, stop: true, kind: engine.EmergencyStop, stopped: true},
		"a stop, not shared":  {p: review.Inherit{Scope: "unattended", Denials: "workspace"}, mode: "bypass", stop: true, kind: engine.ActTaken, denials: 1},
		"all of it":           {p: review.Inherit{Scope: "workspace", Denials: "workspace", Limits: "workspace"}, stop: true, kind: engine.EmergencyStop, denials: 1, limits: 1, stopped: true},
		"no stop to be taken": {p: review.Inherit{Scope: "workspace"}, ignored: false},
	} {
		t.Run(name, func(t *testing.T) {
			l, n := newMemoryLog(), &neighbours{list: []review.Other{neighbour(t, c.stop)}}
			r := sharing(l, n, c.p)
			call(t, r, "c1", c.mode)
			call(t, r, "c2", c.mode)
			if c.ignored != (n.since == nil) {
				t.Errorf("other sessions were looked for %d times", len(n.since))
			}
			want := "open pre pre"
			if c.kind != "" {
				want = "open act pre pre"
			}
			if got := strings.Join(l.kinds(), " "); got != want {
				t.Fatalf("records are %s, want %s", got, want)
			}
			if (l.history.Stop != nil) != c.stopped {
				t.Errorf("stopped: %+v", l.history.Stop)
			}
			if c.kind == "" {
				return
			}
			act := l.records[1].Act
			if act.Kind != c.kind || len(act.Taken.Denials) != c.denials || len(act.Taken.Limits) != c.limits || act.Taken.Session != "other" {
				t.Errorf("taken: %s %+v", act.Kind, act.Taken)
			}
			if c.stopped && (act.Result != "other stopped here: unsigned" || act.Of != "") {
				t.Errorf("the act is %+v", act)
			}
			if len(l.history.Denials) != c.denials || len(l.history.Interventions) != c.limits || l.history.Denied != 0 {
				t.Errorf("the session has %d denials, %d limits; %d of its own", len(l.history.Denials), len(l.history.Interventions), l.history.Denied)
			}
		})
	}
}

// What a session took counts as denied an action ago, and not as a denial of its own.
func TestTakenDenialIsKnown(t *testing.T) {
	l, n := newMemoryLog(), &neighbours{list: []review.Other{neighbour(t, false)}}
	r := sharing(l, n, review.Inherit{Denials: "workspace", Limits: "workspace"})
	var inputs []engine.Input
	decide := func(in *engine.Input) (engine.Decision, error) {
		inputs = append(inputs, *in)
		return say(engine.Allow), nil
	}
	policy, _ := r.Policy("")
	policy.Decider = decideFunc(decide)
	r.Classifier = classifyFunc(func(e engine.Event, _ string) (engine.Facts, error) {
		f, err := plainly(e, "")
		f.Action.Types = []engine.Type{engine.TypeFileRead}
		f.Action.Effects = []engine.Effect{{Kind: engine.EffectFileDelete, Short: "./data", Exists: "yes", Location: engine.LocationInside}}
		return f, err
	})
	call(t, r, "c1", "")
	in := inputs[0]
	if in.History.Denials.Effect != 1 || in.History.Denials.Harms["loss"] != 1 || in.Session.Denials != 0 || len(in.Session.DeniedHarms) != 0 {
		t.Errorf("denials: %+v, of the session: %d, %v", in.History.Denials, in.Session.Denials, in.Session.DeniedHarms)
	}
	if i := in.Session.Interventions; len(i) != 1 || !i[0].Run || i[0].Factor != 0.5 || i[0].Agent != "" {
		t.Errorf("interventions: %+v", i)
	}
}

// A stop that a person lifted is not taken again, nor is a denial that a prompt forgave; what
// happens later is. Nothing goes back to where it came from, or on to a third session.
func TestTakesOnce(t *testing.T) {
	other := neighbour(t, true)
	l, n := newMemoryLog(), &neighbours{list: []review.Other{other}}
	r := sharing(l, n, review.Inherit{Scope: "workspace", Denials: "workspace", Limits: "workspace"})
	call(t, r, "c1", "")
	if err := l.append(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlResume, By: "anna"}}); err != nil {
		t.Fatal(err)
	}
	call(t, r, "c2", "")
	if got := strings.Join(l.kinds(), " "); got != "open act pre control pre" || l.history.Stop != nil {
		t.Errorf("records are %s, stopped: %+v", got, l.history.Stop)
	}
	if g := l.history.Given(0, 50); !g.Empty() {
		t.Errorf("given on: %+v", g)
	}
	other.State.Append(&engine.Record{N: other.State.N + 1, Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlStop, Reason: "again", By: "anna"}})
	call(t, r, "c3", "")
	if l.history.Stop == nil || l.history.Stop.Reason != "other stopped here: unsigned" {
		t.Errorf("stopped: %+v", l.history.Stop)
	}
	if g := l.history.Given(0, 50); g.Stop != nil {
		t.Errorf("the stop is given on: %+v", g)
	}
}

// A process that ends between the record of what was taken and that of the call leaves a
// session that goes on from there.
func TestTakesBeforeItIsKilled(t *testing.T) {
	l, n := newMemoryLog(), &neighbours{list: []review.Other{neighbour(t, false)}}
	r := sharing(l, n, review.Inherit{Denials: "workspace"})
	l.fail = func(rec *engine.Record) error {
		if rec.Kind == engine.KindPre {
			return errors.New("killed")
		}
		return nil
	}
	answer, err := r.Handle(context.Background(), event(engine.PhasePre, "c1"))
	if err == nil || answer.Effect != engine.Block {
		t.Errorf("answered %s, %v", answer.Effect, err)
	}
	l.fail = nil
	call(t, r, "c1", "")
	if got := strings.Join(l.kinds(), " "); got != "open act pre" || len(l.history.Denials) != 1 {
		t.Errorf("records are %s, denials %+v", got, l.history.Denials)
	}
}

// Where nobody knows what other sessions have, the call is denied.
func TestTakesFails(t *testing.T) {
	l, n := newMemoryLog(), &neighbours{err: errors.New("the folder cannot be read")}
	r := sharing(l, n, review.Inherit{Denials: "workspace"})
	if answer, err := r.Handle(context.Background(), event(engine.PhasePre, "c1")); err == nil || answer.Effect != engine.Block {
		t.Errorf("answered %s, %v", answer.Effect, err)
	}
}

// The state is the same however it was reached: record by record, or from a keyframe.
func TestTakenStateIsKept(t *testing.T) {
	l := newMemoryLog()
	r := sharing(l, &neighbours{list: []review.Other{neighbour(t, true)}}, review.Inherit{Scope: "workspace", Denials: "workspace", Limits: "workspace"})
	call(t, r, "c1", "")
	raw, err := l.history.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := history.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(fmt.Sprintf("%+v", l.history.Given(0, 50)), fmt.Sprintf("%+v", again.Given(0, 50))); d != "" || again.TakenTo(strings.Repeat("d", 32)) != 3 {
		t.Error(d, again.TakenTo(strings.Repeat("d", 32)))
	}
	if before, err := l.before(2); err != nil || before.TakenTo(strings.Repeat("d", 32)) != 0 {
		t.Errorf("before it was taken: %v, %v", before.TakenTo(strings.Repeat("d", 32)), err)
	}
}
