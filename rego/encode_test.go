package rego

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
)

// generator fills any value of the engine's types. Lists are never nil: an
// Input holds no null.
type generator struct{ *rand.Rand }

func (g generator) fill(v reflect.Value) {
	if v.Type() == reflect.TypeFor[json.Number]() {
		v.SetString(g.number())
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(g.text())
	case reflect.Bool:
		v.SetBool(g.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(g.Int64N(1<<53) >> g.IntN(53))
	case reflect.Float64:
		v.SetFloat(math.Round(g.Float64()*1e6) / 1e6)
	case reflect.Pointer:
		if g.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			g.fill(v.Elem())
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), g.IntN(3), 3))
		for i := range v.Len() {
			g.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range g.IntN(3) {
			item := reflect.New(v.Type().Elem()).Elem()
			g.fill(item)
			v.SetMapIndex(reflect.ValueOf(g.text()).Convert(v.Type().Key()), item)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			g.fill(v.Field(i))
		}
	case reflect.Interface:
		v.Set(g.any())
	}
}

// any is a value as the arguments of a call may hold it.
func (g generator) any() reflect.Value {
	kinds := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[int64](), reflect.TypeFor[float64](), reflect.TypeFor[json.Number](),
		reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any](), reflect.TypeFor[engine.ContentFacts](), reflect.TypeFor[*engine.ContentFacts](),
	}
	v := reflect.New(kinds[g.IntN(len(kinds))]).Elem()
	g.fill(v)
	return v
}

func (g generator) text() string {
	words := []string{"", "a", "git push", "~/ä", "<&>", "\u2028", "\"\\\n", "\x00", "日本", "a\xffb\xfe\xfd", "\U0001F600"}
	return words[g.IntN(len(words))]
}

func (g generator) number() string {
	words := []string{"0", "-7", "1.5", "0.1", "12345678901234567890", "9007199254740993", "1e3", "-0.001"}
	return words[g.IntN(len(words))]
}

