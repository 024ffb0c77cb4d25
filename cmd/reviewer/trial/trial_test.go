package trial

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/mutant"
)

// subject is a layer over the built-in policy, of files as name, content.
func subject(t *testing.T, files ...string) Subject {
	t.Helper()
	return subjectOf(t, bundles.User, files...)
}

func subjectOf(t *testing.T, name string, files ...string) Subject {
	t.Helper()
	fsys := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	layer, err := bundles.Load(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(fsys, "policy", name, base, layer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t *testing.T, s Subject, o Options) *report.Report {
	t.Helper()
	o.Env = engine.Env{Engine: engine.Version}
	r, err := Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// told lists tests as status, name and message.
func told(r *report.Report) []string {
	var all []string
	for _, s := range r.Suites {
		for _, test := range s.Tests {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s:%d %s %s", test.Status, test.File, test.Line, test.Name, test.Message)))
		}
	}
	return all
}

const module = `package policies.user

findings contains {"id": "our.drop", "decision": "ask", "message": "m"} if {
	contains(input.action.resource, "drop")
	_bad
}

_bad if input.action.resource == "psql -c 'drop table x'"

_bad if startswith(input.action.resource, "dropdb")
`

// Examples are events as cases write them: of a call, or of its result.
func TestExamples(t *testing.T) {
	r := run(t, subject(t, "rules/a.yaml", `
- id: our.call
  severity: low
  match: {phases: [pre], commands: [make]}
  examples:
    match: [{Bash: make}, {tool: Bash, args: {command: make all}, phase: pre}, {Bash: ls}]
    no_match: [{Bash: ls}, {Bash: make}]
- id: our.result
  severity: low
  match: {phases: [post]}
  when: event.result.outcome == "failed"
  examples:
    match: [{Bash: make, result: failed}, {tool: Bash, args: {command: make}, phase: post}]
    no_match: [{Bash: make, result: ok}, {phase: stop}, {nothing: at all}]
- id: our.error
  severity: low
  match: {phases: [pre]}
  when: history.windows["no"].events > 1
  examples: {match: [{Bash: make}]}
`), Options{})
	want := []string{
		"pass policy/rules/a.yaml:6 rules/a.yaml/our.call/match/1",
		"pass policy/rules/a.yaml:6 rules/a.yaml/our.call/match/2",
		"fail policy/rules/a.yaml:6 rules/a.yaml/our.call/match/3 the condition is false for this example",
		"pass policy/rules/a.yaml:6 rules/a.yaml/our.call/no_match/1",
		"fail policy/rules/a.yaml:6 rules/a.yaml/our.call/no_match/2 the condition is true for this example, but should not be",
		"pass policy/rules/a.yaml:13 rules/a.yaml/our.result/match/1",
		"fail policy/rules/a.yaml:13 rules/a.yaml/our.result/match/2 the condition is false for this example",
		"pass policy/rules/a.yaml:13 rules/a.yaml/our.result/no_match/1",
		"pass policy/rules/a.yaml:13 rules/a.yaml/our.result/no_match/2",
		`error policy/rules/a.yaml:13 rules/a.yaml/our.result/no_match/3 the example is not an event: unknown key "nothing"`,
		"error policy/rules/a.yaml:19 rules/a.yaml/our.error/match/1 its condition cannot be evaluated: when: no such key: no",
	}
	got := told(r)
	for i := range got {
		got[i], _, _ = strings.Cut(got[i], "; expected")
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

// A rule in Rego has examples in its row, too.
func TestExamplesOfRego(t *testing.T) {
	r := run(t, subject(t, "a.rego", `package policies.user

# METADATA
# title: Make
findings contains {"id": "our.make"} if {
	some c in input.action.commands
	c.name == "make"
}
`, "rules/a.yaml", `
- id: our.make
  severity: low
  decision: warn
  message: This makes something.
  examples:
    match: [{Bash: make}, {Bash: ls}]
    no_match: [{Bash: ls}, {Bash: make}]
`), Options{})
	var got []string
	for _, line := range told(r) {
		line, _, _ = strings.Cut(line, "; expected")
		got = append(got, line)
	}
	if diff := cmp.Diff(got, []string{
		"pass policy/rules/a.yaml:7 rules/a.yaml/our.make/match/1",
		"fail policy/rules/a.yaml:7 rules/a.yaml/our.make/match/2 the rule does not fire for this example",
		"pass policy/rules/a.yaml:7 rules/a.yaml/our.make/no_match/1",
		"fail policy/rules/a.yaml:7 rules/a.yaml/our.make/no_match/2 the rule fires for this example, but should not",
	}); diff != "" {
		t.Error(diff)
	}
}

// What comes out does not depend on how many tests run at a time.
func TestParallelIsTheSame(t *testing.T) {
	var rows strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rows, "    - {Bash: psql -c 'drop table x', at: +%ds, rules: [our.drop]}\n    - {Bash: make a%d, decision: block}\n", i+1, i)
	}
	s := subject(t, "a.rego", module, "cases/a.yaml", "- name: a\n  cases:\n"+rows.String(), "cases/b.yaml", "- name: b\n  settings: {enforcement: observe}\n  cases:\n"+rows.String(),
		"a_test.rego", "package policies.user_test\n\nimport data.policies.user\n\ntest_x[n] if {\n\tsome n in numbers.range(1, 9)\n\tn > 4\n}\n\ntest_y if user._bad with input as {}\n")
	var first *report.Report
	for _, parallel := range []int{1, 2, 7} {
		r := run(t, s, Options{Parallel: parallel, Coverage: true})
		if first == nil {
			first = r
		}
		if diff := cmp.Diff(r, first, cmpopts.IgnoreFields(report.Test{}, "Duration")); diff != "" {
			t.Errorf("%d at a time: %s", parallel, diff)
		}
	}
	if n := len(told(first)); n != 170 {
		t.Errorf("%d tests, want 170", n)
	}
}

// Cases with settings of their own and mutants share the organisation's layer. The result is the
// same however many run at a time; `make race` finds what they write at the same time.
func TestSharedLayerInParallel(t *testing.T) {
	var cases strings.Builder
	cases.WriteString(kubectlCases)
	for i := range 12 {
		fmt.Fprintf(&cases, "---\nname: s%d\nsettings: {risk: {high_threshold: 0.%d}}\ncases: [{Bash: kubectl --context=prod get pods, rule: shop.kubectl}]\n", i, 60+i)
	}
	s := subjectOf(t, bundles.Organisation, "rules/a.yaml", kubectlRow, "cases/a.yaml", cases.String(), "policies/organisation/data.yaml", "hosts: 3\n",
		"access/a.yaml", "{id: tools, default: allow, rules: [{id: nc, effect: deny, message: m, tools: [Nc]}]}\n")
	var first []mutant.Mutant
	for _, parallel := range []int{1, 8} {
		for _, line := range told(run(t, s, Options{Parallel: parallel})) {
			if !strings.HasPrefix(line, "pass ") {
				t.Errorf("%d at a time: %s", parallel, line)
			}
		}
		m, err := Mutate(t.Context(), s, MutateOptions{Only: "rules", Options: Options{Env: engine.Env{Engine: engine.Version}, Parallel: parallel}})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = m.Mutants
		}
		if diff := cmp.Diff(alive(first), alive(m.Mutants)); diff != "" {
			t.Errorf("%d at a time: %s", parallel, diff)
		}
	}
}

// A policy with one branch that no test takes is told by that line.
func TestUntestedLine(t *testing.T) {
	r := run(t, subject(t, "a.rego", module,
		"cases/a.yaml", "name: a\ncases:\n  - {Bash: psql -c 'drop table x', rules: [our.drop]}\n  - {Bash: dropdb x, rules: [our.drop]}\n",
	), Options{Coverage: true})
	want := []report.FileLines{{File: "policy/a.rego", Covered: []int{3, 4, 5, 8, 10}}}
	if diff := cmp.Diff(r.Coverage.Files, want); diff != "" {
		t.Error(diff)
	}
	r = run(t, subject(t, "a.rego", module, "cases/a.yaml", "name: a\ncases:\n  - {Bash: psql -c 'drop table x', rules: [our.drop]}\n"), Options{Coverage: true})
	if got, want := r.Coverage.Files[0].Missed, []int{10}; !slices.Equal(got, want) {
		t.Errorf("missed lines %v, want %v", got, want)
	}
}

// A rule of an access list is covered if a case names it, or if it allows what a case expects to be allowed and
// what its list would not allow otherwise.
func TestAccessCoverage(t *testing.T) {
	const rules = "rules: [{id: status, effect: allow, commands: [git status]}, {id: make, effect: deny, message: m, commands: [make *]}]}\n"
	for _, test := range []struct {
		list, text   string
		status, make bool
	}{
		{"deny", "{Bash: git status, decision: allow}", true, false},
		{"deny", "{Bash: git status, findings: [access.a.status]}", true, false},
		{"deny", "{Bash: git status, not_rules: [access.a.default]}", false, false},
		{"allow", "{Bash: git status, decision: allow}", false, false},
		{"deny", "{Bash: make all, decision: block}", false, false},
		{"deny", "{Bash: make all, rules: [access.a.make]}", false, true},
	} {
		r := run(t, subjectOf(t, bundles.Organisation, "access/a.yaml", "{id: a, default: "+test.list+", "+rules,
			"cases/a.yaml", "{name: a, cases: ["+test.text+"]}"), Options{Coverage: true})
		covered := map[string]bool{}
		for _, c := range r.Coverage.Cells {
			name, _, _ := strings.Cut(c.Name, " ")
			covered[name] = c.Kind == accessIDs && c.Covered
		}
		want := map[string]bool{"access.a.status": test.status, "access.a.make": test.make}
		if diff := cmp.Diff(covered, want); diff != "" {
			t.Errorf("default %s, %s: %s", test.list, test.text, diff)
		}
	}
}

// Only what a test expects counts as covered: that a rule fired is not enough.
func TestOnlyExpectedCounts(t *testing.T) {
	rules := "{id: our.rule, severity: low, decision: ask, message: m, remediation: r, match: {commands: [make]}}"
	for text, covered := range map[string]bool{
		"rules: [our.rule]":     true,
		"rule: our.rule":        true,
		"decision: ask":         false,
		"findings: [our.rule]":  false,
		"not_rules: [our.rule]": false,
	} {
		r := run(t, subject(t, "rules/a.yaml", rules, "cases/a.yaml", "{name: a, cases: [{Bash: make, "+text+"}]}"), Options{Coverage: true})
		if got := r.Coverage.Cells[0].Covered; got != covered {
			t.Errorf("%s: covered %t, want %t", text, got, covered)
		}
	}
}

// A panic is an internal error, never a failed test or a detected mutant; the other jobs run.
func TestPanicIsAnError(t *testing.T) {
	var nothing *report.Report
	crash := func(context.Context, *trial) report.Test {
		return report.Test{Status: nothing.Suites[0].Tests[0].Status}
	}
	ran := false
	jobs := []job{
		{file: "a", kind: kindCase, name: "a/1", line: 3, run: crash},
		{file: "a", kind: kindCase, name: "a/2", run: func(context.Context, *trial) report.Test {
			ran = true
			return report.Test{Status: report.Pass}
		}},
	}
	_, err := (&trial{Options: Options{Parallel: 1}}).run(context.Background(), jobs)
	if err == nil || !strings.Contains(err.Error(), "internal error in a:3: a/1; please report it: runtime error") || !ran {
		t.Errorf("%v, other jobs ran: %t", err, ran)
	}
	b := &mutationBench{trial: &trial{Options: Options{Parallel: 2}}}
	attempts := []attempt{{mutant.Mutant{File: "r.yaml", Line: 2, Before: "x", After: "y"}, func(context.Context) (string, bool) {
		return string(crash(nil, nil).Status), true
	}}}
	if _, err := b.run(context.Background(), attempts, nil); err == nil || !strings.Contains(err.Error(), "internal error in r.yaml:2: x -> y") {
		t.Error(err)
	}
}

// Cases that are known not to hold count neither way, and say when they hold.
func TestTodo(t *testing.T) {
	r := run(t, subject(t, "cases/a.yaml", `name: a
cases:
  - {Bash: ls, decision: block, todo: later}
  - {Bash: ls, decision: allow, todo: soon}
  - {Bash: ls, rules: [nobody.knows], todo: when there is such a rule}
`), Options{})
	want := []string{
		"todo policy/cases/a.yaml:3 cases/a.yaml/a/1 later (event 1, Bash ls: different in decision)",
		"todo policy/cases/a.yaml:4 cases/a.yaml/a/2 passes now: remove the todo (soon)",
		"todo policy/cases/a.yaml:5 cases/a.yaml/a/3 when there is such a rule (unknown rule \"nobody.knows\"; `reviewer policy show` lists the rules; " +
			"if another layer has it, name both, as in `reviewer policy test ./org+./team`)",
	}
	if diff := cmp.Diff(told(r), want); diff != "" {
		t.Error(diff)
	}
}

// Duplicate names can be told apart, and select what they name.
func TestNames(t *testing.T) {
	s := subject(t, "cases/a.yaml", "- {name: a, cases: [{Bash: ls, decision: allow}]}\n- {name: a, cases: [{Bash: make, decision: warn}]}\n")
	if diff := cmp.Diff(Names(s), []string{"cases/a.yaml/a/1", "cases/a.yaml/a/1#2"}); diff != "" {
		t.Error(diff)
	}
	r := run(t, s, Options{Run: regexp.MustCompile(`#2$`)})
	if got := told(r); len(got) != 1 || !strings.Contains(got[0], "a.yaml:2 cases/a.yaml/a/1#2") {
		t.Errorf("%q", got)
	}
}

// What does not compile is said with the file as the person knows it.
func TestDoesNotCompile(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		want  string
	}{
		"a test":   {[]string{"a.rego", module, "a_test.rego", "package a_test\n\ntest_a if x == 1"}, "compile tests:\npolicy/a_test.rego:3: rego_unsafe_var_error"},
		"a module": {[]string{"a.rego", "package policies.user\n\na if x == 1"}, "policy/a.rego:3: rego_unsafe_var_error"},
	} {
		_, err := Run(context.Background(), subject(t, test.files...), Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
