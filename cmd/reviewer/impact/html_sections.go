package impact

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// compared names the compared policies and the sources.
func (p *webPage) compared(m *simulate.Impact) {
	p.put(`<section><h2>What was compared</h2><dl class="facts">`)
	p.fact("Baseline", named(m.Baseline))
	p.fact("Candidate", named(m.Candidate))
	p.fact("Differences", policyDifferences(m)...)
	p.fact("Over", read(m)...)
	p.fact("Only", selected(m.Selection))
	p.fact("Recorded decisions", fidelity(m.Fidelity)...)
	p.put(`</dl></section>`)
}

// fact writes a name with its text, unless the text is empty.
func (p *webPage) fact(name string, said ...string) {
	said = slices.DeleteFunc(slices.Clone(said), func(s string) bool { return s == "" })
	if len(said) == 0 {
		return
	}
	p.put(`<dt>%s</dt>`, name)
	for _, s := range said {
		p.put(`<dd>%s</dd>`, breakable(s))
	}
}

// changes shows how many decisions are in which state. Unchanged ones have no bar,
// which would dwarf the others.
func (p *webPage) changes(m *simulate.Impact) {
	full := int64(0)
	for _, name := range simulate.States()[1:] {
		s := simulate.State(name)
		full = max(full, m.Calls.States[s]+m.Calls.After[s])
	}
	p.put(`<section><h2>How the answers differ</h2><div class="scroll"><table class="states"><thead><tr><th>State</th><th>Means</th>` +
		`<th class="n">Calls</th><th class="n"><span title="after the first difference in their session">Hypothetical</span></th>` +
		`<th class="bars" aria-hidden="true"></th><th class="n">Events</th></tr></thead><tbody>`)
	for _, name := range simulate.States() {
		s := simulate.State(name)
		p.put(`<tr><td>%s</td><td class="faint">%s</td><td class="n">%s</td><td class="n">%s</td>`+
			`<td class="bars">%s</td><td class="n">%s</td></tr>`,
			p.chooser("state", name, stateOf(s)), meaning(s), m.Calls.States[s], m.Calls.After[s], stateBar(m.Calls, s, full),
			m.Events.States[s]+m.Events.After[s])
	}
	p.put(`</tbody></table></div>
<p class="faint">Changes after the first difference in their session are hypothetical: the recorded history continues as it happened, but with a different answer the agent would have continued differently. The solid part of a bar is certain, the outlined part hypothetical. Events are prompts, results and stops, which cannot be blocked.</p></section>`)
}

func stateBar(t simulate.Tally, s simulate.State, full int64) markup {
	if s == simulate.Unchanged {
		return ""
	}
	return bar(full, part{string(s), t.States[s], false}, part{string(s), t.After[s], true})
}

// matrix shows the old and the new answers. A stronger colour means more decisions, on
// a logarithmic scale; colour and sign show the direction.
func (p *webPage) matrix(title string, t simulate.Tally) {
	if len(t.Matrix) == 0 {
		return
	}
	cells, most := map[[2]engine.Verdict]simulate.Cell{}, int64(0)
	var from, to []engine.Verdict
	for _, c := range t.Matrix {
		cells[[2]engine.Verdict{c.From, c.To}] = c
		from, to = append(from, c.From), append(to, c.To)
		most = max(most, c.Count+c.After)
	}
	from, to = byStrictness(from), byStrictness(to)
	p.put(`<section><h2>%s: from the baseline’s answer to the candidate’s</h2><div class="scroll"><table class="matrix"><thead><tr>`+
		`<th scope="col">baseline ↓<br>candidate →</th>`, title)
	for _, v := range to {
		p.put(`<th scope="col">%s</th>`, verdictOf(v))
	}
	p.put(`</tr></thead><tbody>`)
	for _, f := range from {
		p.put(`<tr><th scope="row">%s</th>`, verdictOf(f))
		for _, v := range to {
			p.cell(f, v, cells[[2]engine.Verdict{f, v}], most)
		}
		p.put(`</tr>`)
	}
	p.put(`</tbody></table></div>` +
		`<p class="faint">▲ stricter, ▼ looser, = the same. The stronger the colour, the more calls in the cell. ` +
		`Small print: further ones after the first difference in their session.</p></section>`)
}

