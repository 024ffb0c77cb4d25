package impact

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/report"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// The colours of a terminal, as SGR sequences have them.
const (
	bold  = "1"
	faint = "2"
	good  = "32"
	warn  = "33"
	bad   = "31;1"
	more  = "35;1" // loosened
	less  = "36;1" // tightened
)

func verdictColour(v engine.Verdict) string {
	switch v {
	case engine.Allow:
		return good
	case engine.Warn:
		return warn
	case engine.Modify, engine.Ask:
		return "33;1"
	case engine.Block:
		return bad
	}
	return faint
}

func stateColour(s simulate.State) string {
	switch s {
	case simulate.Loosened:
		return more
	case simulate.Tightened:
		return less
	case simulate.Maybe:
		return warn
	}
	return faint
}

// page writes for people: lines that fit, printable, coloured where asked for.
type page struct {
	*bytes.Buffer
	o Options
}

// line writes cells behind each other, as far as there is room. What would act
// on a terminal is shown as an escape, wherever it comes from.
func (p page) line(cells ...cell) {
	room := p.o.Width
	var b strings.Builder
	for i, c := range trimmed(cells) {
		c.text = strings.ReplaceAll(report.Printable(c.text), "\n", " ")
		if p.o.Width > 0 {
			left := rest(cells[i+1:])
			c.text = fit(c.text, room, left)
			room -= utf8.RuneCountInString(c.text)
		}
		b.WriteString(p.colour(c))
	}
	p.WriteString(b.String() + "\n")
}

// fit is what of a text there is room for; more says that something follows it.
func fit(s string, room int, more bool) string {
	n := utf8.RuneCountInString(s)
	switch {
	case room <= 0:
		return ""
	case n > room, n == room && more:
		return cut(s+" ", room)
	}
	return s
}

func rest(cells []cell) bool {
	for _, c := range cells {
		if strings.TrimSpace(c.text) != "" {
			return true
		}
	}
	return false
}

// trimmed leaves out the spaces at the end of a line.
func trimmed(cells []cell) []cell {
	for n := len(cells); n > 0; n-- {
		last := cells[n-1]
		if last.text = strings.TrimRight(last.text, " "); last.text != "" {
			return append(cells[:n-1:n-1], last)
		}
	}
	return nil
}

func (p page) colour(c cell) string {
	if !p.o.Colour || c.colour == "" || c.text == "" {
		return c.text
	}
	return "\x1b[" + c.colour + "m" + c.text + "\x1b[0m"
}

// text writes a paragraph, broken to the width, its lines below each other.
func (p page) text(colour, text string) { p.field("", 0, colour, text) }

// field writes a name and a paragraph beside it.
func (p page) field(name string, left int, colour, text string) {
	for i, row := range report.Wrap(report.OneLine(text), p.room(left)) {
		head := strings.Repeat(" ", left)
		if i == 0 {
			head = name + strings.Repeat(" ", max(0, left-utf8.RuneCountInString(name)))
		}
		p.line(cell{head, faint}, cell{row, colour})
	}
}

// room is how many characters a line has behind so many; 0: any.
func (p page) room(left int) int {
	if p.o.Width == 0 {
		return 0
	}
	return max(p.o.Width-left, 20)
}

// top is how many rows a list shows that is one among others.
func (p page) top(n int) int {
	if p.o.Verbose {
		return n
	}
	return min(n, 10)
}

// table writes the first rows, and how many there are more.
func (p page) table(t table) {
	if len(t.rows) == 0 {
		return
	}
	t.compact()
	all := len(t.rows)
	t.rows = t.rows[:p.top(all)]
	widths := t.widths(p.o.Width)
	p.line()
	p.line(t.line(t.heads(), widths)...)
	for _, row := range t.rows {
		p.line(t.line(row, widths)...)
	}
	p.others(all - len(t.rows))
}

// others says what a list left out.
func (p page) others(n int) {
	if n > 0 {
		p.line(cell{"… and " + number(int64(n)) + " more (-v shows them, -f json has all)", faint})
	}
}
