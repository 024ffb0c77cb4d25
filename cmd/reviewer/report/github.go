package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// annotation is what GitHub shows next to a line of a change.
type annotation struct {
	level string // error, warning, notice
	Place
	last  int // line, 0: Place.Line
	title string
	text  string
	key   string // a stable key of its subject
}

// writeGitHub writes workflow commands: what a step of GitHub Actions prints to
// have annotations. The last line is the summary of pretty.
func writeGitHub(b *bytes.Buffer, r *Report, o Options) error {
	for _, a := range slices.Concat(r.faults(), r.Coverage.annotations()) {
		a.write(b, o)
	}
	newScreen(b, Options{}).summary(r)
	return nil
}

// faults are the problems, and the tests that failed or could not run.
func (r *Report) faults() []annotation {
	var all []annotation
	for _, p := range r.Problems {
		all = append(all, p.annotation())
	}
	for _, s := range r.Suites {
		for _, t := range s.Tests {
			if t.broke() {
				all = append(all, annotation{level: "error", Place: t.Place, title: t.Name, text: t.headline() + "\n" + t.details()})
			}
		}
	}
	return all
}

func (p Problem) annotation() annotation {
	level := "error"
	if p.warns() {
		level = "warning"
	}
	return annotation{level: level, Place: p.Place, title: p.Code, text: p.Text()}
}

// annotations are an error for each kind below its threshold, and a warning for each
// uncovered place.
func (c *Coverage) annotations() []annotation {
	if c == nil {
		return nil
	}
	var all []annotation
	low := map[string]bool{}
	for _, u := range c.Under {
		low[u.Kind] = true
		all = append(all, annotation{level: "error", title: "Coverage", text: under(u), key: u.Kind})
	}
	for _, f := range c.Files {
		for _, s := range spans(f.Missed) {
			if low[RegoLines] {
				place := Place{File: f.File, Line: s.first}
				all = append(all, annotation{"warning", place, s.last, "Not covered", "No test reaches this.", ""})
			}
		}
	}
	for _, cell := range c.Cells {
		if low[cell.Kind] && !cell.Covered {
			all = append(all, annotation{level: "warning", Place: cell.Place, title: "Not covered", text: cell.label(),
				key: cell.Kind + " " + cell.Name})
		}
	}
	return all
}

func (a annotation) write(b *bytes.Buffer, o Options) {
	var properties []string
	add := func(name, value string) { properties = append(properties, name+"="+githubProperty(value)) }
	if a.File != "" {
		add("file", o.path(a.File))
	}
	if a.Line > 0 {
		add("line", fmt.Sprint(a.Line))
	}
	if a.last > a.Line {
		add("endLine", fmt.Sprint(a.last))
	}
	if a.Col > 0 {
		add("col", fmt.Sprint(a.Col))
	}
	if a.title != "" {
		add("title", a.title)
	}
	head := "::" + a.level
	if len(properties) > 0 {
		head += " " + strings.Join(properties, ",")
	}
	fmt.Fprintf(b, "%s::%s\n", head, githubText(strings.TrimSpace(a.text)))
}

// githubText escapes characters that would end a command; other control characters
// appear as escapes.
func githubText(s string) string {
	return strings.NewReplacer("%", "%25", "\n", "%0A").Replace(term.Printable(s))
}

func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubText(s))
}