// reread is what JSON makes of a value.
func reread(t *testing.T, raw []byte) any {
	t.Helper()
	canonical, err := engine.Canonical(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	v, err := engine.DecodeStrict(canonical)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func plain(t *testing.T, v ast.Value) any {
	t.Helper()
	doc, err := ast.JSON(v)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return reread(t, raw)
}

// What policy sees is what the digest is made of, and the findings next to it.
func TestInputIsItsJSON(t *testing.T) {
	g, e := generator{rand.New(rand.NewPCG(1, 2))}, newEncoder()
	for i := range 300 {
		var in engine.Input
		g.fill(reflect.ValueOf(&in).Elem())
		findings := []engine.Finding{{ID: "plain"}, {ID: "measured", Measure: 0.25}, {ID: "graded", Measure: 0, Level: "low"}}[:i%4]
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		want := reread(t, raw).(map[string]any)
		ids, byID := []any{}, map[string]any{}
		for _, f := range findings {
			ids = append(ids, f.ID)
			byID[f.ID] = map[string]any{}
		}
		for id, detail := range map[string]map[string]any{
			"measured": {"measure": json.Number("0.25")}, "graded": {"measure": json.Number("0"), "level": "low"},
		} {
			if byID[id] != nil {
				byID[id] = detail
			}
		}
		want["findings"], want["finding"] = ids, byID
		if d := cmp.Diff(want, plain(t, e.input(&in, findings))); d != "" {
			t.Fatalf("input %d:\n%s", i, d)
		}
	}
}

// Bytes that are not text look the same in a live call and in a replay.
func TestPolicySeesTexts(t *testing.T) {
	h := compiled(t, policy(`
decision := {"decision": "allow", "enforced": "allow"} if {
	input.agent == "a\ufffdb"
	input.event.args["k\ufffd"] == ["\ufffd\ufffd"]
}
`), nil)
	in := engine.Input{Agent: "a\xffb", Event: engine.EventFacts{Args: map[string]any{"k\xfe": []any{"\xff\xfe"}}}}
	if _, err := h.Decide(t.Context(), &in, nil); err != nil {
		t.Error(err)
	}
}

// The plan is complete: no type that an Input may hold is left out silently.
func TestEveryFieldIsEncoded(t *testing.T) {
	e := newEncoder()
	for u, fields := range e.plan {
		if exported := exportedFields(u); len(fields) != exported {
			t.Errorf("%s has %d fields and %d of them are encoded", u, exported, len(fields))
		}
		for _, f := range fields {
			if err := encodable(u.Field(f.index).Type); err != nil {
				t.Errorf("%s.%s: %v", u, f.key, err)
			}
		}
	}
}

func exportedFields(u reflect.Type) int {
	n := 0
	for i := range u.NumField() {
		if u.Field(i).IsExported() {
			n++
		}
	}
	return n
}

func encodable(u reflect.Type) error {
	switch u.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64, reflect.Struct, reflect.Interface:
		return nil
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return encodable(u.Elem())
	}
	return fmt.Errorf("%s is not encoded", u)
}

func TestDecode(t *testing.T) {
	const full = `{
		"decision": "block", "enforced": "warn", "reason": "r", "reasons": ["r", "s"], "explanation": "e", "text": "t", "grant": true,
		"rules": [{"id": "a", "decision": "block", "severity": "high", "message": "m", "enforcement": "warn", "harm": "closed", "limit": true}],
		"risk": {"score": 0.5, "level": "low", "factors": ["f"]},
		"rationality": {"score": 0.6, "level": "medium", "components": {"c": 1}, "issues": ["i"], "suggestions": ["s"]},
		"side_effects": {"severity": "low", "reversible": true, "kinds": ["k"], "mitigations": ["m"]},
		"confidence": 0.7, "alternatives": ["a"], "obligations": ["checkpoint"],
		"interventions": [{"kind": "emergency_stop", "reason": "r"}, {"kind": "slow"}]
	}`
	got, err := decode(ast.MustParseTerm(full))
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Decision{
		Decision: engine.Block, Enforced: engine.Warn, Reason: "r", Reasons: []string{"r", "s"}, Explanation: "e", Text: "t", Grant: true,
		Rules:       []engine.RuleResult{{ID: "a", Decision: engine.Block, Severity: "high", Message: "m", Enforcement: "warn", Harm: "closed", Limit: true}},
		Risk:        &engine.Risk{Score: 0.5, Level: "low", Factors: []string{"f"}},
		Rationality: &engine.Rationality{Score: 0.6, Level: "medium", Components: map[string]float64{"c": 1}, Issues: []string{"i"}, Suggestions: []string{"s"}},
		SideEffects: &engine.SideEffects{Severity: "low", Reversible: true, Kinds: []string{"k"}, Mitigations: []string{"m"}},
		Confidence:  0.7, Alternatives: []string{"a"}, Obligations: []string{"checkpoint"},
		Intervention: &engine.Intervention{Kind: "emergency_stop", Reason: "r"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What policy says wrongly is an error, not something that is left out.
func TestDecodeIsStrict(t *testing.T) {
	for rest, want := range map[string]string{
		`"reason": 7`:                               "reason is not a string",
		`"reasons": "r"`:                            "reasons is not a list",
		`"reasons": [7]`:                            "reasons contains something that is not a string",
		`"grant": "true"`:                           "grant is not a boolean",
		`"confidence": "high"`:                      "confidence is not a number",
		`"rules": ["a"]`:                            "rules contains something that is not an object",
		`"rules": [{"id": 7}]`:                      "id is not a string",
		`"risk": 0.5`:                               "risk is not an object",
		`"risk": {"score": "0.5"}`:                  "score is not a number",
		`"rationality": {"components": {"a": "1"}}`: "a is not a number",
		`"rationality": {"components": [1]}`:        "components is not an object",
		`"side_effects": {"reversible": 1}`:         "reversible is not a boolean",
		`"obligations": {"checkpoint": true}`:       "obligations is not a list",
		`"interventions": ["emergency_stop"]`:       "interventions contains something that is not an object",
		`"interventions": [{"kind": 1}]`:            "kind is not a string",
		`"obligation": ["checkpoint"]`:              `"obligation" is an unknown field`,
		`7: "x"`:                                    "7 is an unknown field",
		`"reason": null`:                            "reason is not a string",
	} {
		_, err := decode(ast.MustParseTerm(`{"decision": "allow", "enforced": "allow", ` + rest + `}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rest, err, want)
		}
	}
	for _, missing := range []string{`{}`, `{"decision": "allow"}`, `{"enforced": "allow"}`, `{"decision": "", "enforced": "allow"}`} {
		if _, err := decode(ast.MustParseTerm(missing)); err == nil {
			t.Errorf("%s is a decision", missing)
		}
	}
}
