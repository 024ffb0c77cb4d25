package impact

import (
	"cmp"
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// fileSteps lists the decisions that store or restore files differently.
func fileSteps(f *simulate.FileChanges) term.Table {
	t := term.Table{Columns: term.Texts("FILES", "BASELINE", "CANDIDATE", "DECISION", "ABOUT")}
	if f == nil {
		return t
	}
	for _, s := range f.Steps {
		t.Add(term.Plain(s.What), term.Plain(s.From), term.Plain(s.To), term.Plain(s.ID), term.Plain(about(s)))
	}
	return t
}

// about names the call of a decision.
func about(s simulate.FileStep) string {
	return cmp.Or(s.Resource, s.Tool, string(s.Phase))
}

// filesText counts the decisions that store or restore files differently.
func filesText(f *simulate.FileChanges) string {
	return fmt.Sprintf("Checkpoints: %s -> %s, %s differ. Rollbacks: %s -> %s, %s differ.", term.Thousands(f.Checkpoints.Baseline),
		term.Thousands(f.Checkpoints.Candidate), term.Thousands(f.Checkpoints.Changed), term.Thousands(f.Rollbacks.Baseline),
		term.Thousands(f.Rollbacks.Candidate), term.Thousands(f.Rollbacks.Changed))
}

// files writes the same on a web page.
func (p *webPage) files(f *simulate.FileChanges) {
	if f == nil || len(f.Steps) == 0 {
		return
	}
	p.put(`<section><h2>Checkpoints and rollbacks</h2><p>%s</p><div class="scroll"><table class="wide"><thead><tr>`+
		`<th>Files</th><th>Baseline</th><th>Candidate</th><th>Session</th><th>Decision</th><th>About</th></tr></thead><tbody>`, filesText(f))
	for _, s := range f.Steps {
		p.put(`<tr><td>%s</td><td>%s</td><td>%s</td><td><code>%s</code></td><td><code>%s</code></td><td><code>%s</code></td></tr>`,
			s.What, s.From, s.To, breakable(s.Session), breakable(s.ID), breakable(about(s)))
	}
	p.put(`</tbody></table></div></section>`)
}
