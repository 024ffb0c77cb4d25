package impact

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// writePretty writes what a person reads at a terminal who did not make the
// change and has a minute: one sentence, what it is about, and then the lists.
func writePretty(b *bytes.Buffer, m *simulate.Impact, o Options) error {
	p := page{b, o}
	p.head(m)
	p.sides(m)
	p.matrix("CALLS", m.Calls)
	if changed(m.Events) > 0 {
		p.matrix("EVENTS", m.Events)
	}
	p.legend(m)
	p.kinds(m.Kinds)
	p.lists(m)
	p.quiet(m)
	p.notes("FALSE ALARMS", alarms(m.Alarms))
	p.notes("FIDELITY", fidelity(m.Fidelity))
	p.failures(m)
	if o.Latency != "" {
		p.line()
		p.text(faint, o.Latency)
	}
	return nil
}

// nameWidth is the column at which what a name stands for begins.
const nameWidth = 11

// head is the sentence, below whatever makes it doubtful.
func (p page) head(m *simulate.Impact) {
	p.doubts(doubts(m))
	p.text(mood(m), headline(m))
}

// mood is the colour of the sentence: only what is certain is good.
func mood(m *simulate.Impact) string {
	same, all := same(m.Calls)+same(m.Events), m.Calls.Total+m.Events.Total
	switch {
	case changed(m.Calls)+changed(m.Events) > 0:
		return bold
	case same == 0:
		return bad
	case same < all || len(doubts(m)) > 0:
		return warn
	}
	return good
}

func (p page) doubts(list []string) {
	for _, d := range list {
		p.text(bad, d)
	}
	if len(list) > 0 {
		p.line()
	}
}

// sides says what was compared with what, and over what.
func (p page) sides(m *simulate.Impact) {
	p.line()
	p.field("baseline", nameWidth, "", named(m.Baseline))
	p.field("candidate", nameWidth, "", named(m.Candidate))
	for _, t := range terms(m) {
		p.field("", nameWidth, "", t)
	}
	p.sources(m)
}

func (p page) sources(m *simulate.Impact) {
	name := "read"
	for _, t := range read(m) {
		p.field(name, nameWidth, "", t)
		name = ""
	}
	if t := selected(m.Selection); t != "" {
		p.field("only", nameWidth, "", t)
	}
}

// matrix shows what became of what, without the verdicts that do not occur.
func (p page) matrix(name string, t simulate.Tally) {
	from, to := verdictsOf(t.Matrix)
	if changed(t) == 0 {
		return
	}
	grid := table{columns: []column{{name, true}}}
	for _, v := range to {
		grid.columns = append(grid.columns, column{head: "to " + string(v)})
	}
	for _, f := range from {
		row := []cell{{"from " + string(f), verdictColour(f)}}
		for _, v := range to {
			row = append(row, transition(f, v, cellOf(t.Matrix, f, v)))
		}
		grid.add(row...)
	}
	p.table(grid)
}

