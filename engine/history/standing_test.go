package history

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

func started(n int64, mac string, list ...engine.Statement) *engine.Record {
	return &engine.Record{V: engine.FormatVersion, N: n, Kind: engine.KindNote, Phase: engine.PhaseStart,
		Event: &engine.EventFacts{Standing: &engine.Standing{MAC: mac, Statements: list}}}
}

func standing(act, until, from string, objects ...string) engine.Statement {
	return engine.Statement{Kind: engine.Forbids, Act: act, Until: until, From: from, Objects: objects}
}

func held(h *State) map[string]string {
	list := map[string]string{}
	for _, s := range h.Goals.Statements() {
		list[s.Act] = string(s.Kind) + " " + s.Until + " " + s.From
	}
	return list
}

// What a file forbids when the session starts holds until its end. What it forbids later wants a question, and what it no
// longer forbids is not revoked: the session may have changed it.
func TestStanding(t *testing.T) {
	h := &State{}
	h.Append(started(1, "a0", standing("push", "", "CLAUDE.md:1"), standing("commit", "", "CLAUDE.md:2")))
	h.Append(started(2, "b0", standing("push", "", "CLAUDE.md:1"), standing("deploy", "", "CLAUDE.md:2")))
	h.Append(started(3, "b0", standing("merge", "", "CLAUDE.md:3")))
	got := held(h)
	want := map[string]string{"push": "forbids  CLAUDE.md:1", "commit": "forbids  CLAUDE.md:2", "deploy": "forbids asked CLAUDE.md:2"}
	for act, w := range want {
		if got[act] != w {
			t.Errorf("%s: %q, want %q", act, got[act], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("held %v", got)
	}
}

// A file permits nothing, whatever the record says.
func TestStandingPermitsNothing(t *testing.T) {
	h := &State{}
	for i, kind := range []engine.StatementKind{engine.Permits, engine.Orders, engine.Lifts} {
		s := standing("push", "", "CLAUDE.md:1")
		s.Kind = kind
		h.Append(started(int64(i+1), string(rune('a'+i)), s))
	}
	if got := h.Goals.Statements(); len(got) > 0 {
		t.Errorf("holds %+v", got)
	}
}

// A person lifts what a file forbids; it does not come back because another part of the file changes.
func TestStandingIsLifted(t *testing.T) {
	h := lenient()
	h.Append(started(1, "a0", standing("push", "", "CLAUDE.md:1"), standing("commit", "", "CLAUDE.md:2")))
	h.Append(&engine.Record{V: engine.FormatVersion, N: 2, Kind: engine.KindPrompt, Phase: engine.PhasePrompt, Event: &engine.EventFacts{Goal: &engine.Goal{
		Statements: []engine.Statement{{Kind: engine.Permits, Act: "push", Until: engine.UntilSession}}}}})
	h.Append(started(3, "b0", standing("push", "", "CLAUDE.md:1")))
	if got := held(h); got["push"] == "forbids  CLAUDE.md:1" || got["commit"] == "" {
		t.Errorf("held %v", got)
	}
	lifted := standing("commit", "", "CLAUDE.md:2")
	h.Append(&engine.Record{V: engine.FormatVersion, N: 4, Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlLift, Statement: &lifted}})
	if got := held(h); got["commit"] != "" {
		t.Errorf("held %v", got)
	}
}
