package impact

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// writeSweepPretty writes one table over the values.
func writeSweepPretty(b *bytes.Buffer, s *simulate.Sweep, o Options) error {
	p := newPage(b, o)
	p.doubts(sweepDoubts(s))
	p.Paragraph(term.Bold, sweepHeadline(s))
	if len(s.Rows) > 0 {
		m := s.Rows[0].Impact
		p.Line()
		p.Field("baseline", nameWidth, "", named(m.Baseline))
		p.sources(m)
	}
	p.verbose = true // all rows: a sweep with gaps is useless
	for _, t := range sweepTables(s) {
		p.table(t)
	}
	if o.Latency != "" {
		p.Line()
		p.Paragraph(term.Faint, o.Latency)
	}
	return nil
}

// writeSweepGitHub writes the same table as Markdown.
func writeSweepGitHub(b *bytes.Buffer, s *simulate.Sweep, _ Options) error {
	d := markdown{b}
	d.title(worstMark(s), sweepHeadline(s), sweepDoubts(s))
	if len(s.Rows) == 0 {
		return nil
	}
	m := s.Rows[0].Impact
	d.line("\nBaseline: %s", code(named(m.Baseline)))
	d.sources(m)
	for _, t := range sweepTables(s) {
		d.line("")
		d.table(t)
	}
	return nil
}

// worstMark is the worst sign of any value; no values is not a good sign.
func worstMark(s *simulate.Sweep) string {
	worst := 0
	if len(s.Rows) == 0 {
		worst = 1
	}
	signs := []string{"✅", "⚠️", "❌"}
	for _, row := range s.Rows {
		worst = max(worst, slices.Index(signs, mark(row.Impact)))
	}
	return signs[worst]
}

// sweepTables writes the changes at each value, all resulting answers, and how they
// compare with people's answers.
func sweepTables(s *simulate.Sweep) []term.Table {
	calls := term.Table{Columns: append(term.Numbers("VALUE", "SESSIONS"), changeColumns()...)}
	alarms := term.Table{Columns: term.Numbers("VALUE", "LETS THROUGH: ALLOWED", "NEW STOPS, ALLOWED ABOUT", "LETS THROUGH: REFUSED")}
	for _, v := range engine.Verdicts() {
		calls.Columns = append(calls.Columns, term.Numbers(strings.ToUpper(v))...)
	}
	calls.Columns = append(calls.Columns, term.Numbers("NOT KNOWN")...)
	for _, row := range s.Rows {
		m := row.Impact
		counts := split(m.Calls.States)
		cells := append([]term.Cell{{Text: rowName(row)}, term.Count(m.Sessions.Changed)}, changeCells(counts[0], counts[1], counts[2])...)
		open := m.Calls.Total
		for _, v := range engine.Verdicts() {
			n := answered(m.Calls, engine.Verdict(v))
			open -= n
			cells = append(cells, term.Count(n))
		}
		calls.Add(append(cells, term.Count(open))...)
		alarms.Add(term.Plain(rowName(row)), term.Count(m.Alarms.Lost), term.Count(m.Alarms.Gained), term.Count(m.Alarms.Missed))
	}
	if alarms.Compact(); len(alarms.Columns) < 2 {
		return []term.Table{calls}
	}
	return []term.Table{calls, alarms}
}
