package reuse

import (
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

const policy = `package p

high := data.limits.high

low := _cfg.low

_cfg := data.limits

all := data.limits

plain := input.a.b

aliased := x.c if x := input.a

whole if f(input)

f(x) if x.a

called if g(1)

g(n) if input.numbers[n] == data.numbers[n]

above := [plain, low]

replaced if above with input.a.b as 1

dynamic := data.p.pieces[input.key]

pieces contains input.piece
`

func planOf(t *testing.T, text string, low int) *Plan {
	t.Helper()
	c := ast.NewCompiler()
	m, err := ast.ParseModuleWithOpts("p.rego", text, ast.ParserOptions{RegoVersion: ast.RegoV1})
	if err != nil {
		t.Fatal(err)
	}
	if c.Compile(map[string]*ast.Module{"p.rego": m}); c.Failed() {
		t.Fatal(c.Errors)
	}
	data, err := ast.InterfaceToValue(map[string]any{"limits": map[string]any{"high": 9, "low": low}, "numbers": []any{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	return NewPlan(c, data.(ast.Object))
}

// TestPlan shows what documents read, whatever way a rule takes to the input.
func TestPlan(t *testing.T) {
	p := planOf(t, policy, 1)
	for name, want := range map[string]string{
		"plain": "input.a.b", "aliased": "input.a", "whole": "input", "called": "input.numbers", "high": "",
		"above": "data.p.low data.p.plain", "replaced": "input.a.b", "dynamic": "data.p.pieces input.key", "pieces": "input.piece",
	} {
		d := p.docs[p.number["data.p."+name]]
		var got []string
		for _, n := range d.deps {
			got = append(got, p.docs[n].path)
		}
		for _, n := range d.inputs {
			got = append(got, p.inputs[n].String())
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s reads %q, want %q", name, text, want)
		}
	}
	if _, known := p.number["data.p.f"]; known {
		t.Error("a function counts as a document")
	}
}

// TestPair shows that only documents with the same rules and data are the same.
func TestPair(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		low  int
		want string
	}{
		"nothing":    {policy, 1, ""},
		"a number":   {policy, 2, "_cfg above all low replaced"},
		"a function": {strings.Replace(policy, "input.numbers[n] ==", "input.numbers[n] !=", 1), 1, "called"},
		"a new rule": {strings.Replace(policy, "plain := input.a.b", "fresh if [x | some x in input.list] == []\n\nplain := input.a.b", 1), 1, "fresh"},
		"a value":    {strings.Replace(policy, "input.piece", "input.part", 1), 1, "dynamic pieces"},
	} {
		p := NewPair(planOf(t, policy, 1), planOf(t, c.text, c.low))
		var got []string
		for _, n := range p.differ {
			got = append(got, strings.TrimPrefix(p.to.docs[n].path, "data.p."))
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("with %s changed, %q differ, want %q", name, text, c.want)
		}
	}
}
