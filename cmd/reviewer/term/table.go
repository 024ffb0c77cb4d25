package term

import "strings"

// Cell is a string and its colour.
type Cell struct{ Text, Colour string }

// Plain is a cell in the colour of the terminal.
func Plain(text string) Cell { return Cell{Text: text} }

// Coloured is a cell in a colour.
func Coloured(text, colour string) Cell { return Cell{text, colour} }

// Column is one column of a table. Texts are aligned left and become shorter
// if there is no room, numbers are aligned right and stay whole.
type Column struct {
	Head string
	Text bool
}

// Texts are columns of texts.
func Texts(heads ...string) []Column { return columns(true, heads) }

// Numbers are columns of numbers.
func Numbers(heads ...string) []Column { return columns(false, heads) }

func columns(text bool, heads []string) []Column {
	var list []Column
	for _, head := range heads {
		list = append(list, Column{head, text})
	}
	return list
}

// Table is rows of cells below the heads of their columns.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// Nothing is the cell of a zero count, so that other counts stand out.
const Nothing = "-"

// Count is the cell of a count.
func Count(n int64) Cell {
	if n == 0 {
		return Cell{Nothing, Faint}
	}
	return Cell{Text: Thousands(n)}
}

// Add adds a row, whose texts become printable lines.
func (t *Table) Add(cells ...Cell) {
	for i := range cells {
		cells[i].Text = PrintableLine(cells[i].Text)
	}
	t.Rows = append(t.Rows, cells)
}

// Compact removes the columns without counts.
func (t *Table) Compact() {
	var keep []int
	for i, c := range t.Columns {
		if c.Text || t.counts(i) {
			keep = append(keep, i)
		}
	}
	t.Columns = choose(t.Columns, keep)
	for i, row := range t.Rows {
		t.Rows[i] = choose(row, keep)
	}
}

func (t *Table) counts(column int) bool {
	for _, row := range t.Rows {
		if row[column].Text != Nothing {
			return true
		}
	}
	return false
}

func choose[T any](list []T, keep []int) []T {
	var out []T
	for _, i := range keep {
		out = append(out, list[i])
	}
	return out
}

// gap separates two columns.
const gap = "  "

// Widths gives each column the width that it needs. If that is more than fits on a line,
// the widest text becomes shorter, then the next widest; 0: a line of any width.
func (t *Table) Widths(line int) []int {
	const least = 8
	widths := make([]int, len(t.Columns))
	total := len(gap) * (len(t.Columns) - 1)
	for i, c := range t.Columns {
		widths[i] = Width(c.Head)
		for _, row := range t.Rows {
			widths[i] = max(widths[i], Width(row[i].Text))
		}
		total += widths[i]
	}
	for line > 0 && total > line {
		widest := -1
		for i, c := range t.Columns {
			if c.Text && widths[i] > least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		total--
	}
	return widths
}

// Line lays out the cells of a row.
func (t *Table) Line(cells []Cell, widths []int) []Cell {
	var out []Cell
	for i, c := range cells {
		text := Cut(c.Text, widths[i])
		space := strings.Repeat(" ", widths[i]-Width(text))
		if i > 0 {
			out = append(out, Cell{Text: gap})
		}
		if t.Columns[i].Text {
			out = append(out, Cell{text, c.Colour}, Cell{Text: space})
		} else {
			out = append(out, Cell{Text: space}, Cell{text, c.Colour})
		}
	}
	return out
}

// Heads are the cells of the first row.
func (t *Table) Heads() []Cell {
	var list []Cell
	for _, c := range t.Columns {
		list = append(list, Cell{c.Head, Faint})
	}
	return list
}
