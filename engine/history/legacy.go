package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

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

// shipping are the acts that earlier versions forbade together.
var shipping = []string{"push", "release", "deploy", "merge"}

// statementsOfConstraints returns what the constraints of a record of an earlier version say.
func statementsOfConstraints(list []engine.Constraint) []engine.Statement {
	var out []engine.Statement
	for _, c := range list {
		var objects []string
		if c.What != "" {
			objects = []string{c.What}
		}
		add := func(kind engine.StatementKind, objects []string, acts ...string) {
			for _, act := range acts {
				out = append(out, engine.Statement{Kind: kind, Act: act, Objects: objects})
			}
		}
		if c.Kind == engine.ConstraintLift {
			acts, known := actsOf(engine.ConstraintKind(c.What))
			if known {
				objects = nil
			} else {
				acts = slices.Concat([]string{"change", "delete", "freeze", "wait"}, shipping)
			}
			add(engine.Lifts, objects, acts...)
			continue
		}
		if acts, known := actsOf(c.Kind); known {
			add(engine.Forbids, objects, acts...)
		}
	}
	return out
}

// actsOf returns the acts that a kind of constraint forbids.
func actsOf(kind engine.ConstraintKind) ([]string, bool) {
	switch kind {
	case engine.ConstraintLeave, engine.ConstraintRead:
		return []string{"change"}, true
	case engine.ConstraintDelete:
		return []string{"delete"}, true
	case engine.ConstraintFreeze:
		return []string{"freeze"}, true
	case engine.ConstraintPlan:
		return []string{"wait"}, true
	case engine.ConstraintLocal:
		return shipping, true
	}
	return nil, false
}

// legacyConstraints returns prohibitions as policies of earlier versions read them.
func legacyConstraints(said []engine.StatementFacts) []engine.ConstraintFacts {
	list := []engine.ConstraintFacts{}
	for _, s := range said {
		kind := engine.ConstraintKind("")
		switch {
		case s.Kind != engine.Forbids || s.Until == engine.UntilAsked || s.Until == engine.UntilOther:
		case s.Act == "change" && len(s.Objects) > 0:
			kind = engine.ConstraintLeave
		case s.Act == "change":
			kind = engine.ConstraintRead
		case s.Act == "delete":
			kind = engine.ConstraintDelete
		case s.Act == "freeze":
			kind = engine.ConstraintFreeze
		case s.Act == "wait":
			kind = engine.ConstraintPlan
		case slices.Contains(shipping, s.Act):
			kind = engine.ConstraintLocal
		}
		f := engine.ConstraintFacts{Kind: kind, Touched: s.Changes, Later: s.Later}
		if len(s.Objects) > 0 {
			f.What = s.Objects[0]
		}
		same := func(o engine.ConstraintFacts) bool { return o.Kind == f.Kind && o.What == f.What }
		if kind != "" && !slices.ContainsFunc(list, same) {
			list = append(list, f)
		}
	}
	return list
}
