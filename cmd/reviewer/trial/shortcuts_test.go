package trial

import (
	"context"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
)

const finds = `package policies.user

findings contains {"id": "user.deploy", "decision": "block", "severity": "high", "message": "no"} if {
	some c in input.action.commands
	c.name in {"deploy", input.harness}
	_odd(c.name)
}
`

// mixed compares the input with a constant and with the input.
const mixed = `package policies.user

findings contains {"id": "user.deploy", "decision": "block", "severity": "high", "message": "no"} if {
	input.action.name in {"deploy", input.session.workspace}
}
`

// decideTwice has the policy of a subject, of whose layers the user's is its own, decide
// twice.
func decideTwice(t *testing.T, s Subject, thorough engine.Decider) *Shortcuts {
	t.Helper()
	found, err := TryShortcuts(t.Context(), s.Layers, ShortcutOptions{
		Env: engine.Env{Engine: engine.Version}, Own: []string{bundles.User}, Cases: s.Cases, Most: 20, Thorough: thorough,
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTryShortcuts(t *testing.T) {
	for name, test := range map[string]struct {
		file, text, want string
	}{
		"a rule that holds":   {"a.rego", finds + `_odd(x) if regex.match("^d", x)`, ""},
		"one that ends early": {"a.rego", finds + `_odd(x) if { some p in ["^d", "("]; regex.match(p, x) }`, "rule user.deploy (user/a.rego:3): rule user.deploy: with OPA's rule index and early exit: block by "},
		// OPA 1.22.0 drops this one, and only an input that is made for it shows that.
		"constants and the input": {"a.rego", mixed, ""},
		"settings":                {"settings.yaml", "enforcement: observe", ""},
	} {
		s := subject(t, test.file, test.text)
		found := decideTwice(t, s, nil)
		if found.Decisions-found.Own < 10 || (found.Own > 0) != (test.file == "a.rego") {
			t.Errorf("%s: %d decisions, %d of them own", name, found.Decisions, found.Own)
		}
		if test.want == "" {
			if len(found.Differ) > 0 {
				t.Errorf("%s: %s", name, found.Differ[0])
			}
			continue
		}
		if len(found.Differ) == 0 || !strings.HasPrefix(found.Differ[0].String(), test.want) {
			t.Errorf("%s: differs in %v, want %s", name, found.Differ, test.want)
		}
	}
}

// silent says nothing about what it is asked.
type silent struct{}

func (silent) Decide(context.Context, *engine.Input, []engine.Finding) (engine.Decision, error) {
	return engine.Decision{Decision: engine.Allow, Enforced: engine.Allow}, nil
}

// Something that drops every rule is found in each part: calls that any policy
// meets, the policy's own cases and examples, and its Rego.
func TestTryShortcutsFindsWhatIsDropped(t *testing.T) {
	s := subject(t, "a.rego", finds+`_odd("deploy")`,
		"rules/a.yaml", "- {id: user.make, title: a, severity: high, decision: block, message: b, "+
			"when: 'action.name == \"shell.exec\"', remediation: c, examples: {match: [{Bash: make x}]}}",
		"cases/a/a.yaml", "name: own\ncases: [{Bash: rm -rf ~, decision: block}]")
	found := decideTwice(t, s, silent{})
	var all []string
	for _, d := range found.Differ {
		all = append(all, d.String())
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{
		"case what every policy meets (usual.yaml:2): rules ", "case own/1 (policy/cases/a/a.yaml:2): rules delete_broad, ",
		"case user.make (rules/a.yaml:1): ", "rule user.deploy (user/a.rego:3): rule user.deploy",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not among\n%s", want, text)
		}
	}
}
