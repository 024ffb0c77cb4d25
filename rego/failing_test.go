package rego

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// entry decides by the strictest rule that fires, as the default policy does.
const entry = `package reviewer

import data.reviewer.fired

order := ["allow", "warn", "modify", "ask", "block"]

decided := order[max(array.concat([0], [i | some r in fired.rules; some i, v in order; v == r.decision]))]

decision := {"decision": decided, "enforced": answered, "rules": fired.rules, "reason": "a reason", "text": "a text", "alternatives": ["a way"]}

answered := "allow" if data.reviewer.enforcement == "observe" else := decided
`

const firedModule = `package reviewer.fired

rules contains {"id": id, "decision": data.reviewer.catalog[id].decision} if some id in fires

rules contains {"id": object.get(f, "id", ""), "decision": "warn"} if some f in data.policies.user.findings
`

func rows(verdicts map[string]string) map[string]any {
	catalog := map[string]any{}
	for id, v := range verdicts {
		catalog[id] = map[string]any{"decision": v, "severity": "high"}
	}
	return catalog
}

// failing compiles a policy whose rules are the text, over a catalogue of one
// rule of each verdict.
func failing(t *testing.T, rules string, enforcement string) *Host {
	t.Helper()
	return compiled(t,
		map[string]string{"base/a.rego": entry, "base/policy/fired.rego": firedModule, "base/rules/r.rego": "package reviewer.fired\n" + rules},
		map[string]any{"reviewer": map[string]any{
			"enforcement": enforcement,
			"catalog":     rows(map[string]string{"warns": "warn", "modifies": "modify", "asks": "ask", "blocks": "block"}),
		}, "policies": map[string]any{}})
}

