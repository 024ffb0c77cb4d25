package impact

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// writeSweepPretty writes one table over the values.
func writeSweepPretty(b *bytes.Buffer, s *simulate.Sweep, o Options) error {
	p := page{b, o}
	p.doubts(sweepDoubts(s))
	p.text(bold, sweepHeadline(s))
	if len(s.Rows) > 0 {
		m := s.Rows[0].Impact
		p.line()
		p.field("baseline", nameWidth, "", named(m.Baseline))
		p.sources(m)
	}
	o.Verbose = true // all rows: a sweep with a gap says nothing
	for _, t := range sweepTables(s) {
		page{b, o}.table(t)
	}
	if o.Latency != "" {
		p.line()
		p.text(faint, o.Latency)
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

// worstMark is the worst sign of any value; no value is no good sign.
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

// sweepHeadline says over what, and whether anything changes anywhere.
func sweepHeadline(s *simulate.Sweep) string {
	if len(s.Rows) == 0 {
		return "Nothing was compared: the sweep has no value."
	}
	m, any := s.Rows[0].Impact, 0
	for _, row := range s.Rows {
		if changed(row.Impact.Calls)+changed(row.Impact.Events) > 0 {
			any++
		}
	}
	text := fmt.Sprintf("%s from %s to %s: ", s.Key, value(s.Rows[0].Value), value(s.Rows[len(s.Rows)-1].Value))
	if any == 0 {
		text += fmt.Sprintf("none of %s changes anything", plural(int64(len(s.Rows)), "value", "values"))
	} else {
		text += fmt.Sprintf("%d of %s %s something", any, plural(int64(len(s.Rows)), "value", "values"), ifOne(any, "changes", "change"))
	}
	text += fmt.Sprintf(", over %s in %s.", both(m.Calls.Total, m.Events.Total), plural(m.Sessions.Total, "session", "sessions"))
	if words := unclear(m); words != "" {
		text += " " + words + "."
	}
	return text
}

// sweepDoubts are those of any value, each once.
func sweepDoubts(s *simulate.Sweep) []string {
	var list []string
	for _, row := range s.Rows {
		for _, d := range doubts(row.Impact) {
			if !slices.Contains(list, d) {
				list = append(list, d)
			}
		}
	}
	return list
}

// sweepTables have what changes at a value, what is answered then in all, and
// what people's answers say about that.
func sweepTables(s *simulate.Sweep) []table {
	calls := table{columns: append([]column{{head: "VALUE"}, {head: "SESSIONS"}}, changeColumns()...)}
	alarms := table{columns: []column{{head: "VALUE"}, {head: "FALSE ALARMS LOST"}, {head: "GAINED, ABOUT"}, {head: "TRUE ALARMS MISSED"}}}
	for _, v := range engine.Verdicts() {
		calls.columns = append(calls.columns, column{head: strings.ToUpper(v)})
	}
	for _, row := range s.Rows {
		m := row.Impact
		counts := split(m.Calls.States)
		cells := append([]cell{{text: value(row.Value)}, count(m.Sessions.Changed)}, changeCells(counts[0], counts[1], counts[2])...)
		for _, v := range engine.Verdicts() {
			cells = append(cells, count(answered(m.Calls, engine.Verdict(v))))
		}
		calls.add(cells...)
		alarms.add(cell{text: value(row.Value)}, count(m.Alarms.Lost), count(m.Alarms.Gained), count(m.Alarms.Missed))
	}
	if alarms.compact(); len(alarms.columns) < 2 {
		return []table{calls}
	}
	return []table{calls, alarms}
}

// answered counts the calls that the candidate answers so.
func answered(t simulate.Tally, v engine.Verdict) int64 {
	var n int64
	for _, c := range t.Matrix {
		if c.To == v {
			n += c.Count + c.After
		}
	}
	return n
}

func value(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func ifOne[T int | int64](n T, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
