package impact

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// headline is the one-sentence summary.
func headline(m *simulate.Impact) string {
	calls, events := m.Calls, m.Events
	switch all := calls.Total + events.Total; {
	case all == 0 && m.Sessions.Total == 0 && selects(m.Selection):
		return "Nothing was compared: the input contains no decisions that the filters select."
	case all == 0:
		return "Nothing was compared: the input contains no decisions."
	case changed(calls)+changed(events) > 0:
		return changes(m)
	case same(calls)+same(events) == 0:
		return fmt.Sprintf("None of %s could be compared: %s.", both(calls.Total, events.Total), unclear(m))
	case same(calls)+same(events) < all:
		return fmt.Sprintf("%s in %s that could be compared, of %s; %s.", nothingChanges(m), term.Thousands(same(calls)+same(events)),
			both(calls.Total, events.Total), unclear(m)) + besideVerdicts(m)
	}
	n := calls.Total + events.Total
	return fmt.Sprintf("%s: %s%s in %s %s decided as before.", nothingChanges(m), ifOne(n, "", "all of "), both(calls.Total, events.Total),
		plural(m.Sessions.Total, "session", "sessions"), ifOne(n, "is", "are")) + besideVerdicts(m)
}

// nothingChanges begins the headline if every verdict stays.
func nothingChanges(m *simulate.Impact) string {
	if besideVerdicts(m) != "" {
		return "No changes of verdicts"
	}
	return "No changes"
}

// besideVerdicts names what differs although the verdicts are the same.
func besideVerdicts(m *simulate.Impact) string {
	var kinds, text []string
	for _, g := range m.Interventions {
		if g.Baseline != g.Candidate {
			kinds = append(kinds, fmt.Sprintf("%s %s before, %s after", g.Name, term.Thousands(g.Baseline), term.Thousands(g.Candidate)))
		}
	}
	if len(kinds) > 0 {
		text = append(text, "interventions differ ("+strings.Join(kinds, "; ")+")")
	}
	if f := m.Files; f != nil && f.Checkpoints.Changed > 0 {
		text = append(text, "checkpoints differ before "+plural(f.Checkpoints.Changed, "call", "calls"))
	}
	if f := m.Files; f != nil && f.Rollbacks.Changed > 0 {
		text = append(text, "rollbacks differ after "+plural(f.Rollbacks.Changed, "decision", "decisions"))
	}
	if len(text) == 0 {
		return ""
	}
	return " But " + strings.Join(text, ", and ") + "."
}

// changes is the headline if some decisions differ.
func changes(m *simulate.Impact) string {
	first, after := split(m.Calls.States), sum(split(m.Calls.After))
	text := fmt.Sprintf("%s of %s would be decided differently", orNone(sum(first)+after), plural(m.Calls.Total, "call", "calls"))
	switch words := enumerate(first); {
	case after > 0:
		text += fmt.Sprintf(": %s independently%s, and %s after the first difference of their session", orNo(sum(first)),
			parenthesised(words), term.Thousands(after))
	case words != "":
		text += ": " + words
	}
	text += fmt.Sprintf(", in %s of %s.", term.Thousands(m.Sessions.Changed), plural(m.Sessions.Total, "session", "sessions"))
	if n := changed(m.Events); n > 0 {
		text += fmt.Sprintf(" So would %s of %s (prompts, results, stops).", term.Thousands(n), plural(m.Events.Total, "event", "events"))
	}
	text += met(m) + perHour(m.Work)
	if words := unclear(m); words != "" {
		text += " " + words + "."
	}
	return text
}

// selects reports whether only some decisions are counted.
func selects(s simulate.Selection) bool {
	return s.Since+s.Until > 0 || len(s.Tools)+len(s.Workspaces)+len(s.Users)+len(s.Agents)+len(s.Rules)+len(s.Answers) > 0
}

