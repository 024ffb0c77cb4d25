package impact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// headlineColour is the colour of the sentence: term.Good only for what is certain.
func headlineColour(m *simulate.Impact) string {
	same, all := same(m.Calls)+same(m.Events), m.Calls.Total+m.Events.Total
	switch {
	case changed(m.Calls)+changed(m.Events) > 0:
		return term.Bold
	case same == 0:
		return term.Bad
	case same < all || len(caveats(m)) > 0:
		return term.Warn
	}
	return term.Good
}

// transition is one cell of the matrix.
func transition(from, to engine.Verdict, c simulate.Cell) term.Cell {
	out := term.Plain(countText(c.Count, c.After))
	switch d := to.Strictness() - from.Strictness(); {
	case out.Text == term.Nothing:
		out.Colour = term.Faint
	case d > 0:
		out.Colour = less
	case d < 0:
		out.Colour = more
	default:
		out.Colour = term.Faint
	}
	return out
}

// verdictsOf lists the rows and columns that a matrix has, mildest first.
func verdictsOf(cells []simulate.Cell) (from, to []engine.Verdict) {
	for _, word := range engine.Verdicts() {
		v := engine.Verdict(word)
		var row, column bool
		for _, c := range cells {
			row, column = row || c.From == v, column || c.To == v
		}
		if row {
			from = append(from, v)
		}
		if column {
			to = append(to, v)
		}
	}
	return from, to
}

func cellOf(cells []simulate.Cell, from, to engine.Verdict) simulate.Cell {
	for _, c := range cells {
		if c.From == from && c.To == to {
			return c
		}
	}
	return simulate.Cell{From: from, To: to}
}

// changeColumns returns the last columns of the tables that count changes.
func changeColumns() []term.Column {
	return term.Numbers("LOOSENED", "TIGHTENED", "MAYBE")
}

func changeCells(loosened, tightened, maybe int64) []term.Cell {
	var list []term.Cell
	for i, n := range []int64{loosened, tightened, maybe} {
		c := term.Count(n)
		if n > 0 {
			c.Colour = stateColour(changing()[i])
		}
		list = append(list, c)
	}
	return list
}

// changedRules lists the rules or patterns that fire differently, those with the most
// changes first.
func changedRules(head string, list []simulate.RuleCounts, patterns bool) term.Table {
	t := term.Table{Columns: slices.Concat(term.Texts(head), term.Numbers("FIRED", "GAINED", "LOST"), changeColumns())}
	most := func(a, b simulate.RuleCounts) int {
		return cmp.Or(cmp.Compare(b.Loosened+b.Tightened+b.Maybe, a.Loosened+a.Tightened+a.Maybe), cmp.Compare(b.Gained+b.Lost, a.Gained+a.Lost))
	}
	for _, r := range slices.SortedStableFunc(slices.Values(list), most) {
		if r.Pattern != patterns || r.Gained+r.Lost+r.Tightened+r.Loosened+r.Maybe == 0 {
			continue
		}
		row := []term.Cell{{Text: r.ID}, beforeAfter(r.Baseline, r.Candidate), term.Count(r.Gained), term.Count(r.Lost)}
		t.Add(append(row, changeCells(r.Loosened, r.Tightened, r.Maybe)...)...)
	}
	return t
}

// groups lists the groups with changes, the most changed first.
func groups(head, counted string, list []simulate.Group) term.Table {
	t := term.Table{Columns: slices.Concat(term.Texts(head), term.Numbers("TOTAL", counted), changeColumns())}
	most := func(a, b simulate.Group) int {
		return cmp.Compare(b.Loosened+b.Tightened+b.Maybe, a.Loosened+a.Tightened+a.Maybe)
	}
	for _, g := range slices.SortedStableFunc(slices.Values(list), most) {
		if g.Baseline == g.Candidate && g.Tightened+g.Loosened+g.Maybe == 0 {
			continue
		}
		row := []term.Cell{{Text: cmp.Or(g.Name, "(none)")}, term.Count(g.Total), beforeAfter(g.Baseline, g.Candidate)}
		t.Add(append(row, changeCells(g.Loosened, g.Tightened, g.Maybe)...)...)
	}
	return t
}

// mostDays is how many days a trend shows as such; of more, it shows weeks.
const mostDays = 14

