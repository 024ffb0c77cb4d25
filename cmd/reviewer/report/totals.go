package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Totals counts tests by status and problems by severity.
type Totals struct {
	Pass     int `json:"pass"`
	Fail     int `json:"fail"`
	Error    int `json:"error"` // tests that could not run
	Skip     int `json:"skip"`
	Todo     int `json:"todo"`
	Errors   int `json:"errors"` // problems
	Warnings int `json:"warnings"`
	Ignored  int `json:"ignored,omitempty"` // problems that someone has accepted
}

// Totals counts the contents of the report.
func (r *Report) Totals() Totals {
	t := Totals{Ignored: len(r.Ignored)}
	for _, s := range r.Suites {
		sum := s.Totals()
		t.Pass, t.Fail, t.Error = t.Pass+sum.Pass, t.Fail+sum.Fail, t.Error+sum.Error
		t.Skip, t.Todo = t.Skip+sum.Skip, t.Todo+sum.Todo
	}
	for _, p := range r.Problems {
		if p.warns() {
			t.Warnings++
		} else {
			t.Errors++
		}
	}
	return t
}

// Totals counts the suite's tests. An unknown status counts as an error, so that it does not go
// unnoticed.
func (s Suite) Totals() Totals {
	var t Totals
	for _, test := range s.Tests {
		switch test.Status {
		case Pass:
			t.Pass++
		case Fail:
			t.Fail++
		case Skip:
			t.Skip++
		case Todo:
			t.Todo++
		default:
			t.Error++
		}
	}
	return t
}

// Failed reports whether the report contains anything that must be fixed: a test
// that failed or could not run, an error, a kind of coverage below its threshold.
func (r *Report) Failed() bool {
	t := r.Totals()
	return t.Fail+t.Error+t.Errors > 0 || r.Coverage != nil && len(r.Coverage.Under) > 0
}

// Sort puts problems in the order of their places, suites in that of their
// names, and rules in that of their ids. Tests stay as they are in their file.
func (r *Report) Sort() {
	slices.SortStableFunc(r.Problems, func(a, b Problem) int {
		return cmp.Or(first(a, b), cmp.Compare(a.Severity, b.Severity), a.Place.compare(b.Place), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message))
	})
	slices.SortStableFunc(r.Suites, func(a, b Suite) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind)) })
	slices.SortStableFunc(r.Rules, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
}

// first sorts errors from which others follow to the front.
func first(a, b Problem) int {
	return count(b.Follows > 0) - count(a.Follows > 0)
}

func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// String returns file:line:col, as far as it is known.
func (p Place) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Text returns the problem without its place: the message, what was expected and
// found, and a suggestion.
func (p Problem) Text() string {
	var said []string
	if p.Expected != "" {
		said = append(said, "expected "+p.Expected)
	}
	if p.Found != "" {
		said = append(said, "found "+p.Found)
	}
	text := p.Message
	if len(said) > 0 {
		text += "; " + strings.Join(said, ", ")
	}
	if p.Suggestion != "" {
		text += fmt.Sprintf("; did you mean %q?", p.Suggestion)
	}
	if p.Follows > 0 {
		text += " (" + engine.ConsequencesText(p.Follows) + ")"
	}
	return text
}

func (p Problem) warns() bool { return p.Severity == SeverityWarning }

// Vocabulary lists the values that a problem's fields may hold.
func (Problem) Vocabulary(field string) []string {
	if field == "severity" {
		return []string{SeverityError, SeverityWarning}
	}
	return nil
}

// Vocabulary lists the values that the fields of an accepted problem may hold.
func (i Ignored) Vocabulary(field string) []string {
	if field == "by" {
		return []string{ByComment, ByManifest}
	}
	return i.Problem.Vocabulary(field)
}

// Vocabulary lists the values that a test's fields may hold.
func (Test) Vocabulary(field string) []string {
	if field == "status" {
		return []string{string(Pass), string(Fail), string(Error), string(Skip), string(Todo)}
	}
	return nil
}

func (t Test) broke() bool { return t.Status != Pass && t.Status != Skip && t.Status != Todo }
