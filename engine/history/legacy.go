package history

import "github.com/agent-reviewer/reviewer/engine"

// addLegacyFacts fills in what policies of earlier versions read, with the thresholds
// that applied while Go judged these facts; the default policy reads none of
// it.
func addLegacyFacts(f *engine.HistoryFacts) {
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
	f.Denied = engine.LegacyDenied{Same: within(d.Same), Effect: within(d.Effect), Refused: within(d.Refused), Ago: engine.NeverHappened}
	if ago := min(d.Same, d.Effect, d.Refused); within(ago) {
		f.Denied.Ago = ago
	}
}

// legacyFit replaces a measure of how well bins fit an exponential curve.
func legacyFit(g *engine.Growth) {
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
