package diff

import (
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
)

// Each change can be undone by itself, and all of them together give the
// earlier policy.
func TestWithout(t *testing.T) {
	before := onBase(t, filesOf(t, bundles.Organisation,
		"settings.yaml", "risk: {high_threshold: 0.7}\nrules: {enforcement: {acme.deploy: warn}}\n",
		"rules/acme.yaml", "- {id: acme.deploy, title: Deploys, severity: high, decision: block, harm: policy, message: Deploys, match: {commands: [acme-deploy]}}\n"+
			"- {id: acme.old, title: Lists, severity: low, decision: warn, message: Lists, match: {commands: [acme-list]}}\n",
		"access/acme.yaml", "id: acme\ntitle: Acme\ndefault: allow\nrules:\n  - {id: one, effect: deny, actions: [code.exec], description: one}\n"+
			"  - {id: two, effect: deny, actions: [net.fetch], description: two}\n",
		"programs/acme.yaml", "acme-tool:\n  reads_only: true\nacme-sync acme-pull:\n  reads_only: true\n"))
	after := onBase(t, filesOf(t, bundles.Organisation,
		"settings.yaml", "risk: {high_threshold: 0.6}\n",
		"rules/acme.yaml", "- {id: acme.deploy, title: Deploys, severity: high, decision: ask, message: Deploys, match: {commands: [acme-deploy]}}\n"+
			"- {id: acme.new, title: Lists, severity: low, decision: warn, message: Lists, match: {commands: [acme-list]}}\n",
		"access/acme.yaml", "id: acme\ntitle: Acme\ndefault: deny\nrules:\n  - {id: one, effect: require_approval, actions: [code.exec], description: one}\n"+
			"  - {id: three, effect: deny, actions: [net.fetch], description: two}\n",
		"programs/acme.yaml", "acme-tool:\n  cases: [{do: [{delete: operands}]}]\nacme-sync:\n  reads_only: true\n",
		"words/acme.yaml", "calls.empties: {words: acme_empty_all}\n"))
	all := diffOf(t, before, after).Deciding()
	if len(all) < 10 {
		t.Fatalf("only %d changes: %+v", len(all), all)
	}
	for _, c := range all {
		part, err := Without(before, after, []Change{c})
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind == KindRego {
			continue
		}
		for _, left := range diffOf(t, before, part).Deciding() {
			if left.Kind == c.Kind && left.Name == c.Name {
				t.Errorf("%s %s is still there: %+v", c.Kind, c.Name, left)
			}
		}
		if n := len(diffOf(t, before, part).Deciding()); n != len(all)-1 {
			t.Errorf("without %s %s there are %d changes, want %d", c.Kind, c.Name, n, len(all)-1)
		}
		if part.Digest == after.Digest || part.Digest == before.Digest {
			t.Errorf("without %s %s: it has the digest of one of the two", c.Kind, c.Name)
		}
	}
	none, err := Without(before, after, all)
	if err != nil {
		t.Fatal(err)
	}
	if left := diffOf(t, before, none).Deciding(); len(left) > 0 {
		t.Errorf("after all were undone there is %+v", left)
	}
	if slices.ContainsFunc(all, func(c Change) bool { return c.Kind == KindManifest || c.Direction == Unaffected }) {
		t.Errorf("a change that decides nothing is among %+v", all)
	}
}
