package simulate

import (
	"context"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// sure evaluates both sides again on a difference in a transcript, with each
// assumption about what was not recorded: did the files exist that the call
// names? Only a change under every assumption is certain; otherwise it is
// possible.
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

// assumed returns the record as it would be if what its effects touch had been
// there, or not, where that is not known.
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

// anyTime evaluates both sides on an event whose time was not recorded, at each
// hour of a week: only a result that is the same for all of them is known.
func (r *sessionRun) anyTime(ctx context.Context, c *candidate, m RecordedEvent, state State, base, now sideAnswer) (State, string) {
	const week = 7 * 24
	var err, err2 error
	for hour := range week {
		rec := *m.Record
		rec.T = (time.Duration(hour+1) * time.Hour).Milliseconds()
		m.Record = &rec
		if r.Baseline.TimeDependent {
			base, err = r.baseline.answer(ctx, m, r.replay)
		}
		if c.TimeDependent {
			now, err2 = c.answer(ctx, m, r.replay)
		}
		if err != nil || err2 != nil {
			break // the context ended
		}
		if again, _ := compare(base, now); again != state {
			return Unknown, "the time of the call, which the answer depends on"
		}
	}
	return state, ""
}