func TestFailingRules(t *testing.T) {
	const number, pattern = `to_number("x")`, `regex.match("(", "x")`
	for name, test := range map[string]struct {
		rules    string
		mode     string
		decision engine.Verdict
		enforced engine.Verdict
		reason   string // beginning
		ids      []string
		failed   []string // rules of the errors
	}{
		"the rule itself": {
			rules:    `fires contains "asks" if ` + number + ` > 1`,
			decision: engine.Ask, enforced: engine.Ask, reason: "rule could not be evaluated", ids: []string{"asks"}, failed: []string{"asks"},
		},
		"a function that it calls": {
			rules:    "fires contains \"blocks\" if f(input.agent)\nf(x) if g(x) > 1\ng(x) := to_number(x)",
			decision: engine.Block, enforced: engine.Block, reason: "rule could not be evaluated", ids: []string{"blocks"}, failed: []string{"blocks"},
		},
		"a rule that it looks at": {
			rules:    "fires contains \"blocks\" if helper\nhelper if " + pattern,
			decision: engine.Block, enforced: engine.Block, reason: "rule could not be evaluated", ids: []string{"blocks"}, failed: []string{"blocks"},
		},
		"others fire too": {
			rules:    "fires contains \"warns\" if " + pattern + "\nfires contains \"asks\"",
			decision: engine.Ask, enforced: engine.Ask, reason: "a reason", ids: []string{"warns", "asks"}, failed: []string{"warns"},
		},
		"two fail": {
			rules:    "fires contains \"warns\" if " + pattern + "\nfires contains \"asks\" if " + number + " > 1",
			decision: engine.Ask, enforced: engine.Ask, ids: []string{"asks", "warns"}, failed: []string{"asks", "warns"},
		},
		"it fires by another body": {
			rules:    "fires contains \"warns\" if " + pattern + "\nfires contains \"warns\" if input.agent",
			decision: engine.Warn, enforced: engine.Warn, reason: "a reason", ids: []string{"warns"}, failed: []string{"warns"},
		},
		"into what it modifies is not known": {
			rules:    `fires contains "modifies" if ` + pattern,
			decision: engine.Block, enforced: engine.Block, ids: []string{"modifies"}, failed: []string{"modifies"},
		},
		"no row": {
			rules:    `fires contains "unknown" if ` + pattern,
			decision: engine.Block, enforced: engine.Block, ids: []string{"unknown"}, failed: []string{"unknown"},
		},
		"no name": {
			rules:    "fires contains id if { some id in [\"warns\"]; " + pattern + " }",
			decision: engine.Block, enforced: engine.Block, ids: []string{""}, failed: []string{""},
		},
		"a policy that watches": {
			rules: "fires contains \"asks\" if " + pattern + "\nfires contains \"blocks\"", mode: "observe",
			decision: engine.Block, enforced: engine.Ask, reason: "a reason", ids: []string{"asks", "blocks"}, failed: []string{"asks"},
		},
	} {
		d, err := failing(t, test.rules, test.mode).Decide(context.Background(), &engine.Input{Agent: "main"}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d.Decision != test.decision || d.Enforced != test.enforced || !strings.HasPrefix(d.Reason, test.reason) {
			t.Errorf("%s: %s, answered %s because %q", name, d.Decision, d.Enforced, d.Reason)
		}
		var failed []string
		for _, e := range d.Errors {
			failed = append(failed, e.Rule)
			if e.Message == "" {
				t.Errorf("%s: an error that says nothing", name)
			}
		}
		sorted := cmpopts.SortSlices(func(a, b string) bool { return a < b })
		if diff := cmp.Diff(test.failed, failed, sorted) + cmp.Diff(test.ids, d.RuleIDs(), sorted); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(d.Alternatives) == 0 || d.Text == "" {
			t.Errorf("%s: nothing is said to the agent: %+v", name, d)
		}
	}
}

// The words for a rule that fails replace those of the policy only where its
// outcome is what is answered.
func TestFailingRuleIsTold(t *testing.T) {
	strict := failing(t, "fires contains \"blocks\" if to_number(input.agent) > 1\nfires contains \"warns\"", "")
	mild := failing(t, "fires contains \"warns\" if to_number(input.agent) > 1\nfires contains \"asks\"", "")
	for want, h := range map[string]*Host{"A rule of the policy (blocks) could not be evaluated": strict, "a text": mild} {
		d, err := h.Decide(context.Background(), &engine.Input{Agent: "main"}, nil)
		if err != nil || !strings.HasPrefix(d.Text, want) {
			t.Errorf("the text is %q (%v), want %q", d.Text, err, want)
		}
	}
}

// A rule of another layer is named as well: its member is an object.
func TestFailingRuleOfALayer(t *testing.T) {
	for name, test := range map[string]struct {
		member  string
		verdict engine.Verdict
		id      string
	}{
		"with a row":     {`{"id": "ours"}`, engine.Ask, "ours"},
		"without a row":  {`{"id": "theirs", "decision": "warn"}`, engine.Block, "theirs"},
		"without a name": {`{"decision": "warn"}`, engine.Block, ""},
	} {
		h := compiled(t,
			map[string]string{"base/a.rego": entry, "base/b.rego": firedModule, "base/c.rego": "package reviewer.fired\nfires contains \"never\" if input.agent == \"nobody\"",
				"user/u.rego": "package policies.user\nfindings contains " + test.member + " if to_number(input.agent) > 1"},
			map[string]any{"reviewer": map[string]any{"catalog": map[string]any{}},
				"policies": map[string]any{"user": map[string]any{"catalog": rows(map[string]string{"ours": "ask"})}}})
		d, err := h.Decide(context.Background(), &engine.Input{Agent: "main"}, nil)
		if err != nil || d.Decision != test.verdict || len(d.Errors) != 1 || d.Errors[0].Rule != test.id {
			t.Errorf("%s: %s, %+v, %v", name, d.Decision, d.Errors, err)
		}
	}
}

// A conflict is an error of the whole policy: nothing is decided.
func TestConflictDecidesNothing(t *testing.T) {
	h := failing(t, "fires contains \"warns\" if f(1) == 2\nf(x) := 2 if x > 0\nf(x) := 3 if x < 2", "")
	if d, err := h.Decide(context.Background(), &engine.Input{}, nil); err == nil {
		t.Errorf("decided %s", d.Decision)
	}
}
