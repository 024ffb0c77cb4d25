//go:build bench && unix

package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// manyRulesWarm compares decisions of a policy with 1,000 rules in addition to the built-in ones with
// those of one with 40, alternating, over the calls of the recorded session.
func manyRulesWarm(t *testing.T) (time.Duration, time.Duration) {
	many, few := policyWith(t, 1000), policyWith(t, 40)
	inputs := sessionInputs(t, few.View)
	a, b := 0, 0
	decide := func(p *review.Policy, i *int) {
		*i++
		in := inputs[*i%len(inputs)]
		decideOnce(t, p, &in)
	}
	return turnsBy(worked, len(inputs)*20, func() { decide(many, &a) }, func() { decide(few, &b) })
}

func decideOnce(t *testing.T, p *review.Policy, in *engine.Input) {
	findings, err := p.Matcher.Match(context.Background(), in)
	if err == nil {
		_, err = p.Decider.Decide(context.Background(), in, findings)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// policyWith compiles the built-in policy with n rules of an organisation, half of them conditions
// and half of them Rego, each about one program or one verb.
func policyWith(t *testing.T, n int) *review.Policy {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	rows, rego := "", "package policies.organisation\n"
	for i := range n / 2 {
		rows += fmt.Sprintf("- id: acme.c%d\n  title: Rule %d\n  severity: high\n  decision: ask\n  message: m%d\n"+
			"  match: {phases: [pre], commands: [tool%d]}\n  when: action.commands.exists(c, c.name == \"tool%d\" && size(c.flags) > 0)\n", i, i, i, i, i)
		rego += fmt.Sprintf("\nfindings contains {\"id\": \"acme.r%d\", \"decision\": \"ask\"} if {\n\t\"verb%d\" in input.verbs\n"+
			"\tinput.phase == \"pre\"\n\tsome e in input.action.effects\n\te.target == \"t%d\"\n}\n", i, i, i)
	}
	own, err := bundles.FromFiles(map[string][]byte{
		".manifest":       []byte(`{"roots": ["policies/organisation"], "metadata": {"name": "acme/many", "version": "1.0.0", "sequence": 1}}`),
		"rules/many.yaml": []byte(rows), "many.rego": []byte(rego),
	}, "organisation")
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base, own)
	if err != nil {
		t.Fatal(err)
	}
	p, err := wiring.Compile(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
