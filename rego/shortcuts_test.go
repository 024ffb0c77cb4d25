package rego

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// twiceOf decides with and without shortcuts, and keeps what differs.
func twiceOf(h *Host, thorough engine.Decider) (*DoubleCheck, *[]Difference) {
	var all []Difference
	return &DoubleCheck{Decider: h, Thorough: thorough, Tell: func(_ context.Context, d Difference) { all = append(all, d) }}, &all
}

// A rule that fails after the place where OPA stops early fails only without
// shortcuts: what such a policy decides depends on how far OPA evaluates.
func TestTwice(t *testing.T) {
	h := compiled(t, policy(`
decision := {"decision": d, "enforced": d, "rules": [{"id": r, "decision": "warn"} | some r in fires]} if {
	d := {true: "warn", false: "allow"}[count(fires) > 0]
}
fires contains "odd" if _odd
fires contains "plain" if input.agent in {"main", input.harness}
_odd if {
	some p in ["^a", "("]
	regex.match(p, input.agent)
}
`), map[string]any{"reviewer": map[string]any{"catalog": map[string]any{"odd": map[string]any{"decision": "block"}}}})
	twice, differ := twiceOf(h, h.WithoutShortcuts())
	for agent, want := range map[string]string{
		"agent": `rule odd: with OPA's rule index and early exit: warn by odd; without them: block by odd, odd: rule could not be evaluated: `,
		"main":  "", // it fails both ways
		"":      "",
	} {
		*differ = nil
		first, err := twice.Decide(t.Context(), &engine.Input{Agent: agent, Harness: "shop"}, nil)
		alone, err2 := h.Decide(t.Context(), &engine.Input{Agent: agent, Harness: "shop"}, nil)
		if err != nil || err2 != nil || fmt.Sprint(first) != fmt.Sprint(alone) {
			t.Errorf("%q: %v (%v), alone %v (%v)", agent, first, err, alone, err2)
		}
		got := fmt.Sprint(*differ)
		if want == "" && got != "[]" || !strings.HasPrefix(got, "["+want) {
			t.Errorf("%q: differs in %s, want %s", agent, got, want)
		}
	}
}

// told decides what it is told to.
type told struct {
	d   engine.Decision
	err error
}

func (d told) Decide(context.Context, *engine.Input, []engine.Finding) (engine.Decision, error) {
	return d.d, d.err
}

// Whatever differs is a difference.
func TestTwiceFindsDifferences(t *testing.T) {
	h := compiled(t, policy(`decision := {"decision": "warn", "enforced": "warn", "rules": [{"id": "a", "decision": "warn"}]}`), nil)
	warn := engine.Decision{Decision: engine.Warn, Enforced: engine.Warn, Rules: []engine.RuleResult{{ID: "a", Decision: engine.Warn}}}
	text := warn
	text.Text = "stop"
	for name, test := range map[string]struct {
		thorough told
		want     string
	}{
		"the same":     {told{d: warn}, "[]"},
		"another rule": {told{d: engine.Decision{Decision: engine.Warn, Enforced: engine.Warn, Rules: []engine.RuleResult{{ID: "b"}}}}, "[rules a, b: with OPA's rule index and early exit: warn by a; without them: warn by b]"},
		"another text": {told{d: text}, "[with OPA's rule index and early exit: warn by a; without them: warn by a, worded differently]"},
		"an error":     {told{err: errors.New("too deep")}, "[rule a: with OPA's rule index and early exit: warn by a; without them: no decision: too deep]"},
	} {
		twice, differ := twiceOf(h, test.thorough)
		if _, err := twice.Decide(t.Context(), &engine.Input{}, nil); err != nil || fmt.Sprint(*differ) != test.want {
			t.Errorf("%s: %v, %v; want %s", name, *differ, err, test.want)
		}
	}
}

// A probe makes an input on which its rule holds, as far as that can be seen.
func TestProbes(t *testing.T) {
	h := compiled(t, map[string]string{
		"base/a.rego": "package reviewer\n" + allows + `fires contains "last" if input.agent == "main"`,
		"user/a.rego": `package policies.user
findings contains {"id": "member"} if input.agent in {"main", input.harness}
findings contains {"id": "some"} if { some c in input.action.commands; c.name in data.policies.user.names; c.operands[1] == "b" }
findings contains {"id": "facts"} if { "auth_error" in input.facts; "x.y" in input.findings; input.session.stopped }
findings contains {"id": "number"} if { input.history.similar.failed > 3; startswith(input.action.resource, "/srv"); not input.session.stopped }
findings contains {"id": "nowhere"} if { input.time.ms == "noon" }
findings contains {"id": "always"}
helper(x) if x == input.agent
`}, map[string]any{"policies": map[string]any{"user": map[string]any{"names": []any{"make"}}}})
	var got []string
	for _, p := range h.Probes() {
		in, found, ok := p.On(&engine.Input{Harness: "shop", Facts: []string{"late"}}, nil)
		if !ok {
			got = append(got, fmt.Sprintf("%s:%d %s cannot be", p.File, p.Line, p.Rule))
			continue
		}
		var commands []string
		for _, c := range in.Action.Commands {
			commands = append(commands, c.Name+" "+strings.Join(c.Operands, ","))
		}
		got = append(got, fmt.Sprintf("%s:%d %s agent=%s commands=%v facts=%v findings=%d stopped=%v failed=%d resource=%s", p.File, p.Line, p.Rule,
			in.Agent, commands, in.Facts, len(found), in.Session.Stopped, in.History.Similar.Failed, in.Action.Resource))
	}
	want := []string{
		"user/a.rego:2 rule member agent=shop commands=[] facts=[late] findings=0 stopped=false failed=0 resource=",
		"user/a.rego:2 rule member agent=main commands=[] facts=[late] findings=0 stopped=false failed=0 resource=",
		"user/a.rego:3 rule some agent= commands=[make ,b] facts=[late] findings=0 stopped=false failed=0 resource=",
		"user/a.rego:4 rule facts agent= commands=[] facts=[late auth_error] findings=1 stopped=true failed=0 resource=",
		"user/a.rego:5 rule number agent= commands=[] facts=[late] findings=0 stopped=false failed=4 resource=/srv",
		"user/a.rego:6 rule nowhere cannot be",
		"base/a.rego:4 rule last agent=main commands=[] facts=[late] findings=0 stopped=false failed=0 resource=",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
