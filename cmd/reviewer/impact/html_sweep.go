package impact

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// sweepKinds bounds what a page about many values lists of each.
const sweepKinds = 20

// writeSweepHTML writes a page like that of writeHTML about each value of a
// setting: lines over the values, a table, and what changes at each.
func writeSweepHTML(w *bytes.Buffer, s *simulate.Sweep, _ Options) error {
	shown, err := visible(s)
	if err == nil {
		err = checkSweep(shown)
	}
	if err != nil {
		return fmt.Errorf("write the sweep as a page: %w", err)
	}
	p := &webPage{}
	p.head("What each value of " + shown.Key + " would do")
	p.sweepSummary(shown)
	p.sweepChart(shown)
	p.sweepTable(shown.Rows)
	p.sweepValues(shown.Rows)
	p.foot()
	_, err = w.Write(p.Bytes())
	return err
}

// sweepChart draws how many calls each value decides differently; nothing if no value
// does, since the headline reports that, or if the values are not numbers.
func (p *webPage) sweepChart(s *simulate.Sweep) {
	if s.Rows[0].Name != "" || !slices.ContainsFunc(s.Rows, func(r simulate.SweepRow) bool { return sum(split(r.Impact.Calls.States)) > 0 }) {
		return
	}
	p.put(`<section><h2>Calls that would be decided differently</h2><div class="scroll">%s</div>`+
		`<p class="faint">Excludes those after the first difference in their session, which the table counts separately.</p></section>`,
		newChart(s.Rows).draw("Calls decided differently, for each value of "+s.Key))
}

func checkSweep(s *simulate.Sweep) error {
	if len(s.Rows) == 0 {
		return errors.New("no values were tried")
	}
	for _, r := range s.Rows {
		if r.Impact == nil {
			return fmt.Errorf("%s = %s has no result", s.Key, value(r.Value))
		}
		if math.IsNaN(r.Value) || math.IsInf(r.Value, 0) {
			return fmt.Errorf("%s = %s is not a value", s.Key, value(r.Value))
		}
	}
	return nil
}

func (p *webPage) sweepSummary(s *simulate.Sweep) {
	first := s.Rows[0]
	p.put(`<p class="summary">%s</p>`, sweepHeadline(s))
	for _, doubt := range sweepDoubts(s) {
		p.put(`<p class="remark" role="note">%s</p>`, doubt)
	}
	p.put(`<section><h2>What was compared</h2><dl class="facts">`)
	p.fact("Baseline", named(first.Impact.Baseline))
	key, _, _ := strings.Cut(s.Key, ", ")
	candidate, _, _ := strings.Cut(first.Impact.Candidate.Name, " with "+key) // and the first value
	p.fact("Candidate", candidate+" with each value of "+s.Key)
	p.fact("Over", read(first.Impact)...)
	p.fact("Only", selected(first.Impact.Selection))
	p.fact("Recorded decisions", fidelity(first.Impact.Fidelity)...)
	p.put(`</dl></section>`)
}

func (p *webPage) sweepTable(rows []simulate.SweepRow) {
	full := int64(1)
	for _, r := range rows {
		full = max(full, sum(split(r.Impact.Calls.States)))
	}
	p.put(`<section><h2>By value</h2><div class="scroll"><table class="wide"><thead><tr>`+
		`<th class="n">Value</th>%s<th class="bars" aria-hidden="true"></th><th class="n">Hypothetical</th><th class="n">Sessions</th>`+
		`<th class="n">Candidate asks</th><th class="n">blocks</th></tr></thead><tbody>`, stateHeads())
	for i, r := range rows {
		calls := r.Impact.Calls
		p.put(`<tr><td class="n"><a href="#value%d">%s</a></td>%s<td class="bars">%s</td><td class="n">%s</td><td class="n">%s</td>`+
			`<td class="n">%s</td><td class="n">%s</td></tr>`,
			i, rowName(r), stateCounts(split(calls.States)), splitBar(split(calls.States), full), sum(split(calls.After)),
			r.Impact.Sessions.Changed, answered(calls, "ask"), answered(calls, "block"))
	}
	p.put(`</tbody></table></div></section>`)
}

func (p *webPage) sweepValues(rows []simulate.SweepRow) {
	p.put(`<section><h2>What changes at each value</h2>`)
	for i, r := range rows {
		p.put(`<details id="value%d"><summary><strong>%s</strong>: %s</summary><div class="body"><p>%s</p>`,
			i, rowName(r), cmp.Or(enumerate(split(r.Impact.Calls.States)), "no call is decided differently"), headline(r.Impact))
		kinds := byWeight(r.Impact.Kinds)
		p.kinds(kinds[:min(len(kinds), sweepKinds)])
		if more := len(kinds) - sweepKinds; more > 0 {
			p.put(`<p class="faint">… and %s of change; -f json has all of them.</p>`, engine.Counted(more, "more kind", "more kinds"))
		}
		p.put(`</div></details>`)
	}
	p.put(`</section>`)
}
