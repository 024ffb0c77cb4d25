package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// The kinds of suites that are not a file of the policy.
const (
	coverageKind = "coverage"
	policyKind   = "policy"
)

// checks returns everything as suites of tests, for formats that know nothing
// else: each problem is a test of its file, each kind of coverage is one too.
func (r *Report) checks() []Suite {
	all := problemSuites(r.Problems, r.Ignored)
	for i := range all {
		all[i].Name = cmp.Or(all[i].Name, r.Command)
		for j := range all[i].Tests {
			if t := &all[i].Tests[j]; r.Stopped && t.Status == Fail {
				t.Status = Error
			}
		}
	}
	all = append(all, r.Suites...)
	if r.Coverage != nil {
		all = append(all, r.Coverage.suite())
	}
	return all
}

// problemSuites keeps the problems' order. A warning is a test that passes, with the warning as
// its text.
func problemSuites(list []Problem, ignored []Ignored) []Suite {
	var suites []Suite
	for _, i := range ignored {
		s := i.suite()
		s.Tests = []Test{i.test()}
		suites = append(suites, s)
	}
	for _, p := range list {
		if last := len(suites) - 1; last < 0 || suites[last].Name != p.File {
			suites = append(suites, p.suite())
		}
		s := &suites[len(suites)-1]
		s.Tests = append(s.Tests, p.test())
	}
	return suites
}

// test returns a skipped test for an accepted problem.
func (i Ignored) test() Test {
	t := i.Problem.test()
	t.Status, t.Output, t.Message = Skip, "", "ignored: "+i.Text()+" ("+i.Reason+")"
	return t
}

// suite returns the suite of the problem's file, or that of problems without a file.
func (p Problem) suite() Suite {
	if p.File == "" {
		return Suite{Kind: policyKind}
	}
	return Suite{Name: p.File, Kind: "check"}
}

func (p Problem) test() Test {
	name := strings.TrimSpace(p.Place.String() + " " + p.Code)
	t := Test{Place: p.Place, Name: cmp.Or(name, term.PrintableLine(p.Message)), Status: Fail, Message: p.Text()}
	if p.warns() {
		t.Status, t.Message, t.Output = Pass, "", "warning: "+p.Text()
	}
	return t
}

// suite returns a test for each kind; those below their threshold failed.
func (c *Coverage) suite() Suite {
	s := Suite{Name: "coverage", Kind: coverageKind}
	low := map[string]bool{}
	for _, u := range c.Under {
		low[u.Kind] = true
		s.Tests = append(s.Tests, Test{Name: "coverage of " + u.Kind, Status: Fail, Message: under(u)})
	}
	for _, k := range c.Kinds {
		if !low[k.Name] {
			output := fmt.Sprintf("%d of %d covered", k.Covered, k.Total)
			s.Tests = append(s.Tests, Test{Name: "coverage of " + k.Name, Status: Pass, Output: output})
		}
	}
	return s
}

// headline returns a one-line reason for a failed test.
func (t Test) headline() string {
	switch {
	case t.Message != "":
		return t.Message
	case t.Expected != "" || t.Got != "":
		return fmt.Sprintf("expected %s, got %s", cmp.Or(t.Expected, "nothing"), cmp.Or(t.Got, "nothing"))
	case t.Status == Fail:
		return "failed"
	}
	return "could not run"
}

// details lists facts that help to understand a failure.
func (t Test) details() string {
	var b strings.Builder
	for _, f := range t.fields() {
		if f.text != "" {
			fmt.Fprintf(&b, "%s %s\n", term.Pad(f.name+":", 9), strings.ReplaceAll(f.text, "\n", "\n          "))
		}
	}
	return b.String()
}

type field struct{ name, text string }

// fields are the facts about a failure, the most useful first.
func (t Test) fields() []field {
	return []field{
		{"rules", strings.Join(t.Rules, ", ")},
		{"expected", t.Expected},
		{"got", t.Got},
		{"why", strings.Join(t.Why, "\n")},
	}
}
