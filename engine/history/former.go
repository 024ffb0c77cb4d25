package history

import "github.com/agent-reviewer/reviewer/engine"

// former fills in what policies of earlier versions read. The numbers are those
// that these facts had while they were judged here; what ships reads none of it.
func former(f *engine.HistoryFacts) {
	f.Progression = "explores"
	if len(f.Follows) > 0 {
		f.Progression = f.Follows[0]
	}
	p := &f.Pauses
	steady := p.Count == p.Waited || p.Least >= 2000 && !p.Shrinks
	f.Polling = p.Waits || (p.Count > 1 || p.Waited > 0) && steady
	f.Checks = f.Rechecks.Edited
	within := func(ago int64) bool { return ago <= 10 }
	d := &f.Denials
	f.Denied = engine.FormerDenied{Same: within(d.Same), Effect: within(d.Effect), Refused: within(d.Refused), Ago: engine.NeverAgo}
	if ago := min(d.Same, d.Effect, d.Refused); within(ago) {
		f.Denied.Ago = ago
	}
}

// formerFit stands in for how well bins lie on an exponential curve.
func formerFit(g *engine.Growth) {
	steep := 0
	for _, r := range g.Ratios {
		g.Growth += r
		if r > 1.5 {
			steep++
		}
	}
	n := float64(len(g.Ratios))
	g.Growth, g.Fit = engine.Round6(g.Growth/n), engine.Round6(float64(steep)/n)
}
