package impact

import (
	"bytes"
	"cmp"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// The colours of changes.
const (
	more = "35;1" // loosened
	less = "36;1" // tightened
)

func verdictColour(v engine.Verdict) string {
	return cmp.Or(term.VerdictColour(string(v)), term.Faint)
}

func stateColour(s simulate.State) string {
	switch s {
	case simulate.Loosened:
		return more
	case simulate.Tightened:
		return less
	case simulate.Maybe:
		return term.Warn
	}
	return term.Faint
}

// page writes text for people.
type page struct {
	term.Page
	verbose bool
}

func newPage(b *bytes.Buffer, o Options) page {
	return page{term.Page{Buffer: b, Paint: term.Paint{On: o.Colour}, Width: o.Width}, o.Verbose}
}

// top is the number of rows shown of a list.
func (p page) top(n int) int {
	if p.verbose {
		return n
	}
	return min(n, 10)
}

// table writes the first rows, and the number of the others.
func (p page) table(t term.Table) {
	if len(t.Rows) == 0 {
		return
	}
	t.Compact()
	all := len(t.Rows)
	t.Rows = t.Rows[:p.top(all)]
	p.Table(t)
	p.others(all - len(t.Rows))
}

// others writes the number of omitted rows.
func (p page) others(n int) {
	if n > 0 {
		p.Line(term.Coloured("… and "+term.Thousands(int64(n))+" more (-v shows them, -f json has all)", term.Faint))
	}
}
