package rego

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/schemas"
	"github.com/open-policy-agent/opa/v1/ast"
)

// question is an input with the findings of its conditions.
type question struct {
	in       engine.Input
	findings []engine.Finding
}

func ask(a engine.Action, change ...func(*question)) question {
	q := question{in: call(a)}
	q.in.History.FirstTime = false
	for _, fn := range change {
		fn(&q)
	}
	return q
}

func withFact(name string) func(*question) {
	return func(q *question) { q.in.Facts = append(q.in.Facts, name) }
}

func withFailures(n int64) func(*question) {
	return func(q *question) {
		q.in.History.Similar.Failed = n
		q.in.Facts = append(q.in.Facts, engine.FactFailedBefore)
	}
}

func withFinding(id, level string) func(*question) {
	return func(q *question) { q.findings = append(q.findings, engine.Finding{ID: id, Level: level}) }
}

// rational sets what an action's rationality is made of: high, medium or low.
func rational(level string) func(*question) {
	return func(q *question) {
		q.in.History.Progression = map[string]string{"high": "explores", "medium": "repeats", "low": "contradicts"}[level]
		q.in.History.Presupposes = []engine.Presupposed{{What: "a", Met: level != "low"}}
		if level == "low" {
			q.in.Facts = append(q.in.Facts, engine.FactUnmet)
		}
	}
}

func types(list ...engine.Type) engine.Action { return engine.Action{Types: list} }

func effect(kind engine.EffectKind, change func(*engine.Effect)) engine.Action {
	e := engine.Effect{Kind: kind, Verb: "write", Short: "./a", Certainty: engine.CertaintyExact, Location: engine.LocationInside}
	if kind == engine.EffectNetwork {
		e.Short, e.Location, e.Target = "", "", "https://example.com/"
	}
	if change != nil {
		change(&e)
	}
	return engine.Action{Types: []engine.Type{engine.TypeUnknown}, Effects: []engine.Effect{e}, Hosts: []string{"example.com"}}
}

// questions holds one question at least for each setting of the policy, whose
// answer depends on it.
func questions() []question {
	all := []question{
		ask(types(engine.TypeFileRead), func(q *question) { q.in.History.Progression = "builds_on" }),
		ask(types(engine.TypeNetworkRequest), rational("medium"), func(q *question) { q.in.History.FirstTime = true }),
		ask(effect(engine.EffectFileRead, nil), rational("medium")),
		ask(types(engine.TypeUnknown), rational("high"), func(q *question) { q.in.Action.Opaque = []engine.Opaque{{Reason: "tool"}} }, withFact(engine.FactNotUnderstood)),
		ask(types(engine.TypeFileRead), withFinding("git_discard", ""), func(q *question) { q.in.Event.Mode = "alone" }),
		ask(types(engine.TypeFileRead), withFinding("environment_dump", "")),
		ask(types(engine.TypeFileRead), withFinding("delete_broad", "")),
		ask(types(engine.TypeFileRead), withFact(engine.FactStopped), func(q *question) { q.in.Session.Stopped = true }),
		ask(effect(engine.EffectFileWrite, nil), func(q *question) { q.in.Session.FileOps = 101 }),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Location = engine.LocationTemp })),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Location, e.Reversibility = engine.LocationHome, engine.R4 })),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Short = "~/.ssh/config" })),
		ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Privileged = true })),
		ask(effect(engine.EffectFileDelete, func(e *engine.Effect) { e.Ledger = "created" })),
		ask(effect(engine.EffectFileDelete, func(e *engine.Effect) { e.Class = engine.ClassGenerated })),
		ask(effect(engine.EffectNetwork, func(e *engine.Effect) { e.Loopback = true })),
	}
	for _, t := range engine.Types() {
		all = append(all, ask(types(engine.Type(t))))
	}
	for _, k := range engine.EffectKinds() {
		all = append(all, ask(effect(engine.EffectKind(k), nil)))
	}
	for _, r := range engine.Reversibilities() {
		all = append(all, ask(effect(engine.EffectFileWrite, func(e *engine.Effect) { e.Reversibility = engine.Reversibility(r) })))
	}
	for _, level := range []string{"low", "medium", "high", "critical"} {
		all = append(all, ask(types(engine.TypeFileModification), withFinding("pattern", level)))
	}
	for _, rationality := range []string{"high", "medium", "low"} {
		for _, t := range []engine.Type{engine.TypeMessage, engine.TypeFileModification, engine.TypeNetworkRequest, engine.TypeUnknown} {
			all = append(all, ask(types(t), rational(rationality)))
		}
		for n := range int64(4) {
			all = append(all, ask(types(engine.TypeUnknown), rational(rationality), withFailures(n+1)))
		}
	}
	return all
}

