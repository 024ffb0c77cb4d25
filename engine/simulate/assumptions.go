package simulate

import (
	"context"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// sure compares both sides' answers to an event. If they may depend on something that was not
// recorded, both are evaluated again under each assumption about it: whether the files exist that
// a call in a transcript names, and what detectors would have found. A state is certain only if it
// is the same under every assumption.
func (r *sessionRun) sure(ctx context.Context, c *candidate, m RecordedEvent, base, now *sideAnswer) difference {
	d := c.between(*base, *now, &r.Baseline)
	switch {
	case m.Event != nil && (d.state == Tightened || d.state == Loosened):
		return r.existing(ctx, c, m, d)
	case m.Event == nil && (d.state == Maybe || d.state == Unknown):
		return r.detected(ctx, c, m, base, now, d)
	}
	return d
}

func (r *sessionRun) existing(ctx context.Context, c *candidate, m RecordedEvent, d difference) difference {
	for _, word := range []string{"yes", "no"} {
		other, differs := assumed(m.Record, word)
		if !differs {
			break
		}
		m.Record, m.assumed = other, word
		base, err := r.baseline.answer(ctx, m, r.replay)
		now, err2 := c.answer(ctx, m, r.replay)
		if err != nil || err2 != nil {
			break // the context ended
		}
		if again := c.between(base, now, &r.Baseline); again.state != d.state {
			d = difference{Maybe, "whether the files named in the call existed", d.loosens || again.loosens}
		}
	}
	return d
}

// assumed returns the record as if the paths of its effects had existed, or not, where that is
// unknown.
func assumed(rec *engine.Record, word string) (*engine.Record, bool) {
	if rec.Action == nil {
		return rec, false
	}
	other, action := *rec, *rec.Action
	action.Effects = make([]engine.Effect, len(rec.Action.Effects))
	differs := false
	for i, e := range rec.Action.Effects {
		if e.Exists == "" && (e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete) {
			e.Exists, differs = word, true
		}
		action.Effects[i] = e
	}
	other.Action = &action
	return &other, differs
}

// aWeek is the number of hours after which the time of day and the day of the week repeat.
const aWeek = 7 * 24

// anyTime evaluates both sides on an event whose time was not recorded, at each hour of a
// week: only what is the same at all of them is known, whether verdicts, rules or findings.
// What differs is left out of the answers that it returns. It reports whether the candidate is
// milder at any time.
func (r *sessionRun) anyTime(ctx context.Context, c *candidate, m RecordedEvent, base, now sideAnswer) (
	one, other sideAnswer, known, loosens bool,
) {
	state, _ := compare(base, now)
	one, other, known, loosens = base, now, true, state == Loosened
	const step = 5 // hours
	var err, err2 error
	for i := range aWeek {
		// Every fifth hour reaches each day and each time of day: after the first week all
		// differences were found, or there are none.
		if i > aWeek/step && !known {
			break
		}
		rec := *m.Record
		rec.T = (time.Duration(i*step%aWeek+1) * time.Hour).Milliseconds()
		m.Record = &rec
		if r.Baseline.TimeDependent {
			one, err = r.baseline.answer(ctx, m, r.replay)
		}
		if c.TimeDependent {
			other, err2 = c.answer(ctx, m, r.replay)
		}
		if err != nil || err2 != nil {
			break // the context ended
		}
		again, _ := compare(one, other)
		known, loosens = known && again == state, loosens || again == Loosened
		base, now = base.common(one), now.common(other)
	}
	return base, now, known && (!state.changes() || base.verdict != "" && now.verdict != ""), loosens
}

// common returns what two answers of a side to the same event have in common.
func (s sideAnswer) common(o sideAnswer) sideAnswer {
	if s.verdict != o.verdict {
		s.verdict = ""
	}
	s.findings = slices.DeleteFunc(slices.Clone(s.findings), func(f engine.Finding) bool {
		return !slices.ContainsFunc(o.findings, func(g engine.Finding) bool { return g.ID == f.ID })
	})
	if s.decision == nil || o.decision == nil {
		s.decision = nil
		return s
	}
	d := *s.decision
	d.Rules = slices.DeleteFunc(slices.Clone(d.Rules), func(r engine.RuleResult) bool { return !slices.Contains(o.rules(), r.ID) })
	if s.intervention() != o.intervention() || s.restores() != o.restores() {
		d.Intervention = nil
	}
	if d.Reason != o.decision.Reason {
		d.Reason = ""
	}
	s.decision = &d
	return s
}
