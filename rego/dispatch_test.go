package rego

import (
	"context"
	"maps"
	"slices"
	"testing"

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
	parsed, err := parseModules(modules)
	if err != nil {
		t.Fatal(err)
	}
	dispatch(parsed)
	var bodies []string
	for _, r := range parsed["base/firing.rego"].Rules {
		bodies = append(bodies, r.Head.Key.String()+": "+r.Body.String())
	}
	if want := []string{
		`"before": equal(input.phase, "pre"); data.reviewer.families.shop.before`,
		`"by_main": equal("main", input.agent); data.reviewer.families.shop.by_main`,
		`"by_main": data.reviewer.families.shop.by_main`,
		`"changes": internal.member_2("changes", input.facts); data.reviewer.families.shop.changes`,
		`"always": data.reviewer.families.tea.always`,
		`"green": data.reviewer.families.tea.green`,
	}; !slices.Equal(bodies, want) {
		t.Errorf("got %q\nwant %q", bodies, want)
	}
	as := func(how func(map[string]*ast.Module)) *Host {
		parsed, err := parseModules(modules)
		if err != nil {
			t.Fatal(err)
		}
		how(parsed)
		c := ast.NewCompiler()
		if c.Compile(parsed); c.Failed() {
			t.Fatal(c.Errors)
		}
		h, err := open(context.Background(), c, map[string]any{})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	written, dispatched := as(func(map[string]*ast.Module) {}), as(dispatch)
	seen := map[string]bool{}
	for _, phase := range []engine.Phase{"pre", "post"} {
		for _, agent := range []string{"main", "pre", "post"} {
			for _, program := range []string{"a", "c"} {
				in := &engine.Input{Phase: phase, Agent: agent, Harness: program}
				if phase == "post" {
					in.Facts = []string{"changes"}
				}
				want, err := written.Decide(context.Background(), in, nil)
				got, err2 := dispatched.Decide(context.Background(), in, nil)
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