// answers puts questions to a policy. A decision that cannot be made is an
// answer of its own here.
func answers(t *testing.T, compiler *ast.Compiler, data map[string]any) func(yield func(int, engine.Decision) bool) {
	t.Helper()
	host, err := open(context.Background(), compiler, data)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(int, engine.Decision) bool) {
		for i, q := range questions() {
			if d, _ := host.Decide(context.Background(), &q.in, q.findings); !yield(i, d) {
				return
			}
		}
	}
}

// differs says whether some answer is another one.
func differs(before []engine.Decision, after func(yield func(int, engine.Decision) bool)) bool {
	for i, d := range after {
		if !reflect.DeepEqual(before[i], d) {
			return true
		}
	}
	return false
}

// schema is a node of schemas/settings.json.
type schema struct {
	Type       string             `json:"type"`
	Enum       []any              `json:"enum"`
	Properties map[string]*schema `json:"properties"`
}

// leaves lists the settings, by their paths.
func (s *schema) leaves(at string, into map[string]*schema) {
	for key, node := range s.Properties {
		path := strings.TrimPrefix(at+"."+key, ".")
		if node.Properties == nil {
			into[path] = node
			continue
		}
		node.leaves(path, into)
	}
}

// others lists values that a setting might have instead.
func (s *schema) others(path string, v any) []any {
	lists := map[string][]any{
		"scope.locations": {}, "zones": {"./"}, "rules.disabled": {"delete_broad"}, "hosts.known": {"example.com"}, "unattended_modes": {"alone"},
		"risk.failed_similar": {0.0, 0.5, 0.5, 0.5}, "side_effects.names": {"0", "1", "2", "3", "4"},
	}
	switch v := v.(type) {
	case bool:
		return []any{!v}
	case string:
		if s.Enum != nil {
			return s.Enum
		}
		return []any{"another text"}
	case []any:
		return []any{lists[path]}
	}
	return []any{1.0, 0.0, 0.5, 4.0, -1.0}
}

// A setting that nothing reads is a lie: for each there is a question whose
// answer depends on it.
func TestEverySettingIsRead(t *testing.T) {
	e, _ := shipped(t)
	raw, err := schemas.FS.ReadFile("settings.json")
	if err != nil {
		t.Fatal(err)
	}
	var root schema
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	settings := map[string]*schema{}
	root.leaves("", settings)
	compiler, err := compileModules(e.Modules())
	if err != nil {
		t.Fatal(err)
	}
	data := asJSON(t, e.Data).(map[string]any)
	var before []engine.Decision
	for _, d := range answers(t, compiler, data) {
		before = append(before, d)
	}
	for _, path := range slices.Sorted(maps.Keys(settings)) {
		if path == "windows" {
			continue // read when a policy is assembled: see bundles
		}
		into, key := reach(data["reviewer"].(map[string]any), path)
		was := into[key]
		if !slices.ContainsFunc(settings[path].others(path, was), func(v any) bool {
			into[key] = v
			return !reflect.DeepEqual(v, was) && differs(before, answers(t, compiler, data))
		}) {
			t.Errorf("%s: no decision depends on it", path)
		}
		into[key] = was
	}
}

func reach(doc map[string]any, path string) (into map[string]any, key string) {
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		doc = doc[k].(map[string]any)
	}
	return doc, keys[len(keys)-1]
}

// The questions are answered at all, and in more than one way.
func TestQuestions(t *testing.T) {
	e, _ := shipped(t)
	compiler, err := compileModules(e.Modules())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[engine.Verdict]int{}
	for i, d := range answers(t, compiler, e.Data) {
		if d.Decision == "" {
			t.Errorf("question %d has no answer", i)
		}
		seen[d.Decision]++
	}
	for _, v := range []engine.Verdict{engine.Allow, engine.Warn, engine.Ask, engine.Block} {
		if seen[v] == 0 {
			t.Errorf("no answer is %s", v)
		}
	}
}
