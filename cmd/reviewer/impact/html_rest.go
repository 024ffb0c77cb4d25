package impact

import "github.com/agent-reviewer/reviewer/engine/simulate"

func (p *webPage) alarms(said []string) {
	if len(said) == 0 {
		return
	}
	p.put(`<section><h2>People's answers</h2>`)
	for _, line := range said {
		p.put(`<p>%s</p>`, line)
	}
	p.put(`</section>`)
}

func (p *webPage) neverFired(ids []string) {
	if len(ids) == 0 {
		return
	}
	p.put(`<section><h2>Never fired</h2><details><summary>%d of the candidate’s rules and patterns never fired in this history</summary>`+
		`<p>%s</p></details></section>`, len(ids), commaList(ids))
}

// matrixOfEvents is left out if no event is answered differently.
func (p *webPage) matrixOfEvents(t simulate.Tally) {
	if changed(t) > 0 {
		p.matrix("Events", t)
	}
}

func (p *webPage) errors(errors []simulate.StepError) {
	if len(errors) == 0 {
		return
	}
	p.put(`<section><h2 id="errors">Decisions that failed</h2><p>Each counts as a denial.</p>` +
		`<div class="scroll"><table class="plain"><thead><tr><th>Record</th><th>Side</th><th>Error</th></tr></thead><tbody>`)
	for _, e := range errors {
		p.put(`<tr><td><code>%s</code></td><td>%s</td><td>%s</td></tr>`, e.ID, e.Side, e.Error)
	}
	p.put(`</tbody></table></div></section>`)
}

func (p *webPage) troubles(troubles []simulate.Trouble) {
	if len(troubles) == 0 {
		return
	}
	p.put(`<section><h2>What was not understood</h2><details><summary>In %s</summary><ul>`, plural(int64(len(troubles)), "file", "files"))
	for _, t := range troubles {
		p.put(`<li>%s</li>`, breakable(trouble(t)))
	}
	p.put(`</ul></details></section>`)
}
