package report_test

import (
	"os"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
)

func place(file string, line, col int) report.Place {
	return report.Place{File: file, Line: line, Col: col}
}

// tested is what `policy test --coverage --threshold 95` might find in a small policy.
func tested() *report.Report {
	return &report.Report{
		Command: "policy test",
		Policy:  "sha256:1f2e",
		Rules: []report.Rule{{
			Place: place("policy/rules/files.yaml", 3, 1), ID: "delete_outside_scope", Title: "Deletion outside the workspace",
			Help: "Delete only inside the workspace, or ask the person to do it.", Tags: []string{"essential", "OWASP-ASI02"},
		}},
		Suites: []report.Suite{
			{Name: "policy/cases/files.yaml", Kind: "case", Tests: []report.Test{
				{Place: place("policy/cases/files.yaml", 4, 3), Name: "cases/files.yaml/a file of the workspace", Status: report.Pass, Duration: 3 * time.Millisecond},
				{
					Place: place("policy/cases/files.yaml", 11, 3), Name: "cases/files.yaml/somebody's photos", Status: report.Fail, Duration: 1800 * time.Millisecond,
					Rules: []string{"delete_outside_scope"}, Message: "event 1 (Bash rm -rf ~/photos): decision",
					Expected: "block", Got: "warn", Why: []string{"risk 0.52 (low): base 0.8, in scope -0.3", "rationality 0.75 (medium)", "no rule fired"},
				},
				{Place: place("policy/cases/files.yaml", 20, 3), Name: "cases/files.yaml/a link out of it", Status: report.Todo, Message: "links are resolved later"},
			}},
			{Name: "policy/policy/risk_test.rego", Kind: "rego", Tests: []report.Test{
				{Place: place("policy/policy/risk_test.rego", 7, 1), Name: "data.reviewer.risk_test.test_levels/high", Status: report.Pass, Duration: 200 * time.Microsecond},
				{
					Place: place("policy/policy/risk_test.rego", 15, 5), Name: "data.reviewer.risk_test.test_loops", Status: report.Error,
					Message: "stopped after 5 s; does it loop?", Output: "looked at 1\nlooked at 2\n",
				},
				{Place: place("policy/policy/risk_test.rego", 30, 1), Name: "data.reviewer.risk_test.test_later", Status: report.Skip},
			}},
		},
		Coverage: covered(),
		Duration: 1234 * time.Millisecond,
	}
}

func covered() *report.Coverage {
	return &report.Coverage{
		Kinds: []report.Kind{
			{Name: report.RegoLines, Covered: 5, Total: 9}, {Name: report.CELBranches, Covered: 3, Total: 4},
			{Name: "matrix cells", Covered: 1, Total: 2}, {Name: "rules", Covered: 1, Total: 2}, {Name: "detectors"},
		},
		Files: []report.FileLines{
			{File: "policy/policy/risk.rego", Covered: []int{3, 5, 7, 8}, Missed: []int{9, 10, 11, 13}},
			{File: "policy/policy/small.rego", Covered: []int{3}},
		},
		Cells: []report.Cell{
			{Place: place("policy/rules/files.yaml", 5, 9), Kind: report.CELBranches, Name: `c.name == "rm" was true`, Covered: true},
			{Place: place("policy/rules/files.yaml", 5, 9), Kind: report.CELBranches, Name: `c.name == "rm" was false`},
			{Place: place("policy/rules/files.yaml", 9, 9), Kind: report.CELBranches, Name: `true was <b>true</b> & "so"`, Covered: true},
			{Place: place("policy/rules/files.yaml", 9, 9), Kind: report.CELBranches, Name: "was false", Covered: true},
			{Kind: "matrix cells", Name: "high/low", Covered: true},
			{Kind: "matrix cells", Name: "high/high"},
			{Place: place("policy/rules/files.yaml", 3, 1), Kind: "rules", Name: "delete_outside_scope", Covered: true},
			{Place: place("policy/rules/files.yaml", 8, 1), Kind: "rules", Name: "delete_broad"},
		},
		Under: []report.KindMissing{{Kind: report.RegoLines, Percent: 55.55555, Threshold: 95}},
	}
}

// checked is what `policy check` might find.
func checked() *report.Report {
	return &report.Report{
		Command: "policy check",
		Problems: []report.Problem{
			{
				Place: place("policy/policy/risk.rego", 9, 4), Severity: report.SeverityError, Code: "rego.type",
				Message: "input.action.effects has no field knd", Expected: "one of kind, target", Found: "knd", Suggestion: "kind",
			},
			{
				Place: place("policy/policy/risk.rego", 20, 7), Severity: report.SeverityError, Code: "rego.syntax", Message: "beyond the end\nof the file",
			},
			{Place: place("policy/rules/files.yaml", 8, 0), Severity: report.SeverityWarning, Code: "rule.untested", Message: "rule delete_broad has no case that expects it to fire"},
			{Severity: report.SeverityError, Message: "no module of the policy defines data.reviewer.decision"},
		},
	}
}

// sources reads the files that the samples name.
func sources(file string) []byte {
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		return nil
	}
	return text
}
