package act

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// bare returns an event of an agent that gives calls no ids: its phase, the letter of its
// arguments, and its time.
func bare(p engine.Phase, args, stamp string) engine.Event {
	e := event(p, "")
	e.Args, e.Stamp = json.RawMessage(`{"command":"`+args+`"}`), stamp
	if p == engine.PhasePost {
		e.Result = &engine.Result{}
	}
	return e
}

// A step is "before ARGUMENTS TIME" or "after ARGUMENTS TIME"; what is expected is the number of
// the call to which it belongs, in the order in which calls began. 0: to none.
func TestCallsWithoutIDs(t *testing.T) {
	for name, c := range map[string]struct {
		steps string
		want  []int
	}{
		"one after the other":        {"before a 1, after a 2, before b 3, after b 4", []int{1, 1, 2, 2}},
		"interleaved":                {"before a 1, before b 1, after b 2, after a 3", []int{1, 2, 2, 1}},
		"repeated":                   {"before a 1, after a 2, before a 3, after a 4", []int{1, 1, 2, 2}},
		"equal, at the same time":    {"before a 1, before a 2, after a 3, after a 4", []int{1, 2, 1, 2}},
		"equal, with others between": {"before a 1, before b 2, before a 3, after a 4, after b 5, after a 6", []int{1, 2, 3, 1, 2, 3}},
		"two hooks":                  {"before a 1, before a 1, after a 2, after a 2", []int{1, 1, 1, 1}},
		"two hooks, then again":      {"before a 1, before a 1, after a 2, after a 2, before a 3, after a 4", []int{1, 1, 1, 1, 2, 2}},
		"a result without its call":  {"after a 1, before a 2, after a 3", []int{0, 1, 1}},
		"no times":                   {"before a, before a, after a, after a, before a, after a", []int{1, 2, 1, 2, 3, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newMemoryLog()
			r := newReviewer(l, always(say(engine.Allow)))
			var ids []string
			for i, step := range strings.Split(c.steps, ", ") {
				words := append(strings.Fields(step), "")
				e := bare(engine.PhasePre, words[1], words[2])
				if words[0] == "after" {
					e = bare(engine.PhasePost, words[1], words[2])
				}
				if _, err := r.Handle(context.Background(), e); err != nil {
					t.Fatal(err)
				}
				if got := number(&ids, l.last().Call); got != c.want[i] {
					t.Errorf("step %d, %s: call %d, want %d (%s)", i+1, step, got, c.want[i], l.last().Call)
				}
			}
		})
	}
}

// number returns the number of an id in the order of their first use; 0: it is empty.
func number(ids *[]string, id string) int {
	if id == "" {
		return 0
	}
	for i, known := range *ids {
		if known == id {
			return i + 1
		}
	}
	*ids = append(*ids, id)
	return len(*ids)
}

// The second hook gets the first one's answer, and the call counts once.
func TestCallsWithoutIDsCountOnce(t *testing.T) {
	l := newMemoryLog()
	r := newReviewer(l, always(say(engine.Warn)))
	for i, want := range []engine.AnswerMode{engine.ModeEnforced, engine.ModeDuplicate} {
		a, err := r.Handle(context.Background(), bare(engine.PhasePre, "a", "2026-11-22T06:03:44.018Z"))
		if err != nil || a.Mode != want || a.Text != "told (cccccccc-2)" {
			t.Errorf("hook %d is told %q, mode %s (%v)", i+1, a.Text, a.Mode, err)
		}
	}
	if l.history.Actions != 1 {
		t.Errorf("%d actions, want 1", l.history.Actions)
	}
}

// A call that was denied, then made again and allowed: the result is that of the second one.
// A result of a denied call shows that it ran after all.
func TestCallsWithoutIDsDenied(t *testing.T) {
	l, verdict := newMemoryLog(), engine.Block
	r := newReviewer(l, func(*engine.Input) (engine.Decision, error) { return say(verdict), nil })
	for _, c := range []struct {
		phase   engine.Phase
		stamp   string
		verdict engine.Verdict
		want    string // the time in the id
	}{
		{engine.PhasePre, "1", engine.Block, "1"}, {engine.PhasePre, "2", engine.Allow, "2"},
		{engine.PhasePost, "3", engine.Allow, "2"}, {engine.PhasePre, "4", engine.Block, "4"},
		{engine.PhasePost, "5", engine.Allow, "4"},
	} {
		verdict = c.verdict
		if _, err := r.Handle(context.Background(), bare(c.phase, "a", c.stamp)); err != nil {
			t.Fatal(err)
		}
		if id := l.last().Call; !strings.HasSuffix(id, ":"+c.want) {
			t.Errorf("%s at %s belongs to %s, want that at %s", c.phase, c.stamp, id, c.want)
		}
	}
}

// Other tools, other agents and ids that the agent gives are never mixed with made ones.
func TestCallsWithoutIDsStayApart(t *testing.T) {
	l := newMemoryLog()
	r := newReviewer(l, always(say(engine.Allow)))
	given := bare(engine.PhasePre, "a", "1")
	given.Call = "call_1"
	for _, e := range []engine.Event{given, bare(engine.PhasePre, "a", "2")} {
		if _, err := r.Handle(context.Background(), e); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]func(*engine.Event){
		"tool": func(e *engine.Event) { e.Tool = "Read" }, "agent": func(e *engine.Event) { e.Agent = "a1" },
		"arguments": func(e *engine.Event) { e.Args = json.RawMessage(`{}`) },
	} {
		e := bare(engine.PhasePost, "a", "3")
		change(&e)
		if _, err := r.Handle(context.Background(), e); err != nil || l.last().Call != "" {
			t.Errorf("a result with another %s belongs to %q (%v)", name, l.last().Call, err)
		}
	}
}

func TestHandleRefusesIDs(t *testing.T) {
	long := strings.Repeat("x", maxID+1)
	for name, change := range map[string]func(*engine.Event){
		"no session": func(e *engine.Event) { e.Session = "" }, "session": func(e *engine.Event) { e.Session = long }, "agent": func(e *engine.Event) { e.Agent = long },
		"call": func(e *engine.Event) { e.Call = long }, "harness": func(e *engine.Event) { e.Harness = long },
	} {
		l, e := newMemoryLog(), event(engine.PhasePre, "c1")
		change(&e)
		answer, err := newReviewer(l, always(say(engine.Allow))).Handle(context.Background(), e)
		if err == nil || len(l.records) > 0 {
			t.Errorf("%s: %v, and %d records", name, err, len(l.records))
		}
		checkDegraded(t, name, engine.PhasePre, answer)
	}
	e := event(engine.PhasePre, long[1:])
	if _, err := newReviewer(newMemoryLog(), always(say(engine.Allow))).Handle(context.Background(), e); err != nil {
		t.Errorf("an id of %d bytes: %v", maxID, err)
	}
}
