package suggest

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
)

func held(change func(*engine.Record)) *engine.Record {
	r := &engine.Record{Kind: engine.KindPre, N: 2, Chain: strings.Repeat("c", 32), Event: &engine.EventFacts{Tool: "Bash", CWD: "/shop"},
		Action:   &engine.Action{Resource: `npm publish --tag "beta"`},
		Decision: &engine.Decision{Reason: "high risk", Rules: []engine.RuleResult{{ID: "publish", Decision: engine.Ask}, {ID: "warn_external_network", Decision: engine.Warn}}}}
	if change != nil {
		change(r)
	}
	return r
}

// TestForCall: the text of an exception, and calls for which there is none.
func TestForCall(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	policy, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	x, err := ForCall(held(nil), policy)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`exceptions contains {"rule": "publish", "reason": "proposed from call cccccccc-2"} if {`,
		`input.event.cwd == "/shop"`, `input.action.resource == "npm publish --tag \"beta\""`, "count(input.action.opaque) == 0",
	} {
		if !strings.Contains(string(x.Text), want) {
			t.Errorf("no %q in\n%s", want, x.Text)
		}
	}
	for name, c := range map[string]struct {
		change func(*engine.Record)
		want   string
	}{
		"not a call":     {func(r *engine.Record) { r.Kind = engine.KindPost }, "is not a call"},
		"only a score":   {func(r *engine.Record) { r.Decision.Rules = nil }, "held up by its score, not by a rule"},
		"a firm rule":    {func(r *engine.Record) { r.Decision.Rules[0].ID = "guard_tampering" }, "users may not make exceptions to guard_tampering"},
		"an old rule":    {func(r *engine.Record) { r.Decision.Rules[0].ID = "of_yesterday" }, "users may not make exceptions to of_yesterday"},
		"shortened":      {func(r *engine.Record) { r.Cut = []engine.Cut{{Field: "action.resource", Bytes: 9000}} }, "too long for the log"},
		"a secret":       {func(r *engine.Record) { r.Action.Resource = "curl -H 'REDACTED_token" }, "contains a secret"},
		"not understood": {func(r *engine.Record) { r.Action.Opaque = []engine.Opaque{{Reason: "eval"}} }, "could not be understood (eval)"},
	} {
		if _, err := ForCall(held(c.change), policy); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
