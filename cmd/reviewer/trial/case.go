package trial

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

// plain is a case that adds nothing to the policy.
func plain() cases.Case { return cases.Case{} }

func (t *trial) caseJobs() []job {
	var all []job
	for _, c := range t.Cases {
		all = append(all, job{
			file: c.File, kind: kindCase, line: c.Line, name: t.name(c.File) + "/" + c.ID(),
			run: func(ctx context.Context, t *trial) report.Test { return t.tryCase(ctx, c) },
		})
	}
	return all
}

// PassesNow begins the message of a todo case that passes.
const PassesNow = "passes now"

// tryCase runs a case. A todo case does not count as failed if it fails, and it is
// reported if it passes.
func (t *trial) tryCase(ctx context.Context, c cases.Case) report.Test {
	result, err := t.runner.Run(ctx, c)
	t.reached.by(result)
	test := t.caseTest(result, err)
	if c.Todo == "" {
		return test
	}
	if test.Status == report.Pass {
		test.Message = PassesNow + ": remove the todo (" + c.Todo + ")"
	} else {
		test.Message = c.Todo + " (" + test.Message + ")"
	}
	test.Status = report.Todo
	return test
}

func (t *trial) caseTest(r Result, err error) report.Test {
	test := report.Test{Status: report.Pass, Rules: aboutRules(r.Case)}
	if err != nil {
		test.Status, test.Message = report.Error, strings.TrimPrefix(err.Error(), fmt.Sprintf("%s:%d: ", r.Case.File, r.Case.Line))
		return test
	}
	if len(r.Failures) == 0 {
		return test
	}
	first := r.Failures[0]
	test.Status, test.Place = report.Fail, report.Place{File: first.File, Line: first.Line}
	test.Message = first.message()
	test.Expected, test.Got = sides(first.Differ)
	test.Why = first.Why
	if t.Explain {
		test.Why = append(slices.Clone(test.Why), facts(first.Record)...)
	}
	for _, more := range r.Failures[1:] {
		test.Why = append(test.Why, fmt.Sprintf("then %s: %s", more.What, more.message()))
	}
	return test
}

// message describes the difference in a line.
func (f Failure) message() string {
	if f.Wrong != "" {
		return f.What + ": " + f.Wrong
	}
	var keys []string
	for _, d := range f.Differ {
		keys = append(keys, d.Key)
	}
	return f.What + ": different in " + strings.Join(keys, ", ")
}

// sides lists the expected and the actual value of each key that differs.
func sides(differ []cases.Difference) (expected, got string) {
	var want, have []string
	for _, d := range differ {
		want, have = append(want, d.Key+": "+d.Want), append(have, d.Key+": "+d.Got)
	}
	return strings.Join(want, "; "), strings.Join(have, "; ")
}

// facts describes how the call was classified, and what conditions found.
func facts(r *engine.Record) []string {
	if r == nil || r.Action == nil {
		return nil
	}
	a := r.Action
	lines := []string{fmt.Sprintf("classified as %s of %q, types %v", a.Name, a.Resource, a.Types)}
	if len(a.Signals) > 0 {
		lines = append(lines, fmt.Sprintf("signals %v", a.Signals))
	}
	for _, part := range []struct {
		name string
		list any
	}{{"commands", a.Commands}, {"effects", a.Effects}, {"opaque", a.Opaque}, {"detected", a.Detected}} {
		if text, err := json.Marshal(part.list); err == nil && len(text) > len("null") {
			lines = append(lines, part.name+" "+string(text))
		}
	}
	for _, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("found %s%s", f.ID, levelOf(f)))
	}
	return lines
}

func levelOf(f engine.Finding) string {
	switch {
	case f.Error != "":
		return ", since it could not be evaluated: " + f.Error
	case f.Level != "":
		return fmt.Sprintf(" %s (%v)", f.Level, f.Measure)
	}
	return ""
}

// aboutRules lists the rules in the expectations of a case.
func aboutRules(c cases.Case) []string {
	var ids []string
	for _, e := range c.Events {
		if e.Expect != nil {
			ids = slices.Concat(ids, said(e.Expect), e.Expect.NotRules, e.Expect.Found(), e.Expect.NotFindings)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
