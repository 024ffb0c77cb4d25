package impact

import (
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine/report"
)

// cell is a text and the colour that it has on a terminal.
type cell struct{ text, colour string }

// column is one of a table. Texts stand on the left and become shorter where
// there is no room, numbers on the right and stay whole.
type column struct {
	head string
	text bool
}

type table struct {
	columns []column
	rows    [][]cell
}

// nothing is the count of none: what is something stands out.
const nothing = "-"

func count(n int64) cell {
	if n == 0 {
		return cell{nothing, faint}
	}
	return cell{text: number(n)}
}

func (t *table) add(cells ...cell) {
	for i := range cells {
		cells[i].text = report.OneLine(cells[i].text)
	}
	t.rows = append(t.rows, cells)
}

// compact takes out the columns that count nothing.
func (t *table) compact() {
	var keep []int
	for i, c := range t.columns {
		if c.text || t.counts(i) {
			keep = append(keep, i)
		}
	}
	t.columns = choose(t.columns, keep)
	for i, row := range t.rows {
		t.rows[i] = choose(row, keep)
	}
}

func (t *table) counts(column int) bool {
	for _, row := range t.rows {
		if row[column].text != nothing {
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

// gap is what stands between two columns.
const gap = "  "

// widths gives each column what it needs. Where that is more than a line has,
// the widest text becomes shorter, and then the next.
func (t *table) widths(line int) []int {
	const least = 8
	widths := make([]int, len(t.columns))
	total := len(gap) * (len(t.columns) - 1)
	for i, c := range t.columns {
		widths[i] = utf8.RuneCountInString(c.head)
		for _, row := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
		total += widths[i]
	}
	for line > 0 && total > line {
		widest := -1
		for i, c := range t.columns {
			if c.text && widths[i] > least && (widest < 0 || widths[i] > widths[widest]) {
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

// line lays out the cells of a row.
func (t *table) line(cells []cell, widths []int) []cell {
	var out []cell
	for i, c := range cells {
		text := cut(c.text, widths[i])
		space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
		if i > 0 {
			out = append(out, cell{text: gap})
		}
		if t.columns[i].text {
			out = append(out, cell{text, c.colour}, cell{text: space})
		} else {
			out = append(out, cell{text: space}, cell{text, c.colour})
		}
	}
	return out
}

func (t *table) heads() []cell {
	var list []cell
	for _, c := range t.columns {
		list = append(list, cell{c.head, faint})
	}
	return list
}

// cut shortens a text to a width in characters, and shows that it did.
func cut(s string, to int) string {
	if to <= 0 || utf8.RuneCountInString(s) <= to {
		return s
	}
	return string([]rune(s)[:to-1]) + "…"
}
