package trial

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/rego"
)

// rego runs the Rego tests.
func (t *trial) rego(ctx context.Context) ([]report.Suite, error) {
	if len(t.Tests) == 0 || t.OnlyCases {
		return nil, nil
	}
	suite, err := rego.CompileTests(t.effective.Modules(), t.Tests, t.effective.Data)
	if err != nil {
		return nil, t.uncompiled("tests", err)
	}
	o := rego.TestOptions{Timeout: t.Timeout, Limit: t.limit, Parallel: t.Parallel, Trace: t.Explain}
	switch {
	case t.Rule != "":
		o.Selected, o.Whole = t.selectedRego, true
	case t.Options.Run != nil:
		o.Selected = t.selected
	}
	if t.runner.cover != nil {
		o.Coverage = t.runner.cover.rego
	}
	results, err := suite.Run(ctx, o)
	if err != nil {
		return nil, t.uncompiled("tests", err)
	}
	return t.regoSuites(results), nil
}

// uncompiled describes compile errors, with files as the person names them.
func (t *trial) uncompiled(what string, err error) error {
	return fmt.Errorf("compile %s:\n%s", what, t.below(err.Error()))
}

func (t *trial) regoSuites(results []rego.TestResult) []report.Suite {
	jobs, tests := make([]job, len(results)), make([]report.Test, len(results))
	for i, r := range results {
		jobs[i] = job{file: t.file(r.File), kind: kindRego}
		tests[i] = t.regoTest(r)
	}
	return suites(jobs, tests)
}

func (t *trial) regoTest(r rego.TestResult) report.Test {
	test := report.Test{
		Place: report.Place{File: t.file(r.File), Line: r.Line}, Name: r.Name, Status: report.Pass,
		Output: r.Output, Duration: r.Duration,
	}
	switch {
	case r.Todo:
		test.Status, test.Message = report.Todo, "skipped: its name begins with todo_"
	case r.Err != nil:
		test.Status, test.Message = report.Error, t.below(r.Err.Error())
	case r.Failed:
		test.Status, test.Message, test.Why = report.Fail, "is not true for this input", r.Trace
		if r.At != nil {
			t.failedAt(&test, r.At)
		}
	}
	return test
}

// failedAt reports which expression of a test was false, and for what values.
func (t *trial) failedAt(test *report.Test, at *rego.Expression) {
	test.Place = report.Place{File: t.file(at.File), Line: at.Line, Col: at.Col}
	test.Message = "failed expression: " + at.Text
	test.Why = append(at.Values, test.Why...)
}

// below prefixes the files in an error with the folder as the person named it.
func (t *trial) below(text string) string {
	own := regexp.MustCompile(`(^|\s)` + regexp.QuoteMeta(t.Layer) + `/`)
	return own.ReplaceAllStringFunc(text, func(found string) string {
		space := strings.TrimSuffix(found, t.Layer+"/")
		return space + strings.TrimPrefix(t.At+"/", "./")
	})
}
