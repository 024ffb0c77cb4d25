package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// GitHub refuses a step's summary above 1 MiB as a whole.
const (
	summaryFailures = 50
	summaryText     = 8 << 10 // bytes of one failure
)

// WriteSummary writes the report as Markdown for the summary page of a CI job:
// counts, what failed, and coverage. Long lists and texts are cut, with a note.
func WriteSummary(w io.Writer, r *Report, o Options) error {
	return term.Whole(w, func(b *bytes.Buffer) error {
		m := markdown{b, o}
		m.title(r)
		m.suites(r)
		m.failures(r)
		if r.Coverage != nil {
			m.coverage(r.Coverage)
		}
		return nil
	})
}

type markdown struct {
	*bytes.Buffer
	o Options
}

func (m markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m markdown) title(r *Report) {
	mark := "✅"
	if r.Failed() {
		mark = "❌"
	}
	m.line("## %s %s\n", mark, MarkdownText("reviewer "+r.Command))
	var tally bytes.Buffer
	newScreen(&tally, Options{}).summary(r)
	m.line("%s", strings.TrimSpace(tally.String()))
}

// suites counts by kind of test.
func (m markdown) suites(r *Report) {
	if len(r.Suites) == 0 {
		return
	}
	var kinds []string
	byKind := map[string]*Report{}
	for _, s := range r.Suites {
		if byKind[s.Kind] == nil {
			kinds, byKind[s.Kind] = append(kinds, s.Kind), &Report{}
		}
		byKind[s.Kind].Suites = append(byKind[s.Kind].Suites, s)
	}
	m.line("\n| tests | passed | failed | could not run | todo | skipped |\n| --- | ---: | ---: | ---: | ---: | ---: |")
	for _, kind := range kinds {
		t := byKind[kind].Totals()
		m.line("| %s | %d | %d | %d | %d | %d |", MarkdownText(kind), t.Pass, t.Fail, t.Error, t.Todo, t.Skip)
	}
}

func (m markdown) failures(r *Report) {
	list := r.faults()
	for _, a := range list[:min(len(list), summaryFailures)] {
		m.failure(a)
	}
	if more := len(list) - summaryFailures; more > 0 {
		m.line("\n… and %d more.", more)
	}
}

func (m markdown) failure(a annotation) {
	a.File = m.o.path(a.File)
	m.line("\n<details open><summary><b>%s</b> %s %s</summary>\n", a.level, MarkdownCode(a.Place.String()), MarkdownText(a.title))
	text := term.Printable(strings.TrimSpace(a.text))
	if len(text) > summaryText {
		text = strings.ToValidUTF8(text[:summaryText], "") + "\n… (cut)"
	}
	fence := Fence(text)
	m.line("%s\n%s\n%s\n\n</details>", fence, text, fence)
}

// Fence returns a fence that the text cannot close.
func Fence(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

func (m markdown) coverage(c *Coverage) {
	m.line("\n| coverage | covered | total | %% |\n| --- | ---: | ---: | ---: |")
	for _, k := range c.Kinds {
		m.line("| %s | %d | %d | %s |", MarkdownText(k.Name), k.Covered, k.Total, percent(k.Covered, k.Total))
	}
	for _, u := range c.Under {
		m.line("\n❌ %s", MarkdownText(under(u)))
	}
	rows := missedRows(c)
	if len(rows) == 0 {
		return
	}
	m.line("\n<details><summary>not covered</summary>\n")
	for _, row := range rows[:min(len(rows), 10*summaryFailures)] {
		m.line("- %s", MarkdownCode(row))
	}
	if more := len(rows) - 10*summaryFailures; more > 0 {
		m.line("\n… and %d more.", more)
	}
	m.line("\n</details>")
}

// MarkdownText escapes a string, so that it is neither HTML nor Markdown, even in a
// table.
func MarkdownText(s string) string {
	escaped := html.EscapeString(term.PrintableLine(s))
	var b strings.Builder
	for _, r := range escaped {
		if strings.ContainsRune("\\`*_{}[]()|~@!:", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// MarkdownCode is MarkdownText that shows as code, where nobody is mentioned and
// nothing becomes a link; empty stays empty.
func MarkdownCode(s string) string {
	if s == "" {
		return ""
	}
	return "<code>" + MarkdownText(s) + "</code>"
}
