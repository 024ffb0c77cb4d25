package simulate

import (
	"context"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// sure asks both sides again about another answer in a transcript, with each
// word on what was not recorded: were the files there that the call names? Only
// a change that is the same each time is one; else it is one maybe.
func (r *reading) sure(ctx context.Context, c *candidate, m Moment, state State, missing string) (State, string) {
	if m.Event == nil || state == Maybe {
		return state, missing
	}
	for _, word := range []string{"yes", "no"} {
		other, differs := assumed(m.Record, word)
		if !differs {
			break
		}
		m.Record, m.assumed = other, word
		base, err := r.baseline.say(ctx, m, r.replay)
		now, err2 := c.say(ctx, m, r.replay)
		if err != nil || err2 != nil {
			break // the context ended
		}
		if again, _ := compare(base, now); again != state {
			return Maybe, "whether the files were there that the call names"
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

// anyTime asks both sides again about a moment whose time was not recorded, at
// each hour of a week: only what is the same at all of them is known.
func (r *reading) anyTime(ctx context.Context, c *candidate, m Moment, state State, base, now said) (State, string) {
	const week = 7 * 24
	var err, err2 error
	for hour := range week {
		rec := *m.Record
		rec.T = (time.Duration(hour+1) * time.Hour).Milliseconds()
		m.Record = &rec
		if r.Baseline.Times {
			base, err = r.baseline.say(ctx, m, r.replay)
		}
		if c.Times {
			now, err2 = c.say(ctx, m, r.replay)
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
