package impact

import (
	"bytes"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// writePretty writes text for a terminal: one sentence, its subject, and then the
// lists.
func writePretty(b *bytes.Buffer, m *simulate.Impact, o Options) error {
	p := newPage(b, o)
	p.doubts(caveats(m, o.Exceeded...))
	p.Paragraph(headlineColour(m), headline(m))
	p.sides(m)
	p.matrix("CALLS", m.Calls)
	if changed(m.Events) > 0 {
		p.matrix("EVENTS", m.Events)
	}
	if sum(split(m.Calls.After))+sum(split(m.Events.After)) > 0 {
		p.Paragraph(term.Faint,
			"+n: n more after the first difference in their session. What the agent would have done after that is unknown.")
	}
	p.kinds(m.Kinds)
	p.lists(m)
	p.quiet(m)
	p.notes("PEOPLE'S ANSWERS", alarms(m.Alarms))
	p.notes("FIDELITY", fidelity(m.Fidelity))
	p.few("ERRORS", term.Bad, failed(m))
	p.few("NOT READ OR NOT UNDERSTOOD", "", troubles(m))
	if o.Latency != "" {
		p.Line()
		p.Paragraph(term.Faint, o.Latency)
	}
	return nil
}

// nameWidth is the column of the text after a name.
const nameWidth = 11

func (p page) doubts(list []string) {
	for _, d := range list {
		p.Paragraph(term.Bad, d)
	}
	if len(list) > 0 {
		p.Line()
	}
}

// sides names the compared policies and the sources.
func (p page) sides(m *simulate.Impact) {
	p.Line()
	p.Field("baseline", nameWidth, "", named(m.Baseline))
	p.Field("candidate", nameWidth, "", named(m.Candidate))
	for _, t := range policyDifferences(m) {
		p.Field("", nameWidth, "", t)
	}
	p.sources(m)
}

func (p page) sources(m *simulate.Impact) {
	name := "read"
	for _, t := range read(m) {
		p.Field(name, nameWidth, "", t)
		name = ""
	}
	if t := selected(m.Selection); t != "" {
		p.Field("only", nameWidth, "", t)
	}
}

// matrix counts decisions by old and new verdict, without verdicts that do not occur.
func (p page) matrix(name string, t simulate.Tally) {
	from, to := verdictsOf(t.Matrix)
	if changed(t) == 0 {
		return
	}
	grid := term.Table{Columns: term.Texts(name)}
	for _, v := range to {
		grid.Columns = append(grid.Columns, term.Numbers("to "+string(v))...)
	}
	for _, f := range from {
		row := []term.Cell{term.Coloured("from "+string(f), verdictColour(f))}
		for _, v := range to {
			row = append(row, transition(f, v, cellOf(t.Matrix, f, v)))
		}
		grid.Add(row...)
	}
	p.table(grid)
}

// kinds shows each kind of change with its smallest example.
func (p page) kinds(kinds []simulate.Kind) {
	if len(kinds) == 0 {
		return
	}
	p.Line()
	p.Line(term.Coloured("KINDS OF CHANGE, EACH WITH ITS SMALLEST EXAMPLE", term.Faint))
	shown := p.foremost(byWeight(kinds))
	for _, k := range shown {
		p.kind(k)
	}
	p.others(len(kinds) - len(shown))
	for _, text := range explainEntry(shown) {
		p.Paragraph(term.Faint, text)
	}
}

// foremost returns the first kinds of each state, so that many loosening ones do not
// hide a tightening one.
func (p page) foremost(kinds []simulate.Kind) []simulate.Kind {
	const most = 4
	if p.verbose {
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
	p.Line(term.Coloured(countText(k.Count, k.After)+" ", term.Bold), term.Coloured(string(k.State), stateColour(k.State)), term.Plain("  "),
		term.Coloured(known(k.From), verdictColour(k.From)), term.Plain(" -> "),
		term.Coloured(known(k.To), verdictColour(k.To)), term.Plain("  by "+cause(k)))
	at := place(k.Example)
	for _, line := range witness(k.Example) {
		colour := ""
		if line == at {
			colour = term.Faint
		}
		p.Field("", left, colour, line)
	}
}

// lists shows the changes by rule, tool, session and so on.
func (p page) lists(m *simulate.Impact) {
	p.table(changedRules("RULE", m.Rules, false))
	p.table(changedRules("PATTERN", m.Rules, true))
	p.table(groups("INTERVENTION", "NAMED", m.Interventions))
	p.table(unclears(m.Unclear))
	p.table(duties(m.Duties))
	p.table(fileSteps(m.Files))
	p.table(groups("MODE", "ASKED", m.Modes))
	p.table(trend(m.Days))
	p.table(groups("TOOL", "HELD UP", m.Tools))
	p.table(groups("WORKSPACE", "HELD UP", m.Workspaces))
	p.table(sessions(m.Changed))
}

// quiet counts the rules and patterns that never fired.
func (p page) quiet(m *simulate.Impact) {
	list := neverFired(m)
	if len(list) == 0 {
		return
	}
	p.Line()
	if !p.verbose {
		p.Paragraph("", list[0]+" (-v lists them).")
		return
	}
	p.Paragraph("", list[0]+":")
	p.Field("", 2, term.Faint, list[1])
}

// notes writes sentences below a heading.
func (p page) notes(head string, list []string) {
	if len(list) == 0 {
		return
	}
	p.Line()
	p.Line(term.Coloured(head, term.Faint))
	for _, text := range list {
		p.Paragraph("", text)
	}
}

func (p page) few(head, colour string, list []string) {
	if len(list) == 0 {
		return
	}
	p.Line()
	p.Line(term.Coloured(head, term.Faint))
	shown := list[:p.top(len(list))]
	for _, text := range shown {
		p.Paragraph(colour, text)
	}
	p.others(len(list) - len(shown))
}
