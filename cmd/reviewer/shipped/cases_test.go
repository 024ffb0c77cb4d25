package shipped

import (
	"context"
	"io/fs"
	"iter"
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

// caseRunner runs cases. What several tests look at is kept of each of the built-in ones.
type caseRunner struct {
	*trial.Runner
	shipped map[caseKey]func() (*ran, error)
}

type caseKey struct {
	file, id string
	line     int
}

// ran is what is kept of a case: little, since there are many.
type ran struct {
	failures []string
	cells    []string // of the matrix, which an expected decision reached
	denials  []denial
	lines    [][]byte       // the records, as a log has them
	findings map[string]int // how many records have a finding of a rule
}

// denial is an answer that blocks or asks.
type denial struct {
	text  string
	rules []string
}

func newCaseRunner(r *trial.Runner, list []cases.Case) *caseRunner {
	shipped := map[caseKey]func() (*ran, error){}
	for _, c := range list {
		shipped[caseKey{c.File, c.ID(), c.Line}] = sync.OnceValues(func() (*ran, error) {
			result, err := r.Run(context.Background(), c)
			if err != nil {
				return nil, err
			}
			return summarized(result)
		})
	}
	return &caseRunner{r, shipped}
}

// once is what came out of a case, which runs when it is first asked for.
func (r *caseRunner) once(t *testing.T, c cases.Case) *ran {
	t.Helper()
	run := r.shipped[caseKey{c.File, c.ID(), c.Line}]
	if run == nil {
		run = func() (*ran, error) {
			result, err := r.Run(t.Context(), c)
			if err != nil {
				return nil, err
			}
			return summarized(result)
		}
	}
	kept, err := run()
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return kept
}

func summarized(result trial.Result) (*ran, error) {
	kept := &ran{findings: map[string]int{}}
	for _, f := range result.Failures {
		kept.failures = append(kept.failures, f.String())
	}
	for _, seen := range result.Seen {
		if d := seen.Record.Decision; d != nil && d.Risk != nil && d.Rationality != nil && seen.Expect.Decision != "" {
			kept.cells = append(kept.cells, d.Risk.Level+"/"+d.Rationality.Level)
		}
	}
	for _, r := range result.Records {
		if d := r.Decision; r.Phase == engine.PhasePre && d != nil && (d.Enforced == engine.Block || d.Enforced == engine.Ask) && !d.Stops() {
			kept.denials = append(kept.denials, denial{d.Text, d.RuleIDs()})
		}
	}
	for _, r := range result.Chain {
		line, err := engine.EncodeLine(r)
		if err != nil {
			return nil, err
		}
		kept.lines = append(kept.lines, line)
		found := map[string]bool{}
		for _, f := range r.Findings {
			found[f.ID] = true
		}
		for id := range found {
			kept.findings[id]++
		}
	}
	return kept, nil
}

// records reads the records back as a reader of a log would: what is only in memory is gone.
func (r *ran) records() iter.Seq2[*engine.Record, error] { return decoded(r.lines) }

func decoded(lines [][]byte) iter.Seq2[*engine.Record, error] {
	return func(yield func(*engine.Record, error) bool) {
		for _, line := range lines {
			if !yield(engine.DecodeLine(line)) {
				return
			}
		}
	}
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

// The built-in policy decides every one of its cases as expected, says something of each rule, reaches each cell
// of the matrix, and tells the agent what it should.
func TestCases(t *testing.T) {
	runner, list := shippedCases(t)
	results := make([]*ran, len(list))
	t.Run("each", func(t *testing.T) {
		for i, c := range list {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				results[i] = runner.once(t, c)
				if c.Todo != "" {
					return // known not to hold: `policy test` lists it
				}
				for _, f := range results[i].failures {
					t.Errorf("%s\n%s", c.Name, f)
				}
			})
		}
	})
	if slices.Contains(results, nil) {
		return // -run chose some of them, or one could not run
	}
	checkRuleCoverage(t, runner.Layers()[0].Rules, list)
	checkMatrixCoverage(t, results)
	checkAnswers(t, list, results)
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
func checkMatrixCoverage(t *testing.T, results []*ran) {
	t.Helper()
	reached := map[string]bool{}
	for _, r := range results {
		for _, cell := range r.cells {
			reached[cell] = true
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