func (p *webPage) cell(from, to engine.Verdict, c simulate.Cell, most int64) {
	if c.Count+c.After == 0 {
		p.put(`<td class="none"><span class="faint">·</span></td>`)
		return
	}
	direction := directionOf(from, to)
	content := render(`<span class="count"><span class="state %s" aria-hidden="true">%s</span> %s</span>%s`, direction,
		sign(direction), c.Count, further(c.After))
	if from != engine.Allow || to != engine.Allow { // calls that both allow are listed nowhere
		content = p.chooser("transition", string(from)+">"+string(to), content)
	}
	p.put(`<td class="%s heat%d">%s</td>`, direction, 1+int(3*math.Log1p(float64(c.Count+c.After))/math.Log1p(float64(most))), content)
}

func directionOf(from, to engine.Verdict) simulate.State {
	switch d := to.Strictness() - from.Strictness(); {
	case d > 0:
		return simulate.Tightened
	case d < 0:
		return simulate.Loosened
	}
	return simulate.Unchanged
}

func byStrictness(list []engine.Verdict) []engine.Verdict {
	set := map[engine.Verdict]bool{}
	for _, v := range list {
		set[v] = true
	}
	return slices.SortedFunc(maps.Keys(set), func(a, b engine.Verdict) int {
		if d := a.Strictness() - b.Strictness(); d != 0 {
			return d
		}
		return strings.Compare(string(a), string(b))
	})
}

// filters is the form of the filters, of use to the script only.
func (p *webPage) filters() {
	if !p.filtered {
		return
	}
	p.put(`<section><h2 id="changes">The changes</h2>
<form id="filters" class="filters" hidden="" aria-label="Filters">`)
	for _, f := range []string{"state", "transition", "rule", "tool", "workspace"} {
		p.put(`<label>%s <select name="%s"><option value="">all</option></select></label>`, strings.ToUpper(f[:1])+f[1:], f)
	}
	p.put(`<label class="words">Text <input type="search" name="words" placeholder="command, reason, id …"></label>
<label class="check"><input type="checkbox" name="hypothetical" checked=""> include hypothetical ones</label>
<button type="reset">Show all</button>
<p id="status" role="status"></p></form></section>`)
}

// kinds lists the kinds of change with their rules, each with its smallest example.
func (p *webPage) kinds(kinds []simulate.Kind) {
	if len(kinds) == 0 {
		return
	}
	p.put(`<section class="listed"><h3>By kind of change</h3><div class="scroll"><table class="kinds cards"><thead><tr><th>Change</th>` +
		`<th>Deciding rule</th><th class="n">Calls and events</th><th>Smallest example</th></tr></thead><tbody>`)
	for i, k := range kinds {
		p.put(`<tr data-kind="%d"><td>%s<br>%s%s</td><td data-label="by ">%s</td><td class="n" data-label="calls and events: ">%s%s</td>`+
			`<td>%s</td></tr>`, i, stateOf(k.State), arrowOf(k.From, k.To), eventOf(k.Phase),
			p.chooser("rule", k.Rule, breakable(k.Rule)+unasked(k)+dueNote(k)), k.Count, further(k.After), example(k.Example))
	}
	p.put(`</tbody></table></div>`)
	if slices.ContainsFunc(kinds, func(k simulate.Kind) bool { return strings.HasPrefix(k.Rule, "(") }) {
		p.put(`<p class="faint">%s</p>`, strings.Join(explainEntry(kinds), " "))
	}
	p.put(`<p class="nothing faint" hidden="">No kind of change matches the filters.</p></section>`)
}

// unasked notes that nobody could be asked about a kind.
func unasked(k simulate.Kind) markup {
	if !k.Unasked {
		return ""
	}
	return "<br><small>it asks, but nobody could be asked</small>"
}

// dueNote names the change of policy that causes a kind.
func dueNote(k simulate.Kind) markup {
	if text := strings.TrimPrefix(dueTo(k), ", "); text != "" {
		return render("<br><small>%s</small>", breakable(text))
	}
	return ""
}

// sessions lists the changes by session; the script adds the timeline.
func (p *webPage) sessions(m *simulate.Impact) {
	if len(m.Changed) == 0 {
		return
	}
	p.put(`<section class="listed"><h3>By session</h3>`)
	if more := m.Sessions.Changed - int64(len(m.Changed)); more > 0 {
		p.put(`<p class="faint">The %d sessions with the most changes; %s more are counted above.</p>`, len(m.Changed), more)
	}
	for i, s := range m.Changed {
		p.session(i, s)
	}
	p.put(`<p class="nothing faint" hidden="">No session matches the filters.</p></section>`)
}

