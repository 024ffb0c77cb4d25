package simulate

import (
	"context"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// sure evaluates both sides again on a difference in a transcript, under each assumption about
// what was not recorded: did the files exist that the call names? Only a change under every
// assumption is certain; otherwise it is possible.
func (r *sessionRun) sure(ctx context.Context, c *candidate, m RecordedEvent, state State, missing string) (State, string) {
	if m.Event == nil || state == Maybe {
		return state, missing
	}
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
		if again, _ := compare(base, now); again != state {
			return Maybe, "whether the files named in the call existed"
		}
	}
	return state, missing
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
// What differs is left out of the answers that it returns.
func (r *sessionRun) anyTime(ctx context.Context, c *candidate, m RecordedEvent, base, now sideAnswer) (sideAnswer, sideAnswer, bool) {
	state, _ := compare(base, now)
	one, other, known := base, now, true
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
		known = known && again == state
		base, now = base.common(one), now.common(other)
	}
	return base, now, known && (!state.changes() || base.verdict != "" && now.verdict != "")
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