// transition is one cell of the matrix.
func transition(from, to engine.Verdict, c simulate.Cell) cell {
	out := cell{text: often(c.Count, c.After)}
	switch d := to.Strictness() - from.Strictness(); {
	case out.text == nothing:
		out.colour = faint
	case d > 0:
		out.colour = less
	case d < 0:
		out.colour = more
	default:
		out.colour = faint
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

// legend explains the sign that may stand in the tables.
func (p page) legend(m *simulate.Impact) {
	if sum(split(m.Calls.After))+sum(split(m.Events.After)) > 0 {
		p.text(faint, "+n: so many more after the first other answer of their session. What the agent would have done then is not known.")
	}
}

// kinds shows each kind of change with its smallest witness.
func (p page) kinds(kinds []simulate.Kind) {
	if len(kinds) == 0 {
		return
	}
	p.line()
	p.line(cell{"KINDS OF CHANGE, EACH WITH ITS SMALLEST WITNESS", faint})
	shown := p.foremost(byWeight(kinds))
	for _, k := range shown {
		p.kind(k)
	}
	p.others(len(kinds) - len(shown))
	for _, text := range stands(shown) {
		p.text(faint, text)
	}
}

// foremost are the first kinds of each state: many that loosen hide none that
// tightens.
func (p page) foremost(kinds []simulate.Kind) []simulate.Kind {
	const most = 4
	if p.o.Verbose {
		return kinds
	}
	var list []simulate.Kind
	seen := map[simulate.State]int{}
	for _, k := range kinds {
		if seen[k.State]++; seen[k.State] <= most {
			list = append(list, k)
		}
	}
	return list
}

func (p page) kind(k simulate.Kind) {
	const left = 4
	p.line(cell{often(k.Count, k.After) + " ", bold}, cell{string(k.State), stateColour(k.State)}, cell{text: "  "},
		cell{known(k.From), verdictColour(k.From)}, cell{text: " -> "}, cell{known(k.To), verdictColour(k.To)}, cell{text: "  by " + cause(k)})
	for i, line := range witness(k.Witness) {
		colour := ""
		if i == 1 {
			colour = faint
		}
		p.field("", left, colour, line)
	}
}

// lists shows by what the changes can be told apart, as far as there are any.
func (p page) lists(m *simulate.Impact) {
	p.table(spoken("RULE", m.Rules, false))
	p.table(spoken("PATTERN", m.Rules, true))
	p.table(groups("INTERVENTION", "NAMED", m.Interventions))
	p.table(groups("TOOL", "NOT LET THROUGH", m.Tools))
	p.table(groups("WORKSPACE", "NOT LET THROUGH", m.Workspaces))
	p.table(sessions(m.Changed))
}

// changeColumns are the ends of the tables that count changes.
func changeColumns() []column {
	return []column{{head: "LOOSENED"}, {head: "TIGHTENED"}, {head: "MAYBE"}}
}

func changeCells(loosened, tightened, maybe int64) []cell {
	var list []cell
	for i, n := range []int64{loosened, tightened, maybe} {
		c := count(n)
		if n > 0 {
			c.colour = stateColour(changing()[i])
		}
		list = append(list, c)
	}
	return list
}

// spoken lists the rules, or the patterns, that speak otherwise, what is due to
// them most first.
func spoken(head string, list []simulate.Spoken, patterns bool) table {
	t := table{columns: append([]column{{head, true}, {head: "SPOKE"}, {head: "GAINED"}, {head: "LOST"}}, changeColumns()...)}
	most := func(a, b simulate.Spoken) int {
		return cmp.Or(cmp.Compare(b.Loosened+b.Tightened+b.Maybe, a.Loosened+a.Tightened+a.Maybe), cmp.Compare(b.Gained+b.Lost, a.Gained+a.Lost))
	}
	for _, r := range slices.SortedStableFunc(slices.Values(list), most) {
		if r.Pattern != patterns || r.Gained+r.Lost+r.Tightened+r.Loosened+r.Maybe == 0 {
			continue
		}
		row := []cell{{text: r.ID}, became(r.Baseline, r.Candidate), count(r.Gained), count(r.Lost)}
		t.add(append(row, changeCells(r.Loosened, r.Tightened, r.Maybe)...)...)
	}
	return t
}

// groups lists those in which something changes, the most changed first.
func groups(head, counted string, list []simulate.Group) table {
	t := table{columns: append([]column{{head, true}, {head: "TOTAL"}, {head: counted}}, changeColumns()...)}
	most := func(a, b simulate.Group) int {
		return cmp.Compare(b.Loosened+b.Tightened+b.Maybe, a.Loosened+a.Tightened+a.Maybe)
	}
	for _, g := range slices.SortedStableFunc(slices.Values(list), most) {
		if g.Baseline == g.Candidate && g.Tightened+g.Loosened+g.Maybe == 0 {
			continue
		}
		row := []cell{{text: orElse(g.Name, "(none)")}, count(g.Total), became(g.Baseline, g.Candidate)}
		t.add(append(row, changeCells(g.Loosened, g.Tightened, g.Maybe)...)...)
	}
	return t
}

// became shows a count of either side.
func became(baseline, candidate int64) cell {
	if baseline == candidate {
		return count(baseline)
	}
	return cell{text: number(baseline) + " -> " + number(candidate)}
}

// sessionWidth is how much of an id is enough to tell it from the others.
const sessionWidth = 14

func sessions(list []simulate.SessionChange) table {
	t := table{columns: append(append([]column{{"SESSION", true}, {head: "CALLS"}}, changeColumns()...), column{"FIRST OTHER ANSWER", true})}
	for _, s := range list {
		row := []cell{{text: cut(s.Session, sessionWidth)}, count(s.Calls)}
		row = append(row, changeCells(s.Loosened, s.Tightened, s.Maybe)...)
		first := fmt.Sprintf("#%s %s  %s", number(s.First.Index+1), arrow(s.First.From, s.First.To), subject(s.First))
		t.add(append(row, cell{text: first})...)
	}
	return t
}

// quiet counts what never spoke.
func (p page) quiet(m *simulate.Impact) {
	list := quiet(m)
	if len(list) == 0 {
		return
	}
	p.line()
	if !p.o.Verbose {
		p.text("", list[0]+" (-v lists them).")
		return
	}
	p.text("", list[0]+":")
	p.field("", 2, faint, list[1])
}

// notes writes sentences under a head.
func (p page) notes(head string, list []string) {
	if len(list) == 0 {
		return
	}
	p.line()
	p.line(cell{head, faint})
	for _, text := range list {
		p.text("", text)
	}
}

// failures lists what could not be decided and what could not be read.
func (p page) failures(m *simulate.Impact) {
	p.few("ERRORS", bad, failed(m))
	p.few("NOT READ OR NOT UNDERSTOOD", "", troubles(m))
}

func (p page) few(head, colour string, list []string) {
	if len(list) == 0 {
		return
	}
	p.line()
	p.line(cell{head, faint})
	shown := list[:p.top(len(list))]
	for _, text := range shown {
		p.text(colour, text)
	}
	p.others(len(list) - len(shown))
}
