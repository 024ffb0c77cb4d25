package report

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// screen writes for people: aligned, printable, coloured where asked for.
type screen struct {
	*bytes.Buffer
	term.Paint
	o Options
}

func newScreen(b *bytes.Buffer, o Options) screen { return screen{b, term.Paint{On: o.Color}, o} }

func (s screen) line(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

// writePretty writes what a person reads in a terminal. Failures come last, next to
// the summary.
func writePretty(b *bytes.Buffer, r *Report, o Options) error {
	s := newScreen(b, o)
	for _, p := range r.Problems {
		s.problem(p)
	}
	if o.Verbose {
		s.ignored(r.Ignored)
	}
	s.gap(len(r.Problems) > 0 && len(r.Suites) > 0)
	if o.Verbose {
		s.passed(r.Suites)
		s.gap(len(r.Suites) > 0)
	}
	for _, suite := range r.Suites {
		for _, t := range suite.Tests {
			if t.broke() {
				s.failure(t)
			}
		}
	}
	if r.Coverage != nil {
		s.coverage(r.Coverage, o.Verbose)
	}
	s.summary(r)
	return nil
}

func (s screen) gap(yes bool) {
	if yes {
		s.line("")
	}
}

func (s screen) problem(p Problem) {
	word := s.Bad("error")
	if p.warns() {
		word = s.Warn("warning")
	}
	head := word + ": " + term.PrintableLine(p.Text())
	if place := p.Place.String(); place != "" {
		head = s.Bold(term.PrintableLine(place)) + ": " + head
	}
	if p.Code != "" {
		head += " " + s.Faint("["+term.PrintableLine(p.Code)+"]")
	}
	s.line("%s", head)
	s.excerpt(p.Place)
}

// ignored lists the accepted findings, with the reasons.
func (s screen) ignored(list []Ignored) {
	for _, i := range list {
		s.line("%s: ignored: %s %s", s.Bold(term.PrintableLine(i.Place.String())), term.PrintableLine(i.Text()),
			s.Faint("["+term.PrintableLine(i.Code)+", "+i.By+": "+term.PrintableLine(i.Reason)+"]"))
	}
}

// excerpt shows the line of a place, and a caret below its column.
func (s screen) excerpt(p Place) {
	line, ok := sourceLine(s.o.Sources, p)
	if !ok {
		return
	}
	shown, before := around(line, byteOf(line, p.Col))
	s.line("%s %s", s.Faint(fmt.Sprintf("%6d |", p.Line)), term.Printable(shown))
	if p.Col > 0 && p.Col <= utf8.RuneCountInString(line)+1 {
		s.line("%s %s%s", s.Faint("       |"), strings.Repeat(" ", term.Width(term.Printable(shown[:before]))), s.Bad("^"))
	}
}

// byteOf is where a column, which counts characters from 1, begins.
func byteOf(line string, col int) int {
	at := 0
	for range col - 1 {
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	return at
}

// around shortens a long line to the part around a byte, and returns the position of
// the byte in that part.
func around(line string, at int) (shown string, before int) {
	const most = 240
	at = min(max(0, at), len(line))
	if len(line) <= most {
		return line, at
	}
	from := min(max(0, at-most/2), len(line)-most)
	head, tail := strings.ToValidUTF8(line[from:at], ""), strings.ToValidUTF8(line[at:from+most], "")
	if from > 0 {
		head = "…" + head
	}
	if from+most < len(line) {
		tail += "…"
	}
	return head + tail, len(head)
}

func sourceLine(sources Sources, p Place) (string, bool) {
	if sources == nil || p.Line < 1 {
		return "", false
	}
	all := sources(p.File)
	list := bytes.Split(all, []byte("\n"))
	if all == nil || p.Line > len(list) {
		return "", false
	}
	return strings.TrimRight(string(list[p.Line-1]), "\r"), true
}

// passed lists the tests that did not fail.
func (s screen) passed(suites []Suite) {
	for _, suite := range suites {
		for _, t := range suite.Tests {
			if !t.broke() {
				s.line("%s %s%s%s", s.word(t.Status), term.PrintableLine(t.Name), s.because(t), s.time(t))
			}
		}
	}
}

func (s screen) word(status Status) string {
	switch status {
	case Pass:
		return s.Good("ok   ")
	case Skip, Todo:
		return s.Warn(term.Pad(string(status), 5))
	case Fail:
		return s.Bad("FAIL ")
	}
	return s.Bad("ERROR")
}

func (s screen) because(t Test) string {
	if t.Status == Pass || t.Message == "" {
		return ""
	}
	return ": " + term.PrintableLine(t.Message)
}

func (s screen) time(t Test) string {
	if !s.o.Times || t.Duration == 0 {
		return ""
	}
	return s.Faint(" (" + short(t.Duration) + ")")
}

// failure shows a test that failed or could not run, with all that helps.
func (s screen) failure(t Test) {
	s.line("%s %s%s", s.word(t.Status), s.Bold(term.PrintableLine(t.Name)), s.time(t))
	s.field("", t.Message)
	s.field("at", t.Place.String())
	s.field("rules", strings.Join(t.Rules, ", "))
	s.field("expected", t.Expected)
	s.field("got", t.Got)
	s.field("why", strings.Join(t.Why, "\n"))
	s.field("output", t.Output)
	s.line("")
}

// field writes a named text of several lines.
func (s screen) field(name, text string) {
	const indent, label = 2, 10
	if strings.TrimSpace(text) == "" {
		return
	}
	left := indent + label
	if name == "" {
		left = indent
	}
	var rows []string
	for _, line := range strings.Split(strings.TrimRight(term.Printable(text), "\n "), "\n") {
		rows = append(rows, term.Wrap(line, term.Room(s.o.Width, left))...)
	}
	space := strings.Repeat(" ", left)
	if name == "" {
		s.line("  %s", strings.Join(rows, "\n"+space))
		return
	}
	s.line("  %s%s", s.Faint(term.Pad(name, label)), strings.Join(rows, "\n"+space))
}

// summary writes the last line, with the totals.
func (s screen) summary(r *Report) {
	t := r.Totals()
	var parts []string
	if r.Suites == nil || len(r.Problems) > 0 {
		parts = append(parts, s.tally(t.Errors, s.Bad, "error", "errors"), s.tally(t.Warnings, s.Warn, "warning", "warnings"))
	}
	if r.Suites != nil {
		parts = append(parts, s.tests(t)...)
	}
	text := strings.Join(parts, ", ")
	if n := len(r.Ignored); n > 0 {
		text += fmt.Sprintf(", %d ignored", n)
	}
	if s.o.Times && r.Duration > 0 {
		text += " in " + short(r.Duration)
	}
	s.line("%s", text)
}

func (s screen) tests(t Totals) []string {
	parts := []string{s.tally(t.Pass, s.Good, "passed", "passed"), s.tally(t.Fail, s.Bad, "failed", "failed")}
	for _, more := range []struct {
		n     int
		paint func(string) string
		word  string
	}{{t.Error, s.Bad, "could not run"}, {t.Todo, s.Warn, "todo"}, {t.Skip, s.Warn, "skipped"}} {
		if more.n > 0 {
			parts = append(parts, s.tally(more.n, more.paint, more.word, more.word))
		}
	}
	return parts
}

// tally formats a count in colour; nothing for zero.
func (s screen) tally(n int, paint func(string) string, one, many string) string {
	text := term.Counted(n, one, many)
	if n == 0 {
		return text
	}
	return paint(text)
}