// spans returns days in their order, or weeks by their Monday. A single one is not a trend.
func spans(days []simulate.Group) (head string, list []simulate.Group) {
	switch {
	case len(days) < 2:
		return "Day", nil
	case len(days) <= mostDays:
		return "Day", days
	}
	for _, d := range days {
		d.Name = weekOf(d.Name)
		if n := len(list); n > 0 && list[n-1].Name == d.Name {
			list[n-1].Plus(d)
			continue
		}
		list = append(list, d)
	}
	return "Week of", list
}

// trend lists days in their order, or weeks.
func trend(days []simulate.Group) term.Table {
	head, list := spans(days)
	t := term.Table{Columns: slices.Concat(term.Texts(strings.ToUpper(head)), term.Numbers("TOTAL", "HELD UP"), changeColumns())}
	for _, g := range list {
		row := []term.Cell{{Text: g.Name}, term.Count(g.Total), beforeAfter(g.Baseline, g.Candidate)}
		t.Add(append(row, changeCells(g.Loosened, g.Tightened, g.Maybe)...)...)
	}
	return t
}

// weekOf returns the Monday of the week in which a day is; both as in 2026-01-31.
func weekOf(day string) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return day // of a report that somebody wrote
	}
	return t.AddDate(0, 0, -(int(t.Weekday())+6)%7).Format(time.DateOnly)
}

// duties lists what decisions ask for besides their answer, those that differ first.
func duties(list []simulate.SessionDuty) term.Table {
	t := term.Table{Columns: slices.Concat(term.Texts("DUTY", "KIND", "SESSION"), term.Numbers("TIMES"))}
	for _, differ := range []bool{true, false} {
		for _, d := range list {
			if (d.Baseline != d.Candidate) == differ {
				t.Add(term.Plain(d.What), term.Plain(cmp.Or(d.Kind, "-")), term.Plain(term.Cut(d.Session, sessionWidth)),
					beforeAfter(d.Baseline, d.Candidate))
			}
		}
	}
	return t
}

// unclears lists the decisions that could not be compared.
func unclears(list []simulate.Unclear) term.Table {
	t := term.Table{Columns: slices.Concat(term.Texts("NOT COMPARED"), term.Numbers("TIMES"), term.Texts("RULES THAT MAY FIRE", "SUCH AS"))}
	for _, u := range slices.SortedStableFunc(slices.Values(list), func(a, b simulate.Unclear) int { return cmp.Compare(b.Count, a.Count) }) {
		t.Add(term.Plain(unclearCalls(u)), term.Count(u.Count), term.Plain(unclearRules(u)),
			term.Plain(unclearExample(u)))
	}
	return t
}

// unclearCalls names what could not be compared: the tool, and when unless it is before the call.
func unclearCalls(u simulate.Unclear) string {
	if u.Phase == engine.PhasePre {
		return cmp.Or(u.Tool, string(u.Phase))
	}
	return strings.TrimSpace(u.Tool + " " + string(u.Phase))
}

// unclearRules lists the rules that may fire.
func unclearRules(u simulate.Unclear) string {
	return cmp.Or(term.PrintableLine(firstFew(u.Rules)), "-")
}

// unclearExample names a call by its record, and what it was unless that is hidden.
func unclearExample(u simulate.Unclear) string {
	return strings.TrimSpace(cmp.Or(u.Example.ID, place(u.Example)) + "  " + u.Example.Resource)
}

// beforeAfter shows a count of either side.
func beforeAfter(baseline, candidate int64) term.Cell {
	if baseline == candidate {
		return term.Count(baseline)
	}
	return term.Plain(term.Thousands(baseline) + " -> " + term.Thousands(candidate))
}

// sessionWidth is the displayed length of a session's id.
const sessionWidth = 14

func sessions(list []simulate.SessionChange) term.Table {
	t := term.Table{Columns: slices.Concat(term.Texts("SESSION"), term.Numbers("CALLS"), changeColumns(), term.Texts("FIRST DIFFERENCE"))}
	for _, s := range list {
		row := []term.Cell{{Text: term.Cut(s.Session, sessionWidth)}, term.Count(s.Calls)}
		row = append(row, changeCells(s.Loosened, s.Tightened, s.Maybe)...)
		first := fmt.Sprintf("#%s %s  %s", term.Thousands(s.First.Index+1), arrow(s.First.From, s.First.To), subject(s.First))
		t.Add(append(row, term.Plain(first))...)
	}
	return t
}
