package simulate

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// sure compares both sides' answers to an event. If they may depend on something that was not
// recorded, both are evaluated again under each assumption about it: whether the files exist that
// a call in a transcript changes, and what detectors would have found. A state is certain only if it
// is the same under every assumption.
func (r *sessionRun) sure(ctx context.Context, c *candidate, m RecordedEvent, base, now *sideAnswer) difference {
	d := c.between(*base, *now, &r.Baseline)
	switch {
	case m.Event != nil && (d.state == Unchanged || d.state == Tightened || d.state == Loosened):
		return r.existing(ctx, c, m, d)
	case m.Event == nil && (d.state == Maybe || d.state == Unknown):
		return r.detected(ctx, c, m, base, now, d)
	}
	return d
}

// existing compares both sides for the files that may have existed before the call.
func (r *sessionRun) existing(ctx context.Context, c *candidate, m RecordedEvent, d difference) difference {
	files := unseen(m.Record, d.state.changes())
	if len(files) == 0 || r.Baseline.Policy != nil && r.Baseline.Policy.Digest == c.Policy.Digest {
		return d
	}
	was := d
	for exists := range mixtures(files) {
		m.exists = exists
		base, err := r.baseline.answer(ctx, m, r.replay)
		now, err2 := c.answer(ctx, m, r.replay)
		if err != nil || err2 != nil {
			return d // the context ended
		}
		again := c.between(base, now, &r.Baseline)
		if d.loosens = d.loosens || again.loosens; again.state == was.state {
			continue
		}
		if d.missing = "whether the files existed that the call changes"; was.state.changes() {
			d.state = Maybe
		} else {
			d.state = Unknown
		}
		if d.loosens {
			break // nothing more can be learned
		}
	}
	return d
}

// unseen lists the files that a call changes or deletes and of which is not known whether they existed; without edited, not those
// whose text it edits, as these must have existed.
func unseen(rec *engine.Record, edited bool) []string {
	if rec.Action == nil {
		return nil
	}
	var files []string
	for _, e := range rec.Action.Effects {
		if mayExist(&e) && (edited || e.Verb != "edit") && !slices.Contains(files, e.Target) {
			files = append(files, e.Target)
		}
	}
	return files
}

// mayExist reports whether a file that an effect changes or deletes may have existed or not.
func mayExist(e *engine.Effect) bool {
	return e.Exists == "" && (e.Kind == engine.EffectFileWrite || e.Kind == engine.EffectFileDelete)
}

// mixtures yields which of the files exist: all and none first, and, of more than five, each alone and all but each, as far as
// maxCombinations allows it.
func mixtures(files []string) iter.Seq[map[string]string] {
	return func(yield func(map[string]string) bool) {
		mixture := func(exists func(i int) bool) map[string]string {
			words := map[string]string{}
			for i, file := range files {
				if words[file] = "no"; exists(i) {
					words[file] = "yes"
				}
			}
			return words
		}
		n, all := len(files), 1<<min(len(files), 6)
		if !yield(mixture(func(int) bool { return true })) || !yield(mixture(func(int) bool { return false })) {
			return
		}
		if all <= maxCombinations {
			for bits := 1; bits < all-1; bits++ {
				if !yield(mixture(func(i int) bool { return bits>>i&1 == 1 })) {
					return
				}
			}
			return
		}
		for one := range min(n, maxCombinations/2-1) {
			if !yield(mixture(func(i int) bool { return i == one })) || !yield(mixture(func(i int) bool { return i != one })) {
				return
			}
		}
	}
}

// assumed returns a record as if files had existed, or not, where that is unknown; exists says yes or no for each.
func assumed(rec *engine.Record, exists map[string]string) *engine.Record {
	if rec.Action == nil || len(exists) == 0 {
		return rec
	}
	other, action := *rec, *rec.Action
	action.Effects = slices.Clone(rec.Action.Effects)
	for i := range action.Effects {
		if e := &action.Effects[i]; mayExist(e) {
			e.Exists = exists[e.Target]
		}
	}
	other.Action = &action
	return &other
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
