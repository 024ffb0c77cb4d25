package shipped

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/schemas"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"go.yaml.in/yaml/v3"
)

// root is the folder of the repository.
const root = "../../.."

// shippedCases loads the cases of the built-in policy, and what runs them.
func shippedCases(t *testing.T) (*caseRunner, []cases.Case) {
	t.Helper()
	s, err := shippedSubject()
	if err != nil {
		t.Fatal(err)
	}
	return s.runner, s.Cases
}

// subject is a policy with its cases, and a runner that has compiled it.
type subject struct {
	trial.Subject
	runner *caseRunner
}

// caseRunner runs each of the built-in cases once: several tests look at what
// came out, and none changes it.
type caseRunner struct {
	*trial.Runner
	shipped map[caseKey]func() (trial.Result, error)
}

type caseKey struct {
	file, id string
	line     int
}

func newCaseRunner(r *trial.Runner, list []cases.Case) *caseRunner {
	shipped := map[caseKey]func() (trial.Result, error){}
	for _, c := range list {
		shipped[caseKey{c.File, c.ID(), c.Line}] = sync.OnceValues(func() (trial.Result, error) { return r.Run(context.Background(), c) })
	}
	return &caseRunner{r, shipped}
}

func (r *caseRunner) Run(ctx context.Context, c cases.Case) (trial.Result, error) {
	if run := r.shipped[caseKey{c.File, c.ID(), c.Line}]; run != nil {
		return run()
	}
	return r.Runner.Run(ctx, c)
}

// shippedSubject is the same for all tests: what a runner has compiled does not change.
var shippedSubject = sync.OnceValues(func() (subject, error) {
	base, err := bundles.Default()
	if err != nil {
		return subject{}, err
	}
	s, err := trial.Load(bundles.DefaultFS(), "", bundles.Base, base)
	return subject{s, newCaseRunner(trial.NewRunner(cli.Environment(), base), s.Cases)}, err
})

// The built-in policy decides every one of its cases as expected, says
// something of each rule, and reaches each cell of the matrix.
func TestCases(t *testing.T) {
	runner, list := shippedCases(t)
	results := make([]trial.Result, len(list))
	t.Run("each", func(t *testing.T) {
		for i, c := range list {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				var err error
				if results[i], err = runner.Run(context.Background(), c); c.Todo != "" {
					return // known not to hold: `policy test` lists it
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range results[i].Failures {
					t.Errorf("%s\n%s", c.Name, f)
				}
			})
		}
	})
	checkRuleCoverage(t, runner.Layers()[0].Rules, list)
	checkMatrixCoverage(t, results)
}

// checkRuleCoverage wants two expectations at least that a rule fires or its
// condition is true, and two that it is false.
func checkRuleCoverage(t *testing.T, rules []bundles.Rule, list []cases.Case) {
	t.Helper()
	fires, silent := map[string]int{}, map[string]int{}
	counted := map[*cases.Expect]bool{nil: true} // what is written above a table is in each of its rows
	for _, c := range list {
		for _, e := range c.Events {
			if counted[e.Expect] {
				continue
			}
			counted[e.Expect] = true
			said := map[string]bool{e.Expect.Rule: true}
			for _, id := range slices.Concat(e.Expect.Rules, e.Expect.RulesExactly, e.Expect.Found()) {
				said[id] = true
			}
			for id := range said {
				fires[id]++
			}
			for _, id := range slices.Concat(e.Expect.NotRules, e.Expect.NotFindings) {
				silent[id]++
			}
		}
	}
	for _, r := range rules {
		if fires[r.ID] < 2 || silent[r.ID] < 2 {
			t.Errorf("rule %s: %d cases expect it to fire and %d that it does not; two of each are needed", r.ID, fires[r.ID], silent[r.ID])
		}
	}
}