func (p *webPage) session(i int, s simulate.SessionChange) {
	p.put(`<details class="session" data-session="%d"><summary><span class="who"><code>%s</code> <span class="faint">%s · %s</span></span><span class="counts">%s</span>
<span class="first">First: call %s of %s, %s: %s</span></summary>`,
		i, s.Session, s.Format, breakable(s.Workspace), sessionCounts(s), s.First.Index+1, s.Calls,
		arrowOf(s.First.From, s.First.To), where(s.First))
	p.put(`<div class="body"><div class="static"><p>First difference, %s UTC:</p>%s</div></div></details>`,
		clock(s.First.Time), example(s.First))
}

func sessionCounts(s simulate.SessionChange) markup {
	var list []string
	for i, n := range byState(s.Tightened, s.Loosened, s.Maybe) {
		if state := changing()[i]; n > 0 {
			list = append(list, string(render(`<span class="state %s"><span aria-hidden="true">%s</span> %s <span class="word">%s</span></span>`,
				state, sign(state), n, state)))
		}
	}
	return markup(strings.Join(list, " "))
}

// byState puts counts into the order of changing.
func byState(tightened, loosened, maybe int64) [3]int64 {
	return split(map[simulate.State]int64{simulate.Tightened: tightened, simulate.Loosened: loosened, simulate.Maybe: maybe})
}

// rules shows which rules fire differently, with lost findings to the left and gained
// ones to the right.
func (p *webPage) rules(m *simulate.Impact) {
	moved := func(r simulate.RuleCounts) int64 { return r.Gained + r.Lost }
	changed := slices.DeleteFunc(slices.Clone(m.Rules), func(r simulate.RuleCounts) bool {
		return moved(r)+r.Tightened+r.Loosened+r.Maybe == 0
	})
	if len(m.Rules) == 0 {
		return
	}
	p.put(`<section><h2>By rule and pattern</h2>`)
	if len(changed) > 0 {
		p.ruleTable(mostFirst(changed, moved, func(r simulate.RuleCounts) string { return r.ID }))
	}
	p.put(`<p class="faint">%s as before.</p></section>`,
		plural(int64(len(m.Rules)-len(changed)), "rule or pattern fires", "rules and patterns fire"))
}

func (p *webPage) ruleTable(rules []simulate.RuleCounts) {
	full := int64(1)
	for _, r := range rules {
		full = max(full, r.Gained, r.Lost)
	}
	p.put(`<div class="scroll"><table class="wide"><thead><tr><th>Id</th><th class="n">Baseline</th><th class="n">Candidate</th>`+
		`<th class="n">Lost</th><th class="bars" aria-hidden="true">◂ lost · gained ▸</th><th class="n">Gained</th>%s</tr></thead><tbody>`,
		stateHeads())
	for _, r := range rules {
		p.put(`<tr><td>%s%s</td><td class="n">%s</td><td class="n">%s</td><td class="n">%s</td>`+
			`<td class="bars">%s</td><td class="n">%s</td>%s</tr>`,
			p.chooser("rule", r.ID, breakable(r.ID)), either[markup](r.Pattern, ` <span class="faint">pattern</span>`, ""),
			r.Baseline, r.Candidate, r.Lost, bothWays(r.Lost, r.Gained, full), r.Gained, stateCounts(byState(r.Tightened, r.Loosened, r.Maybe)))
	}
	p.put(`</tbody></table></div>` +
		`<p class="faint">Baseline and candidate: decisions in which it fires. Lost: it fired with the baseline only; ` +
		`gained: with the candidate only. The last three columns: changed answers that are due to it.</p>`)
}

func stateHeads() markup {
	var p webPage
	for _, s := range changing() {
		p.put(`<th class="n">%s</th>`, stateOf(s))
	}
	return markup(p.String())
}

func stateCounts(counts [3]int64) markup {
	return render(`<td class="n">%s</td><td class="n">%s</td><td class="n">%s</td>`, counts[0], counts[1], counts[2])
}

