package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// longest is how many rows of a long list are printed unless all are asked for.
const longest = 20

// writeCoverageText writes the table and everything that is not covered.
func writeCoverageText(b *bytes.Buffer, c *Coverage, _ Sources) error {
	newScreen(b, Options{}).coverage(c, true)
	return nil
}

func (s screen) coverage(c *Coverage, all bool) {
	if len(c.Kinds) == 0 {
		s.line("coverage: there is nothing to cover\n")
		return
	}
	s.kinds(c)
	s.missed(c, all)
	for _, u := range c.Under {
		s.line("%s", s.Bad(under(u)))
	}
	if len(c.Under) > 0 {
		s.line("")
	}
}

func (s screen) kinds(c *Coverage) {
	wide := len("coverage")
	for _, k := range c.Kinds {
		wide = max(wide, term.Width(term.PrintableLine(k.Name)))
	}
	s.line("%s", s.Bold(fmt.Sprintf("%s %9s %7s %7s", term.Pad("coverage", wide), "covered", "total", "%")))
	for _, k := range c.Kinds {
		s.line("%s %9d %7d %s", term.Pad(term.PrintableLine(k.Name), wide), k.Covered, k.Total, s.graded(k))
	}
	s.line("")
}

func (s screen) graded(k Kind) string {
	text := fmt.Sprintf("%7s", percent(k.Covered, k.Total))
	if k.Covered < k.Total {
		return s.Warn(text)
	}
	return s.Good(text)
}

// missed lists the parts that are not covered, by place.
func (s screen) missed(c *Coverage, all bool) {
	rows := missedRows(c)
	if len(rows) == 0 {
		return
	}
	s.line("%s", s.Bold("not covered"))
	shown := rows
	if !all && len(rows) > longest {
		shown = rows[:longest]
	}
	for _, row := range shown {
		s.line("  %s", row)
	}
	if more := len(rows) - len(shown); more > 0 {
		s.line("  %s", s.Faint(fmt.Sprintf("… and %d more (-v shows all)", more)))
	}
	s.line("")
}

func missedRows(c *Coverage) []string {
	var rows []string
	for _, f := range c.Files {
		if len(f.Missed) > 0 {
			rows = append(rows, fmt.Sprintf("%s:%s", term.PrintableLine(f.File), ranges(f.Missed)))
		}
	}
	for _, cell := range c.Cells {
		if !cell.Covered {
			rows = append(rows, strings.TrimPrefix(term.PrintableLine(cell.Place.String()+": "+cell.label()), ": "))
		}
	}
	return rows
}

// label names a cell with its kind.
func (c Cell) label() string { return c.Kind + ": " + c.Name }

func under(u KindMissing) string {
	return fmt.Sprintf("%s: %s %% covered, below the threshold of %s %%", term.PrintableLine(u.Kind), Cut(u.Percent), Cut(u.Threshold))
}

// Cut writes a percentage with at most one digit after the point, truncated and
// not rounded: 94.99 is shown as 94.9 if 95 is required.
func Cut(p float64) string {
	text := percent(int(p*10+1e-9), 1000)
	return strings.TrimSuffix(text, ".0")
}
