package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// The elements of a JUnit document, as GitLab and Jenkins read it. There is no
// standard: the names are those of Ant's task.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		File string `xml:"file,attr,omitempty"`
		junitCounts
		Cases []junitCase `xml:"testcase"`
	}
	junitCounts struct {
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr,omitempty"` // seconds
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Time    string        `xml:"time,attr,omitempty"` // seconds
		Failure *junitOutcome `xml:"failure"`
		Error   *junitOutcome `xml:"error"`
		Skipped *junitOutcome `xml:"skipped"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitOutcome struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

func writeJUnit(b *bytes.Buffer, r *Report, o Options) error {
	doc := junitSuites{Name: "reviewer " + r.Command}
	for _, s := range r.checks() {
		suite := o.junitSuite(s)
		doc.add(suite.junitCounts)
		doc.Suites = append(doc.Suites, suite)
	}
	doc.Time = o.seconds(r.Duration)
	b.WriteString(xml.Header)
	e := xml.NewEncoder(b)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	b.WriteString("\n")
	return nil
}

func (c *junitCounts) add(n junitCounts) {
	c.Tests, c.Failures, c.Errors, c.Skipped = c.Tests+n.Tests, c.Failures+n.Failures, c.Errors+n.Errors, c.Skipped+n.Skipped
}

func (o Options) junitSuite(s Suite) junitSuite {
	t, file := s.Totals(), ""
	if s.Kind != coverageKind && s.Kind != policyKind {
		file = o.path(s.Name)
	}
	suite := junitSuite{Name: cmp.Or(file, s.Name), File: file,
		junitCounts: junitCounts{Tests: len(s.Tests), Failures: t.Fail, Errors: t.Error, Skipped: t.Skip + t.Todo}}
	var all time.Duration
	for _, test := range s.Tests {
		all += test.Duration
		suite.Cases = append(suite.Cases, o.junitCase(className(suite.Name), test))
	}
	suite.Time = o.seconds(all)
	return suite
}

// className names a file as Java names a class: Jenkins makes a tree from it.
func className(file string) string {
	name := strings.Trim(strings.TrimSuffix(file, path.Ext(file)), "./")
	return strings.ReplaceAll(name, "/", ".")
}

func (o Options) junitCase(class string, t Test) junitCase {
	c := junitCase{Name: t.Name, Class: class, File: o.path(t.File), Line: t.Line, Time: o.seconds(t.Duration), Output: t.Output}
	switch t.Status {
	case Pass:
	case Fail:
		c.Failure = o.junitOutcome(t, "failed")
	case Skip, Todo:
		c.Skipped = &junitOutcome{Message: strings.TrimSuffix(string(t.Status)+": "+t.Message, ": ")}
	default:
		c.Error = o.junitOutcome(t, "could not run")
	}
	return c
}

// junitOutcome repeats the message in the text: not every reader shows the message.
func (o Options) junitOutcome(t Test, kind string) *junitOutcome {
	at := t.Place
	at.File = o.path(at.File)
	text := strings.TrimSpace(at.String() + "\n" + t.headline())
	return &junitOutcome{term.PrintableLine(t.headline()), kind, text + "\n" + t.details()}
}

func (o Options) seconds(d time.Duration) string {
	if !o.Times {
		return ""
	}
	return fmt.Sprintf("%.3f", d.Seconds())
}
