package term

import (
	"bytes"
	"strings"
)

// Page is output for people: wrapped, printable, and coloured if requested.
type Page struct {
	*bytes.Buffer
	Paint
	Width int // of a line; 0: lines are neither cut nor broken
}

// Line writes cells one after another, as far as there is room. Control characters are
// shown as escapes.
func (p Page) Line(cells ...Cell) {
	room := p.Width
	var b strings.Builder
	for i, c := range trimmed(cells) {
		c.Text = strings.ReplaceAll(Printable(c.Text), "\n", " ")
		if p.Width > 0 {
			c.Text = fit(c.Text, room, anyText(cells[i+1:]))
			room -= Width(c.Text)
		}
		b.WriteString(p.Colour(c.Colour, c.Text))
	}
	p.WriteString(b.String() + "\n")
}

// fit shortens a string to the available room; more: something follows it.
func fit(s string, room int, more bool) string {
	n := Width(s)
	switch {
	case room <= 0:
		return ""
	case n > room, n == room && more:
		return Cut(s+" ", room)
	}
	return s
}

func anyText(cells []Cell) bool {
	for _, c := range cells {
		if strings.TrimSpace(c.Text) != "" {
			return true
		}
	}
	return false
}

// trimmed leaves out the spaces at the end of a line.
func trimmed(cells []Cell) []Cell {
	for n := len(cells); n > 0; n-- {
		last := cells[n-1]
		if last.Text = strings.TrimRight(last.Text, " "); last.Text != "" {
			return append(cells[:n-1:n-1], last)
		}
	}
	return nil
}

// Paragraph writes text, broken to the width.
func (p Page) Paragraph(colour, text string) { p.Field("", 0, colour, text) }

// Field writes a name and a paragraph next to it, which begins at a column.
func (p Page) Field(name string, left int, colour, text string) {
	for i, row := range Wrap(PrintableLine(text), Room(p.Width, left)) {
		head := strings.Repeat(" ", left)
		if i == 0 {
			head = Pad(name, left)
		}
		p.Line(Cell{head, Faint}, Cell{row, colour})
	}
}

// Table writes a table below an empty line.
func (p Page) Table(t Table) {
	widths := t.Widths(p.Width)
	p.Line()
	p.Line(t.Line(t.Heads(), widths)...)
	for _, row := range t.Rows {
		p.Line(t.Line(row, widths)...)
	}
}
