package cel

import (
	"bytes"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

var someConditions = []Condition{
	{ID: "a.loop", When: `action.commands.exists(c, c.name == "rm" && c.flags.exists(f, f.startsWith("--force")))`},
	{ID: "b.measure", When: `"changes" in facts`, Measure: `size(action.commands)`, Threshold: 1, Confidence: `0.5`, Details: `string(size(action.commands)) + " commands"`},
	{ID: "c.nested", When: `action.commands.all(c, action.effects.all(e, e.target != c.name))`},
	{ID: "d.absent", When: `event.args["content"] == "x"`},
}

func inputs() []*engine.Input {
	one := &engine.Input{Facts: []string{"changes"}}
	one.Action.Commands = []engine.Command{{Name: "rm", Flags: []string{"--force"}}}
	return []*engine.Input{{}, one}
}

// Conditions from bytes find what compiled ones find, errors included.
func TestPrecompiled(t *testing.T) {
	raw, err := Precompile(someConditions)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Compile(someConditions)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := CompileFrom(raw, someConditions)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range inputs() {
		want, err := plain.Match(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := loaded.Match(t.Context(), in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("found %+v, %v, want %+v", got, err, want)
		}
	}
	for i, e := range loaded.expressions() {
		l, err := loaded.language()
		if err != nil {
			t.Fatal(err)
		}
		p, there := plain.expressions()[i], loaded.known()
		got := l.load(e, nil, there)
		want, _ := p.compile()
		if got == nil || got.max != want.max || got.limited != want.limited {
			t.Errorf("%s %s: %+v, want %+v", e.id, e.part, got, want)
		}
	}
	if again, err := Precompile(slices.Clone(someConditions)); err != nil || !bytes.Equal(again, raw) {
		t.Errorf("other bytes, %v", err)
	}
}

// Bytes of another version, and such that are damaged, are not used.
func TestPrecompiledDamage(t *testing.T) {
	raw, err := Precompile(someConditions)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(raw)
	other[0]++
	for name, damaged := range map[string][]byte{"nothing": nil, "another version": other, "cut": raw[:len(raw)-1], "more": append(bytes.Clone(raw), 200)} {
		if known := readPrecompiled(damaged); known != nil {
			t.Errorf("%s: %d expressions", name, len(known))
		}
	}
	host, err := CompileFrom(bytes.ReplaceAll(raw, []byte("startsWith"), []byte("startsWitx")), someConditions)
	if err != nil {
		t.Fatal(err)
	}
	found, err := host.Match(t.Context(), inputs()[1])
	if err != nil || len(found) == 0 || found[0].ID != "a.loop" || found[0].Error != "" {
		t.Errorf("found %+v, %v", found, err)
	}
}