// groups shows changes by group.
func (p *webPage) groups(title, filter string, groups []simulate.Group) {
	changed := slices.DeleteFunc(slices.Clone(groups), func(g simulate.Group) bool { return changeCount(g) == 0 })
	if len(groups) == 0 {
		return
	}
	p.put(`<section><h2>%s</h2>`, title)
	if len(changed) > 0 {
		p.groupTable(filter, mostFirst(changed, changeCount, func(g simulate.Group) string { return g.Name }))
	}
	if same := len(groups) - len(changed); same > 0 {
		p.put(`<p class="faint">Nothing changes in %s.</p>`, plural(int64(same), "other", "others"))
	}
	p.put(`</section>`)
}

// trend shows days or weeks in their order.
func (p *webPage) trend(days []simulate.Group) {
	if _, list := spans(days); len(list) > 0 {
		p.put(`<section><h2>Over time</h2>`)
		p.groupTable("", list)
		p.put(`</section>`)
	}
}

func changesOf(g simulate.Group) [3]int64 { return byState(g.Tightened, g.Loosened, g.Maybe) }

func changeCount(g simulate.Group) int64 { return sum(changesOf(g)) }

func (p *webPage) groupTable(filter string, groups []simulate.Group) {
	full := int64(1)
	for _, g := range groups {
		full = max(full, changeCount(g))
	}
	p.put(`<div class="scroll"><table class="wide"><thead><tr><th>Name</th><th class="n">Decisions</th>%s<th class="bars" aria-hidden="true">`+
		`</th><th class="n">Held up: baseline</th><th class="n">candidate</th></tr></thead><tbody>`, stateHeads())
	for _, g := range groups {
		p.put(`<tr><td>%s</td><td class="n">%s</td>%s<td class="bars">%s</td><td class="n">%s</td><td class="n">%s</td></tr>`,
			p.chooser(filter, g.Name, breakable(g.Name)), g.Total, stateCounts(changesOf(g)), splitBar(changesOf(g), full), g.Baseline, g.Candidate)
	}
	p.put(`</tbody></table></div>`)
}

// splitBar draws counts in the order of changing.
func splitBar(counts [3]int64, full int64) markup {
	var parts []part
	for i, n := range counts {
		parts = append(parts, part{string(changing()[i]), n, false})
	}
	return bar(full, parts...)
}

func (p *webPage) interventions(groups []simulate.Group) {
	if len(groups) == 0 {
		return
	}
	p.put(`<section><h2>By intervention</h2><div class="scroll"><table class="wide"><thead><tr><th>Name</th><th class="n">Baseline</th>`+
		`<th class="n">Candidate</th>%s</tr></thead><tbody>`, stateHeads())
	for _, g := range groups {
		p.put(`<tr><td><code>%s</code></td><td class="n">%s</td><td class="n">%s</td>%s</tr>`, breakable(g.Name), g.Baseline,
			g.Candidate, stateCounts(changesOf(g)))
	}
	p.put(`</tbody></table></div><p class="faint">Baseline and candidate: decisions that name it.</p></section>`)
}

func (p *webPage) duties(list []simulate.SessionDuty) {
	if len(list) == 0 {
		return
	}
	p.put(`<section><h2>Stops, questions, rollbacks and limits</h2><div class="scroll"><table class="wide"><thead><tr><th>Session</th>` +
		`<th>Duty</th><th>Kind</th><th class="n">Baseline</th><th class="n">Candidate</th></tr></thead><tbody>`)
	for _, d := range list {
		p.put(`<tr><td><code>%s</code></td><td>%s</td><td><code>%s</code></td><td class="n">%s</td><td class="n">%s</td></tr>`,
			breakable(d.Session), d.What, breakable(d.Kind), d.Baseline, d.Candidate)
	}
	p.put(`</tbody></table></div></section>`)
}

// unclear lists what could not be compared.
func (p *webPage) unclear(list []simulate.Unclear) {
	if len(list) == 0 {
		return
	}
	p.put(`<section><h2>Not compared</h2><div class="scroll"><table class="wide"><thead><tr><th>Decision</th><th>Because</th>` +
		`<th>Rules that may fire</th><th class="n">Times</th><th>Such as</th></tr></thead><tbody>`)
	for _, u := range list {
		p.put(`<tr><td>%s</td><td>%s</td><td><code>%s</code></td><td class="n">%s</td><td><code>%s</code></td></tr>`, unclearCalls(u),
			breakable(u.Missing), breakable(unclearRules(u)), u.Count, breakable(unclearExample(u)))
	}
	p.put(`</tbody></table></div></section>`)
}
