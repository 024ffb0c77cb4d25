package impact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// sweepHeadline says what is compared, the baseline with values of settings, and reports whether anything changes.
func sweepHeadline(s *simulate.Sweep) string {
	if len(s.Rows) == 0 {
		return "Nothing was compared: the sweep has no values."
	}
	m, any := s.Rows[0].Impact, 0
	for _, row := range s.Rows {
		if changed(row.Impact.Calls)+changed(row.Impact.Events) > 0 {
			any++
		}
	}
	baseline := m.Baseline.Name
	if m.Baseline.Recorded {
		baseline = "what was recorded"
	}
	values := plural(int64(len(s.Rows)), "value", "values") + " of " + s.Key
	switch {
	case strings.Contains(s.Key, ", "):
		values = plural(int64(len(s.Rows)), "combination", "combinations") + " of " + s.Key
	case s.Rows[0].Name == "":
		values += fmt.Sprintf(" from %s to %s", value(s.Rows[0].Value), value(s.Rows[len(s.Rows)-1].Value))
	}
	text := fmt.Sprintf("Compared with %s, %d of %s %s something", baseline, any, values, ifOne(any, "changes", "change"))
	if any == 0 {
		text = fmt.Sprintf("Compared with %s, none of %s changes anything", baseline, values)
	}
	text += fmt.Sprintf(", over %s in %s.", both(m.Calls.Total, m.Events.Total), plural(m.Sessions.Total, "session", "sessions"))
	if words := unclear(m); words != "" {
		text += " " + words + "."
	}
	if n := len(s.Skipped); n > 0 {
		text += fmt.Sprintf(" %s left out, which the setting cannot have, such as %s: %s.", plural(int64(n), "value is", "values are"),
			cmp.Or(s.Skipped[0].Name, value(s.Skipped[0].Value)), s.Skipped[0].Why)
	}
	return text
}

// rowName is the value of a row.
func rowName(r simulate.SweepRow) string { return cmp.Or(r.Name, value(r.Value)) }

// sweepDoubts lists the caveats of all values, each once.
func sweepDoubts(s *simulate.Sweep) []string {
	var list []string
	for _, row := range s.Rows {
		for _, d := range caveats(row.Impact) {
			if !slices.Contains(list, d) {
				list = append(list, d)
			}
		}
	}
	return list
}

// answered counts the calls with an answer of the candidate.
func answered(t simulate.Tally, v engine.Verdict) int64 {
	var n int64
	for _, c := range t.Matrix {
		if c.To == v {
			n += c.Count + c.After
		}
	}
	return n
}