// met describes what people meet: stops of whole sessions with what comes after them, and questions.
func met(m *simulate.Impact) string {
	text := ""
	if s := m.Stops; s != nil {
		text += fmt.Sprintf(" Emergency stops: %s before, %s after; calls and prompts denied after them: %s before, %s after.",
			term.Thousands(s.Baseline), term.Thousands(s.Candidate), term.Thousands(s.AfterBaseline), term.Thousands(s.AfterCandidate))
	}
	if q := m.Questions; q != nil && (q.Baseline != q.Candidate || q.RepeatedBaseline+q.RepeatedCandidate > 0) {
		text += fmt.Sprintf(" Questions: %s before, %s after", term.Thousands(q.Baseline), term.Thousands(q.Candidate))
		if q.RepeatedBaseline+q.RepeatedCandidate > 0 {
			text += fmt.Sprintf("; without those about a call that was asked about before: %s and %s", term.Thousands(q.Baseline-q.RepeatedBaseline),
				term.Thousands(q.Candidate-q.RepeatedCandidate))
		}
		text += "."
	}
	return text
}

// perHour describes how often work was held up, if the working time is known.
func perHour(w simulate.Work) string {
	const least = 60_000 // ms: no rate is given for less time
	if w.Milliseconds < least {
		return ""
	}
	hours := float64(w.Milliseconds) / 3_600_000
	return fmt.Sprintf(" Stops per hour of work: %.1f before, %.1f after (%.1f hours).", float64(w.Baseline)/hours,
		float64(w.Candidate)/hours, hours)
}

func parenthesised(words string) string {
	if words == "" {
		return ""
	}
	return " (" + words + ")"
}

func orNo(n int64) string {
	if n == 0 {
		return "none"
	}
	return term.Thousands(n)
}

// changing lists the states with a different answer, the most important first.
func changing() []simulate.State {
	return []simulate.State{simulate.Loosened, simulate.Tightened, simulate.Maybe}
}

// split counts by the states of changing.
func split(states map[simulate.State]int64) (counts [3]int64) {
	for i, s := range changing() {
		counts[i] = states[s]
	}
	return counts
}

func sum(counts [3]int64) int64 { return counts[0] + counts[1] + counts[2] }

func changed(t simulate.Tally) int64 { return sum(split(t.States)) + sum(split(t.After)) }

func same(t simulate.Tally) int64 {
	return t.States[simulate.Unchanged] + t.After[simulate.Unchanged]
}

func enumerate(counts [3]int64) string {
	var words []string
	for i, s := range changing() {
		if counts[i] > 0 {
			words = append(words, term.Thousands(counts[i])+" "+string(s))
		}
	}
	return strings.Join(words, ", ")
}

// unclear counts what could not be compared.
func unclear(m *simulate.Impact) string {
	var words []string
	for _, x := range []struct {
		state simulate.State
		why   string
	}{{simulate.Unknown, notRecorded(m)}, {simulate.Incomparable, "another version made the decision"}} {
		calls, events := m.Calls.States[x.state]+m.Calls.After[x.state], m.Events.States[x.state]+m.Events.After[x.state]
		if calls+events > 0 {
			words = append(words, fmt.Sprintf("%s %s %s (%s)", both(calls, events), ifOne(calls+events, "is", "are"), x.state, x.why))
		}
	}
	return strings.Join(words, ", and ")
}

// notRecorded names the facts without which decisions are unknown, and the rules that may decide them, the commonest first.
func notRecorded(m *simulate.Impact) string {
	text := "the inputs of the decision were not recorded"
	switch facts := commonest(m.Missing); len(facts) {
	case 0:
	case 1:
		text = "not recorded: " + facts[0]
	default:
		text = "not recorded: " + counted(facts, m.Missing, 2)
	}
	if rules := commonest(m.Undecided); len(rules) > 0 {
		text += "; rules that may have fired: " + counted(rules, m.Undecided, 5)
	}
	return text
}

// commonest lists the keys of counts, the largest count first.
func commonest(counts map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
}

// counted lists the first of some names with their counts.
func counted(names []string, counts map[string]int64, most int) string {
	var list []string
	for _, name := range names[:min(most, len(names))] {
		list = append(list, fmt.Sprintf("%s, %s", name, term.Thousands(counts[name])))
	}
	if len(names) > most {
		list = append(list, "…")
	}
	return strings.Join(list, "; ")
}

// both counts calls and events, as far as there are any.
func both(calls, events int64) string {
	switch {
	case events == 0:
		return plural(calls, "call", "calls")
	case calls == 0:
		return plural(events, "event", "events")
	}
	return plural(calls, "call", "calls") + " and " + plural(events, "event", "events")
}
