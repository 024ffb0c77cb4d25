package rego

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

const askedPolicy = `package reviewer

decision := {"decision": "allow", "enforced": "allow"}
`

const askedRules = `package reviewer.fired

fires contains "helper" if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	e.kind == "file_delete"
	_old(e)
	input.session.stopped
}

_old(e) if {
	e.exists == "yes"
	e.git == "clean"
}

fires contains "plain" if input.phase == "pre"

fires contains "unasked" if {
	"privileged" in input.facts
	input.session.stopped
}

fires contains "never" if {
	input.phase == "pre"
	not _old_session
	input.session.actions > 3
}

fires contains "never" if {
	input.phase == "pre"
	input.session.actions > 2
	input.session.stopped
}

_old_session if input.session.prompts > 9
`

func asked(t *testing.T) (*Host, *engine.Input) {
	t.Helper()
	host, err := Compile(context.Background(), map[string]string{"base/a.rego": askedPolicy, "base/b.rego": askedRules}, map[string]any{"reviewer": map[string]any{"n": 2}})
	if err != nil {
		t.Fatal(err)
	}
	in := &engine.Input{Phase: engine.PhasePre, Facts: []string{"deletes"}, Action: engine.Action{
		Effects: []engine.Effect{{Kind: engine.EffectFileDelete, Exists: "yes", Git: "dirty", Short: "./a"}, {Kind: engine.EffectNetwork}},
	}}
	in.Session.Actions = 1
	return host, in
}

// A rule that did not fire reports where it ended, and why.
func TestSilent(t *testing.T) {
	host, in := asked(t)
	got, err := host.NotFired(context.Background(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []NotFired{
		{ID: "never", Held: 1, At: Stop{"base/b.rego", 27, 2, "input.session.actions > 3", []string{"input.session.actions = 1"}, nil}},
		{
			ID: "helper", Held: 3, Left: 1, About: 1,
			At: Stop{"base/b.rego", 8, 2, "_old(e)", []string{`e = {"exists":"yes","git":"dirty","kind":"file_delete","short":"./a"}`}, nil},
			In: []Stop{{"base/b.rego", 14, 2, `e.git == "clean"`, []string{`e.git = "dirty"`}, nil}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A rule of a layer that stops at a field that does not exist names the field, also if OPA's index leaves the rule out.
func TestSilentAbsent(t *testing.T) {
	own := `package policies.user

findings contains {"id": "indexed"} if {
	input.phase == "pre"
	input.event.args.cluster == "prod"
}

findings contains {"id": "assigned"} if {
	some e in input.action.effects
	e.kind == "file_delete"
	place := e.place
	startswith(place, "a")
}

findings contains {"id": "there"} if {
	input.phase == "pre"
	input.session.actions > 3
}
`
	host, err := Compile(t.Context(), map[string]string{"base/a.rego": askedPolicy, "base/b.rego": askedRules, "user/c.rego": own},
		map[string]any{"reviewer": map[string]any{"n": 2}})
	if err != nil {
		t.Fatal(err)
	}
	_, in := asked(t)
	all, err := host.NotFired(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, n := range all {
		if n.At.File == "user/c.rego" {
			got[n.ID] = n.At.Absent
		}
	}
	if diff := cmp.Diff(map[string][]string{"indexed": {"input.event.args.cluster"}, "assigned": {"e.place"}, "there": nil}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAsk(t *testing.T) {
	host, in := asked(t)
	for path, want := range map[string]any{
		"data.reviewer.fired.fires": []any{"plain"},
		"data.reviewer.n":           json.Number("2"),
		"data.reviewer.nothing":     nil,
	} {
		got, ok, err := host.Ask(context.Background(), in, nil, path)
		if err != nil {
			t.Fatal(err)
		}
		if ok != (want != nil) || !cmp.Equal(want, got) {
			t.Errorf("%s: %v (%v), want %v", path, got, ok, want)
		}
	}
}
