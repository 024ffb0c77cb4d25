package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/mutate"
	"github.com/agent-reviewer/reviewer/cel"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/mutant"
)

func tried(t *testing.T, s Subject, only string) *Mutation {
	t.Helper()
	m, err := Mutate(context.Background(), s, MutateOptions{Only: only, Options: Options{Env: engine.Env{Engine: engine.Version}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// alive lists mutants as outcome, place and change.
func alive(list []mutant.Mutant) []string {
	var all []string
	for _, m := range list {
		all = append(all, fmt.Sprintf("%s %s:%d:%d %s %s: %s -> %s", m.Outcome, m.File, m.Line, m.Col, m.Operator, m.Rule, m.Before, m.After))
	}
	return all
}

const (
	kubectlRow = `- id: shop.kubectl
  severity: high
  decision: ask
  message: m
  match: {phases: [pre], commands: [kubectl]}
  when: action.commands.exists(c, "--context=prod" in c.flags)
`
	kubectlCases = `name: a
cases:
  - {Bash: kubectl --context=prod get pods, decision: ask, rule: shop.kubectl}
  - {Bash: kubectl get pods, not_rules: [shop.kubectl]}
`
)

// What no test notices is listed, until a test does.
func TestMutate(t *testing.T) {
	got := alive(tried(t, subject(t, "rules/a.yaml", kubectlRow, "cases/a.yaml", kubectlCases), "").Alive())
	want := []string{
		"survived policy/rules/a.yaml:5:20 item.drop shop.kubectl: phases: pre -> (removed)",
		"survived policy/rules/a.yaml:5:37 item.drop shop.kubectl: commands: kubectl -> (removed)",
		"survived policy/rules/a.yaml:6:9 quantifier shop.kubectl: action.commands.exists(c, \"--context=prod\" in c.flags) -> action.commands.all(c, \"--context=prod\" in c.flags)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	more := kubectlCases + `---
name: b
cases:
  - {Bash: helm --context=prod ls, not_rules: [shop.kubectl]}
  - {Bash: ls; kubectl --context=prod get pods, rule: shop.kubectl}
---
name: c
events:
  - Bash: kubectl --context=prod get pods
  - {result: ok, expect: {not_rules: [shop.kubectl]}}
`
	if got := alive(tried(t, subject(t, "rules/a.yaml", kubectlRow, "cases/a.yaml", more), "").Alive()); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// What a pattern measures is decided before policy is asked, and by settings that
// a case has of its own.
func TestMutatePatterns(t *testing.T) {
	row := "- {id: shop.often, severity: high, decision: ask, message: m, fixed: true, match: {phases: [pre]}, measure: session.actions, threshold: 2}\n"
	often := "name: a\nevents:\n  - {Bash: ls a}\n  - {Bash: ls b, expect: {not_rules: [shop.often]}}\n  - {Bash: ls c, expect: {rules: [shop.often]}}\n"
	slow := strings.Replace(often, "name: a", "name: b\nsettings: {patterns: {sensitivity: low}}", 1)
	for cases, want := range map[string]string{often: "true -> false", often + "---\n" + slow: ""} {
		var got []string
		for _, m := range tried(t, subject(t, "patterns/a.yaml", row, "cases/a.yaml", cases), "patterns").Mutants {
			if m.Operator == mutant.FlipTruth || m.Operator == mutant.ChangeNumber {
				if m.Kind != mutant.Rows {
					t.Errorf("%+v is not of a row", m)
				}
				if m.Outcome != Killed {
					got = append(got, m.Before+" -> "+m.After)
				}
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A detector that looks everywhere finds what it did not find before.
func TestMutateWhereDetectorsLook(t *testing.T) {
	detector := "- id: shop.word\n  title: t\n  pattern: 'shop-[0-9]{4}'\n  in: [contents]\n  examples: {match: [shop-1234, shop-12345], no_match: [shop-1, shop]}\n"
	rule := "- {id: shop.written, severity: high, decision: ask, message: m, match: {phases: [pre], detected: [shop.word]}}\n"
	written := "name: a\ncases:\n  - {Write: {file_path: a.txt, content: shop-1234}, rules: [shop.written]}\n"
	sought := "  - {Grep: {pattern: shop-1234}, not_rules: [shop.written]}\n"
	left := "item.drop shop.word: in: contents -> (removed)"
	for cases, survives := range map[string]bool{written: true, written + sought: false} {
		s := subject(t, "detectors/a.yaml", detector, "rules/a.yaml", rule, "cases/a.yaml", cases)
		got := strings.Join(alive(tried(t, s, "detectors").Alive()), "\n")
		if strings.Contains(got, left) != survives {
			t.Errorf("survives %v, got %q", !survives, got)
		}
	}
}

// Modules are changed too, and both cases and Rego tests notice it. What no test
// reaches is said to be so.
func TestMutateModules(t *testing.T) {
	s := subject(t, "a.rego", module+"\n_spare if input.phase == \"post\"\n",
		"a_test.rego", "package policies.user_test\n\nimport data.policies.user\n\ntest_a if count(user.findings) == 1 with input as {\"action\": {\"resource\": \"dropdb x\"}}\n",
		"cases/a.yaml", "{name: a, cases: [{Bash: \"psql -c 'drop table x'\", rules: [our.drop]}, {Bash: psql -c 'select 1', not_rules: [our.drop]}]}")
	got := alive(tried(t, s, "a.rego").Alive())
	want := []string{
		`survived policy/a.rego:3:38 element.drop our.drop: "decision" -> (removed)`,
		`survived policy/a.rego:3:50 literal our.drop: "ask" -> "block"`,
		`survived policy/a.rego:3:57 element.drop our.drop: "message" -> (removed)`,
		`survived policy/a.rego:3:68 literal our.drop: "m" -> "m~"`,
		`survived policy/a.rego:4:2 expression.drop our.drop: contains(input.action.resource, "drop") -> true`,
		`survived policy/a.rego:5:2 expression.drop our.drop: _bad -> true`,
		`survived policy/a.rego:8:9 expression.drop policies.user._bad: input.action.resource == "psql -c 'drop table x'" -> true`,
		`survived policy/a.rego:10:9 expression.drop policies.user._bad: startswith(input.action.resource, "dropdb") -> true`,
		`unreached policy/a.rego:12:1 rule.drop policies.user._spare: _spare -> (never)`,
		`unreached policy/a.rego:12:11 expression.drop policies.user._spare: input.phase == "post" -> true`,
		`unreached policy/a.rego:12:11 comparison policies.user._spare: input.phase == "post" -> input.phase != "post"`,
		`unreached policy/a.rego:12:26 literal policies.user._spare: "post" -> "batch"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The way by what was asked says the same as running all tests again with a
// change. Every twelfth change is tried, every fourth with REVIEWER_EVERY=1 (`make
// fidelity`); all of them hold too, and take a minute.
func TestMutateIsExact(t *testing.T) {
	nth := 12
	if os.Getenv("REVIEWER_EVERY") != "" {
		nth = 4
	}
	s := subject(t, "rules/a.yaml", kubectlRow+`- id: shop.many
  severity: medium
  measure: session.file_ops
  threshold: 1
  levels: [{at: 1, level: low}, {at: 3, level: critical}]
- {id: shop.make, severity: low, decision: warn, message: m, match: {commands: [make, just]}}
`, "settings.yaml", "risk: {high_threshold: 0.75}\nresources: {max_file_operations: 2}\nworkspace: {outside: block}\n",
		"access/a.yaml", "id: team\ndefault: allow\nrules:\n  - {id: terraform, effect: deny, actions: [code.exec], when: 'action.commands.exists(c, c.name == \"terraform\")'}\n",
		"cases/a.yaml", kubectlCases+`---
name: b
cases:
  - {Bash: make all, rule: shop.make, decision: warn}
  - {Bash: terraform plan, decision: block, rules: [access.team.terraform]}
  - {Write: /srv/other/x, decision: block}
  - {Bash: curl https://example.com, risk: {below: 0.75}}
---
name: d
settings: {workspace: {outside: ask}}
cases:
  - {Write: /srv/other/x, decision: ask}
---
name: c
events:
  - {Write: a.txt, result: ok}
  - Write: b.txt
    expect: {findings: [shop.many]}
  - result: ok
  - {Write: c.txt, times: 3, result: ok}
  - Write: d.txt
    expect: {rules: [limit_file_operations]}
`)
	for _, text := range told(run(t, s, Options{})) {
		if !strings.HasPrefix(text, string(report.Pass)) {
			t.Error(text)
		}
	}
	for i, m := range tried(t, s, "").Mutants {
		if i%nth == 0 && m.Kind != mutant.Rego {
			if want := slowly(t, s, m); m.Outcome != want && !(m.Outcome == Unreached && want == Survived) {
				t.Errorf("%s; running everything says %s", alive([]mutant.Mutant{m})[0], want)
			}
		}
	}
}

// slowly runs all tests with a change, except for those that only name what is gone.
func slowly(t *testing.T, s Subject, m mutant.Mutant) string {
	t.Helper()
	made, err := cel.NewRewordings(wiring.NamesOf(s.Layers...))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range mutate.Changes(s.bundle(), func(string) bool { return true }, made.Of) {
		if "policy/"+b.File != m.File || b.Line != m.Line || b.Col != m.Col || b.Operator != m.Operator || b.After != m.After {
			continue
		}
		own, err := b.Apply(s.bundle())
		if err != nil {
			t.Fatal(err)
		}
		changed := s
		changed.Layers = []*bundles.Bundle{s.Layers[0], own}
		for _, text := range told(run(t, changed, Options{})) {
			gone := strings.Contains(text, "unknown rule") && !regexp.MustCompile(`"`+b.Dropped+`"`).MatchString(text)
			if !strings.HasPrefix(text, string(report.Pass)) && !gone {
				return Killed
			}
		}
		return Survived
	}
	t.Fatalf("this change was not made: %v", m)
	return ""
}

// Tests that fail already say nothing, and there must be something to change.
func TestMutateRefuses(t *testing.T) {
	ctx := context.Background()
	_, err := Mutate(ctx, subject(t, "rules/a.yaml", kubectlRow, "cases/a.yaml", "{name: a, cases: [{Bash: ls, decision: block}]}"), MutateOptions{})
	var failing *FailingError
	if !errors.As(err, &failing) || len(failing.Tests) != 1 || failing.Tests[0].Line != 1 {
		t.Errorf("%v", err)
	}
	_, err = Mutate(ctx, subject(t, "rules/shop.yaml", kubectlRow, "cases/a.yaml", kubectlCases), MutateOptions{Only: "shop.kubctl"})
	if err == nil || !strings.Contains(err.Error(), `did you mean "shop.kubectl"?`) {
		t.Errorf("%v", err)
	}
	s := subject(t, "rules/a.yaml", kubectlRow)
	if _, err = Mutate(ctx, s, MutateOptions{}); err == nil || !strings.Contains(err.Error(), "no tests run") {
		t.Errorf("%v", err)
	}
	s.OnlyCases = true
	if _, err = Mutate(ctx, s, MutateOptions{}); err == nil || !strings.Contains(err.Error(), "give its folder") {
		t.Errorf("%v", err)
	}
}

// Every mutant of the built-in policy has an operator of its kind.
func TestOperators(t *testing.T) {
	known := map[string]bool{}
	for kind, names := range map[string][]string{
		mutant.Rego:       {mutant.DropRule, mutant.DropElse, mutant.DropExpression, mutant.Negate, mutant.SwapComparison, mutant.ChangeLiteral, mutant.DropElement},
		mutant.Conditions: {mutant.SwapJoin, mutant.DropOperand, mutant.NegateQuestion, mutant.SwapComparison, mutant.ChangeLiteral, mutant.SwapQuantifier, mutant.AssumePresent, mutant.DropElement},
		"rows, data":      {mutant.DropRow, mutant.DropItem, mutant.SwapVerdict, mutant.ChangeNumber, mutant.ChangeWord, mutant.FlipTruth},
	} {
		for _, name := range names {
			known[kind+name] = true
		}
	}
	s := subject(t, "rules/a.yaml", kubectlRow, "cases/a.yaml", kubectlCases)
	s.Layers, s.Layer = s.Layers[:1], bundles.Base
	b := &mutationBench{trial: &trial{Subject: s, Options: Options{Parallel: 1}}}
	for _, m := range b.named(t) {
		in := m.Kind
		if in == mutant.Rows || in == mutant.Data {
			in = "rows, data"
		}
		if !known[in+m.Operator] {
			t.Errorf("%s:%d: the operator %s of %s is not listed", m.File, m.Line, m.Operator, in)
		}
	}
}

func (b *mutationBench) named(t *testing.T) []mutant.Mutant {
	t.Helper()
	var err error
	if b.effective, err = bundles.Assemble(b.Layers...); err != nil {
		t.Fatal(err)
	}
	if b.trial, err = newTrial(context.Background(), b.Subject, b.Options); err != nil {
		t.Fatal(err)
	}
	if err := b.regoTests(context.Background()); err != nil {
		t.Fatal(err)
	}
	list, err := b.trials("")
	if err != nil {
		t.Fatal(err)
	}
	perRule := map[string]int{}
	var all []mutant.Mutant
	for _, a := range list {
		all = append(all, a.Mutant)
		perRule[a.Rule]++
	}
	for _, r := range b.bundle().Rules {
		if perRule[r.ID] < 3 {
			t.Errorf("%s has %d mutants, want 3", r.ID, perRule[r.ID])
		}
	}
	slices.SortFunc(all, mutant.Mutant.Compare)
	return all
}
