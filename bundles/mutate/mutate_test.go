package mutate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine/mutant"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// layerFiles makes a bundle from files, given as name and text.
func layerFiles(t *testing.T, layer string, files ...string) *bundles.Bundle {
	t.Helper()
	content := map[string][]byte{}
	for i := 0; i < len(files); i += 2 {
		content[files[i]] = []byte(files[i+1])
	}
	b, err := bundles.FromFiles(content, layer)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func all(string) bool { return true }

// louder is another form of an expression, for tests of where it is put.
func louder(text string) []mutant.Rewording {
	return []mutant.Rewording{{Text: text + "!", Mutant: mutant.Mutant{Line: 1, Col: 3, Operator: "louder", Before: text, After: text + "!"}}}
}

func TestMutants(t *testing.T) {
	for name, test := range map[string]struct {
		layer, file, text string
		want              []string
	}{
		"a rule": {bundles.User, "rules/a.yaml", `
- id: shop.kubectl
  severity: high
  decision: ask
  enforcement: warn
  always: true
  message: m
  match: {phases: [pre], commands: [kubectl, helm]}
  when: event.tool == "Bash"
`, []string{
			"2:3 row.drop shop.kubectl: shop.kubectl -> (removed) /policies/user/catalog/shop.kubectl",
			"4:13 verdict shop.kubectl: ask -> block /policies/user/catalog/shop.kubectl",
			"4:13 verdict shop.kubectl: ask -> warn /policies/user/catalog/shop.kubectl",
			"5:16 word shop.kubectl: warn -> enforce /policies/user/catalog/shop.kubectl",
			"5:16 word shop.kubectl: warn -> observe /policies/user/catalog/shop.kubectl",
			"6:11 truth shop.kubectl: true -> false /policies/user/catalog/shop.kubectl",
			"8:20 item.drop shop.kubectl: phases: pre -> (removed) /policies/user/catalog/shop.kubectl",
			"8:37 item.drop shop.kubectl: kubectl -> (removed) /policies/user/catalog/shop.kubectl",
			"8:46 item.drop shop.kubectl: helm -> (removed) /policies/user/catalog/shop.kubectl",
			`9:11 louder shop.kubectl: event.tool == "Bash" -> event.tool == "Bash"! /policies/user/catalog/shop.kubectl`,
		}},
		"a rule in Rego": {bundles.Base, "rules/shop/shop.rego", `package reviewer.families.shop

# METADATA
# title: Helm
# custom:
#   severity: high
#   decision: "ask" # always: true
#   always: true
#   message: ask
shop_helm if input.phase == "pre"

# METADATA
# title: What asks
helper(ask) if ask
`, []string{
			`7:15 verdict shop_helm: ask -> block /reviewer/catalog/shop_helm`,
			`7:15 verdict shop_helm: ask -> warn /reviewer/catalog/shop_helm`,
			`8:13 truth shop_helm: true -> false /reviewer/catalog/shop_helm`,
		}},
		"facts, alone and in front of an expression": {bundles.User, "rules/a.yaml", `
- {id: shop.a, severity: high, decision: ask, message: m, match: {facts: [stopped]}}
- {id: shop.b, severity: high, decision: ask, message: m, match: {facts: [stopped]}, when: event.tool == "Bash"}
`, []string{
			"2:3 row.drop shop.a: shop.a -> (removed) /policies/user/catalog/shop.a",
			"2:42 verdict shop.a: ask -> block /policies/user/catalog/shop.a",
			"2:42 verdict shop.a: ask -> warn /policies/user/catalog/shop.a",
			"2:75 item.drop shop.a: facts: stopped -> (removed) /policies/user/catalog/shop.a",
			"3:3 row.drop shop.b: shop.b -> (removed) /policies/user/catalog/shop.b",
			"3:42 verdict shop.b: ask -> block /policies/user/catalog/shop.b",
			"3:42 verdict shop.b: ask -> warn /policies/user/catalog/shop.b",
			"3:75 word shop.b: stopped -> executed_differs /policies/user/catalog/shop.b",
			"3:75 word shop.b: stopped -> presupposes_unmet /policies/user/catalog/shop.b",
			`3:94 louder shop.b: event.tool == "Bash" -> event.tool == "Bash"! /policies/user/catalog/shop.b`,
		}},
		"a pattern with levels": {bundles.User, "patterns/a.yaml", `
id: shop.many
severity: high
measure: session.file_ops
threshold: 10
levels: [{at: 10, level: medium}, {at: 20.5, level: critical}]
hysteresis: 5
fixed: true
`, []string{
			"8:8 truth shop.many: true -> false /policies/user/catalog/shop.many",
			"7:13 number shop.many: 5 -> 6 /policies/user/catalog/shop.many",
			"7:13 number shop.many: 5 -> 4 /policies/user/catalog/shop.many",
			"4:12 louder shop.many: session.file_ops -> session.file_ops! /policies/user/catalog/shop.many",
			"5:12 number shop.many: 10 -> 11 /policies/user/catalog/shop.many",
			"5:12 number shop.many: 10 -> 9 /policies/user/catalog/shop.many",
			"6:10 item.drop shop.many: shop.many -> (level removed) /policies/user/catalog/shop.many",
			"6:15 number shop.many: 10 -> 11 /policies/user/catalog/shop.many",
			"6:15 number shop.many: 10 -> 9 /policies/user/catalog/shop.many",
			"6:26 word shop.many: medium -> high /policies/user/catalog/shop.many",
			"6:26 word shop.many: medium -> low /policies/user/catalog/shop.many",
			"6:35 item.drop shop.many: shop.many -> (level removed) /policies/user/catalog/shop.many",
			"6:40 number shop.many: 20.5 -> 20.4 /policies/user/catalog/shop.many",
			"6:40 number shop.many: 20.5 -> 20.6 /policies/user/catalog/shop.many",
			"6:53 word shop.many: critical -> high /policies/user/catalog/shop.many",
		}},
		"settings": {bundles.User, "settings.yaml", `
enforcement: warn
risk: {high_threshold: 0.75}
matrix: {high: {low: modify}}
system: {guards: [a, b, c, d, e, f, g]}
messages: {allowed: "All is well."}
`, []string{
			"2:14 word enforcement: warn -> enforce /reviewer/enforcement",
			"2:14 word enforcement: warn -> observe /reviewer/enforcement",
			"3:24 number risk.high_threshold: 0.75 -> 0.74 /reviewer/risk/high_threshold",
			"3:24 number risk.high_threshold: 0.75 -> 0.76 /reviewer/risk/high_threshold",
			"4:22 verdict matrix.high.low: modify -> ask /reviewer/matrix/high/low",
			"4:22 verdict matrix.high.low: modify -> warn /reviewer/matrix/high/low",
			"5:19 item.drop system.guards: a -> (removed) /reviewer/system/guards",
			"5:28 item.drop system.guards: d -> (removed) /reviewer/system/guards",
			"5:37 item.drop system.guards: g -> (removed) /reviewer/system/guards",
		}},
		"access": {bundles.User, "access/a.yaml", `
id: team
default: allow
rules:
  - {id: nights, effect: require_approval, schedule: {hours: [22, 6]}}
  - {id: rest, effect: deny, actions: [code.*], when: session.stopped}
`, []string{
			"3:10 verdict team: allow -> require_approval /policies/user/access_lists/team",
			"5:26 verdict access.team.nights: require_approval -> allow /policies/user/access_lists/team",
			"5:26 verdict access.team.nights: require_approval -> deny /policies/user/access_lists/team",
			"5:5 row.drop access.team.nights: access.team.nights -> (removed) /policies/user/access_lists/team",
			"5:63 number access.team.nights: 22 -> 21 /policies/user/access_lists/team",
			"5:63 number access.team.nights: 22 -> 23 /policies/user/access_lists/team",
			"5:67 number access.team.nights: 6 -> 5 /policies/user/access_lists/team",
			"5:67 number access.team.nights: 6 -> 7 /policies/user/access_lists/team",
			"6:24 verdict access.team.rest: deny -> require_approval /policies/user/access_lists/team",
			"6:40 item.drop access.team.rest: actions: code.* -> (removed) /policies/user/access_lists/team",
			"6:5 row.drop access.team.rest: access.team.rest -> (removed) /policies/user/access_lists/team",
			"6:57 louder access.team.rest: session.stopped -> session.stopped! /policies/user/access_lists/team",
		}},
	} {
		var got []string
		for _, m := range Changes(layerFiles(t, test.layer, test.file, test.text), all, louder) {
			got = append(got, fmt.Sprintf("%d:%d %s %s: %s -> %s %s", m.Line, m.Col, m.Operator, m.Rule, m.Before, m.After, m.Path))
		}
		slices.Sort(got)
		slices.Sort(test.want)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// Data that no module asks for is not changed: no test could tell.
func TestMutantsOfDataThatIsRead(t *testing.T) {
	b := layerFiles(t, bundles.User, "settings.yaml", "risk: {high_threshold: 0.75, low_threshold: 0.2}")
	for _, m := range Changes(b, func(path string) bool { return !strings.HasSuffix(path, "high_threshold") }, nil) {
		if m.Rule != "risk.low_threshold" {
			t.Errorf("%s is changed", m.Rule)
		}
	}
}

// Each change of the built-in policy changes one thing, and leaves the bundle
// that it was made of as it was. Those that cannot be a policy are refused. Every
// third is made; all with REVIEWER_EVERY=1 (`make fidelity`).
func TestApplyMutants(t *testing.T) {
	b, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	before, err := bundles.Assemble(b)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	list := Changes(b, all, nil)
	if len(list) < 300 {
		t.Errorf("only %d changes", len(list))
	}
	list = sweep.Nth(list, sweep.Some(3, 1))
	sweep.Count(t, "changes of the built-in policy").Add(int64(len(list)))
	for _, m := range list {
		changed, err := m.Apply(b)
		if err != nil {
			refused++
			continue
		}
		if reflect.DeepEqual(changed.Rules, b.Rules) && reflect.DeepEqual(changed.Data, b.Data) && reflect.DeepEqual(changed.Detectors, b.Detectors) {
			t.Errorf("%s:%d:%d: %s changes nothing", m.File, m.Line, m.Col, m.Operator)
		}
		if changed.Digest == b.Digest {
			t.Errorf("%s:%d:%d: %s: the digest stays the same", m.File, m.Line, m.Col, m.Operator)
		}
	}
	if refused > len(list)/10 {
		t.Errorf("%d of %d changes are refused", refused, len(list))
	}
	after, err := bundles.Assemble(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.Data, after.Data); diff != "" || before.Digest != after.Digest {
		t.Errorf("the bundle has changed: %s", diff)
	}
}
