package rego

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/agent-reviewer/reviewer/engine"
)

// A set of ids is computed in another way than it is written, and has the same members.
func TestDispatch(t *testing.T) {
	modules := map[string]string{
		"base/decision.rego": `package reviewer
decision := {"decision": "allow", "enforced": "allow", "reason": concat(" ", data.reviewer.firing.ids)}`,
		"base/firing.rego": `package reviewer.firing
ids contains id if {
	some family
	data.reviewer.families[family][id] == true
	not startswith(id, "_")
}`,
		"base/rules/shop/shop.rego": `package reviewer.families.shop
before if input.phase == "pre"
by_main if {
	"main" == input.agent
	_listed
}
by_main if {
	some f in input.facts
	f == "changes"
	not "pre" == input.phase
}
changes if {
	"changes" in input.facts
	input.phase == input.agent
}
number := 1
words contains "before"
of(x) if x
default never := false
_listed if input.harness in {"a", "b"}`,
		"base/rules/tea/tea.rego": `package reviewer.families.tea
always := true
green if data.reviewer.families.shop.before`,
	}
	as := func(how func(*ast.Compiler) *ast.Compiler) *Host {
		parsed, err := parseModules(modules)
		if err != nil {
			t.Fatal(err)
		}
		c := how(ast.NewCompiler())
		if c.Compile(parsed); c.Failed() {
			t.Fatal(c.Errors)
		}
		h, err := open(context.Background(), c, map[string]any{})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	written, fast := as(func(c *ast.Compiler) *ast.Compiler { return c }), as(dispatched)
	var bodies, left []string
	for _, r := range fast.compiler.Modules["base/firing.rego"].Rules {
		bodies = append(bodies, fmt.Sprintf("%s %s:%d", r.Head.Key, r.Location.File, r.Location.Row))
	}
	if diff := cmp.Diff(bodies, []string{
		`"before" base/rules/shop/shop.rego:2`,
		`"by_main" base/rules/shop/shop.rego:3`,
		`"by_main" base/rules/shop/shop.rego:7`,
		`"changes" base/rules/shop/shop.rego:12`,
		`"always" base/rules/tea/tea.rego:2`,
		`"green" base/rules/tea/tea.rego:3`,
	}); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"base/rules/shop/shop.rego", "base/rules/tea/tea.rego"} {
		for _, r := range fast.compiler.Modules[name].Rules {
			left = append(left, last(pathOf(r)))
		}
	}
	if want := []string{"before", "number", "words", "of", "never", "_listed"}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	seen := map[string]bool{}
	for _, phase := range []engine.Phase{"pre", "post"} {
		for _, agent := range []string{"main", "pre", "post"} {
			for _, program := range []string{"a", "c"} {
				in := &engine.Input{Phase: phase, Agent: agent, Harness: program}
				if phase == "post" {
					in.Facts = []string{"changes"}
				}
				want, err := written.Decide(context.Background(), in, nil)
				got, err2 := fast.Decide(context.Background(), in, nil)
				if err != nil || err2 != nil || got.Reason != want.Reason {
					t.Errorf("%s, %s, %s: got %q (%v), want %q (%v)", phase, agent, program, got.Reason, err2, want.Reason, err)
				}
				seen[got.Reason] = true
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %q", slices.Sorted(maps.Keys(seen)))
	}
}