// checkMatrixCoverage wants a case that expects a decision in each cell.
func checkMatrixCoverage(t *testing.T, results []trial.Result) {
	t.Helper()
	reached := map[string]bool{}
	for _, r := range results {
		for _, seen := range r.Seen {
			if d := seen.Record.Decision; d != nil && d.Risk != nil && d.Rationality != nil && seen.Expect.Decision != "" {
				reached[d.Risk.Level+"/"+d.Rationality.Level] = true
			}
		}
	}
	for _, risk := range []string{"minimal", "low", "medium", "high", "critical"} {
		for _, rationality := range []string{"high", "medium", "low"} {
			if !reached[risk+"/"+rationality] {
				t.Errorf("no case expects a decision at risk %s, rationality %s", risk, rationality)
			}
		}
	}
}

// What a case cannot mean is said before anything runs; what went otherwise is
// said with its place and why.
func TestCaseFailures(t *testing.T) {
	runner, _ := shippedCases(t)
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"another decision": {
			"name: a\nevents:\n  - prompt: go\n  - {Bash: rm -rf ~, expect: {decision: allow}}",
			[]string{"a.yaml:4: event 2, Bash rm -rf ~", "decision: want allow, got block", "rule delete_broad says block", "risk 1 critical"}},
		"a rule that there is not":  {"name: a\ncases: [{Bash: ls, not_rules: [delete_brod]}]", []string{`a.yaml:2: unknown rule "delete_brod"; did you mean "delete_broad"?`}},
		"a result without a call":   {"name: a\nevents: [{result: ok, expect: {decision: allow}}]", []string{"a.yaml:2: event 1: 0 calls before this event"}},
		"a result of a denied call": {"name: a\nevents: [{Bash: rm -rf ~}, {result: ok, expect: {decision: allow}}]", []string{"the call was blocked, so it has no result"}},
		"a layer that is none":      {"name: a\nlayers: {team: {a.rego: x}}\ncases: [{Bash: ls, decision: allow}]", []string{`a.yaml:3: layers: unknown layer "team"`}},
		"settings that are none":    {"name: a\nsettings: {risk: {high_treshold: 1}}\ncases: [{Bash: ls, decision: allow}]", []string{"a.yaml:3:", "high_threshold"}},
		"arguments that are none":   {"name: a\ncases: [{Bash: {command: [ls]}, decision: allow}]", []string{"decision: want allow", "not_understood"}},
	} {
		list, err := cases.Parse("a.yaml", []byte(test.text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := outcomeOf(runner, list[0])
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: want %q in\n%s", name, want, got)
			}
		}
	}
}

func outcomeOf(r *caseRunner, c cases.Case) string {
	result, err := r.Run(context.Background(), c)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for _, f := range result.Failures {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// Cases are reproduced each time, whatever runs next to them.
func TestCasesAreRepeatable(t *testing.T) {
	runner, list := shippedCases(t)
	other := trial.NewRunner(cli.Environment(), runner.Layers()...)
	for _, c := range list[:min(20, len(list))] {
		first, err := runner.Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := other.Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		for i := range first.Seen {
			a, errA := engine.Digest(first.Seen[i].Record)
			b, errB := engine.Digest(again.Seen[i].Record)
			if errA != nil || errB != nil || a != b {
				t.Errorf("%s: event %d comes out as %s, then as %s (%v, %v)", c.Name, i, a, b, errA, errB)
			}
		}
	}
}

// Editors find no fault with the built-in cases, and find it with a key that
// there is not.
func TestCaseSchema(t *testing.T) {
	raw, err := schemas.FS.ReadFile("case.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.CompileString("case.json", string(raw))
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(bundles.DefaultFS(), "cases/*/*.yaml")
	deeper, _ := fs.Glob(bundles.DefaultFS(), "cases/*/*/*.yaml") // the pattern is right, as the one above
	if files = append(files, deeper...); err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(bundles.DefaultFS(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := validYAML(schema, string(text)); err != nil {
			t.Errorf("%s: %#v", name, err)
		}
	}
	for _, text := range []string{
		"name: a\ncases: [{Bash: ls, decison: allow}]", "name: a\nevents: [{Bash: ls, expect: {decision: alow}}]",
		"name: a\nevents: [{result: fine}]", "- {name: a, files: {b: {lnk: c}}}", "cases: []",
	} {
		if validYAML(schema, text) == nil {
			t.Errorf("the schema takes %q for a case", text)
		}
	}
}

func validYAML(schema *jsonschema.Schema, text string) error {
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return err
	}
	return schema.Validate(doc)
}
