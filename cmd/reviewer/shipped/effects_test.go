package shipped

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// said is what the policy says about a call.
type said struct {
	Decision engine.Verdict `yaml:"decision"`
	Rules    string         `yaml:"rules"`
	Text     string         `yaml:"text"` // a part of it; empty: as in the first agent
	Why      string         `yaml:"why"`  // why an agent differs
}

// effectRow is an effect of testdata/effects/effects.yaml.
type effectRow struct {
	Effect  string                    `yaml:"effect"`
	Want    said                      `yaml:",inline"`
	Differs map[string]said           `yaml:"differs"`
	Kinds   map[string]map[string]any `yaml:",inline"` // one: the kind of call, and what it needs
}

// speaker is an agent of testdata/effects/agents.yaml.
type speaker struct {
	Name     string             `yaml:"agent_name"`
	Event    string             `yaml:"event"`
	Settings string             `yaml:"settings"`
	Document map[string]any     `yaml:"document"`
	Kinds    map[string]sayWith `yaml:",inline"`
}

// sayWith is how an agent says one kind of call.
type sayWith struct {
	None  string         `yaml:"none"` // why the agent has no such calls
	Tool  string         `yaml:"tool"`
	Input any            `yaml:"input"`
	Also  map[string]any `yaml:"also"` // further keys of the document
}

func readEffects(t *testing.T, name string, to any) {
	t.Helper()
	raw, err := os.ReadFile(root + "/testdata/effects/" + name)
	if err == nil {
		err = yaml.Unmarshal(raw, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// rendered replaces $NAME in a template. A string that is nothing but a name becomes its value.
func rendered(v any, names map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			out[key] = rendered(item, names)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = rendered(item, names)
		}
		return out
	case string:
		if whole, is := names[strings.TrimPrefix(v, "$")]; is && strings.HasPrefix(v, "$") {
			return whole
		}
		for _, name := range slices.Backward(slices.SortedFunc(maps.Keys(names), func(a, b string) int { return cmp.Compare(len(a), len(b)) })) {
			if text, is := names[name].(string); is {
				v = strings.ReplaceAll(v, "$"+name, text)
			}
		}
		return v
	}
	return v
}

// document returns what the agent's hook reads before a call.
func (s speaker) document(kind string, needs map[string]any) ([]byte, error) {
	say, can := s.Kinds[kind]
	if !can || say.None != "" {
		return nil, nil
	}
	names := maps.Clone(needs)
	names["settings"] = s.Settings
	for range 2 { // a value may name the agent's settings
		names, _ = rendered(names, map[string]any{"settings": s.Settings}).(map[string]any)
	}
	call := map[string]any{"tool": rendered(say.Tool, names), "input": rendered(say.Input, names), "id": "2026-11-20T09:00:01.018Z"}
	doc, _ := rendered(s.Document, call).(map[string]any)
	for key, v := range say.Also {
		doc[key] = rendered(v, names)
	}
	return json.Marshal(doc)
}

// kind returns the kind of call that an effect is.
func (e effectRow) kind(t *testing.T) (string, map[string]any) {
	t.Helper()
	if len(e.Kinds) != 1 {
		t.Fatalf("%s: %d kinds of calls", e.Effect, len(e.Kinds))
	}
	for kind, needs := range e.Kinds {
		return kind, needs
	}
	return "", nil
}

// compare says what is wrong with what the policy says to an agent; empty: nothing.
func (e effectRow) compare(agent string, first, got said) string {
	want, differs := e.Differs[agent]
	if !differs {
		want = e.Want
	}
	switch {
	case differs && want.Why == "":
		return "the row does not say why it differs"
	case got.Decision != want.Decision || got.Rules != want.Rules:
		return fmt.Sprintf("want %s by %q", want.Decision, want.Rules)
	case !strings.Contains(got.Text, want.Text):
		return "want the text " + want.Text
	case !differs && got.Text != first.Text:
		return "the first agent is told: " + first.Text
	}
	return ""
}

// The same effect gets the same decision, by the same rules and with the same text, in every
// agent; where it does not, the row says why.
func TestEffects(t *testing.T) {
	var effects []effectRow
	agents := map[string]speaker{}
	readEffects(t, "effects.yaml", &effects)
	readEffects(t, "agents.yaml", &agents)
	p := wiringtest.PolicyOf(t)
	decide := func(t *testing.T, h harness.Harness, s speaker, raw []byte) said {
		e, err := h.Decode(s.Event, raw, "/srv/shop")
		if err != nil {
			t.Fatalf("%v: %s", err, raw)
		}
		e.Time = 1795165200000
		c := &classify.Classifier{World: classify.System{Home: "/home/kim"}, MAC: func(b []byte) string { return engine.HexSum(b) },
			Secrets: bundles.BuiltInTokens(), Program: "/usr/local/bin/reviewer"}
		a, _ := simulate.Start("", c, p, engine.Env{}).Next(t.Context(), e)
		if a.Error != "" || a.Record == nil || a.Record.Decision == nil {
			t.Fatalf("%s: %s", a.Error, raw)
		}
		return said{Decision: a.Decision, Rules: strings.Join(a.Rules, " "), Text: strings.ReplaceAll(a.Record.Decision.Text, s.Settings, "$settings")}
	}
	for _, effect := range effects {
		kind, needs := effect.kind(t)
		var first said
		for _, name := range slices.Sorted(maps.Keys(agents)) {
			s := agents[name]
			h, known := harness.Find(cmp.Or(s.Name, name))
			raw, err := s.document(kind, needs)
			if !known || err != nil {
				t.Fatalf("%s: known %v, %v", name, known, err)
			}
			if raw == nil {
				continue // the agent has no such call, or the row is about another form of some calls
			}
			got := decide(t, h, s, raw)
			if first.Decision == "" {
				first = got
			}
			if wrong := effect.compare(name, first, got); wrong != "" {
				t.Errorf("%s, %s: %s by %q: %s\n%s", effect.Effect, name, got.Decision, got.Rules, wrong, got.Text)
			}
		}
	}
	if len(effects) < 20 {
		t.Errorf("%d effects", len(effects))
	}
}

// Each agent has a row.
func TestEffectsAgents(t *testing.T) {
	agents := map[string]speaker{}
	readEffects(t, "agents.yaml", &agents)
	for _, h := range harness.Harnesses() {
		s, has := agents[h.Name]
		if !has || s.Event != h.EventAt(engine.PhasePre) {
			t.Errorf("testdata/effects/agents.yaml has no row for %s, with the event %s", h.Name, h.EventAt(engine.PhasePre))
		}
		for _, kind := range strings.Fields("shell read write edit fetch server agent") {
			if _, can := s.Kinds[kind]; !can {
				t.Errorf("%s: there is no way to say %s", h.Name, kind)
			}
		}
	}
}
