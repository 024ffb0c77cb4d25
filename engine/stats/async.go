package stats

import (
	"github.com/agent-reviewer/reviewer/engine"
)

// Async counts the calls that were answered before their review (mode: async).
type Async struct {
	Answered int64    `json:"answered"`
	Reviews  Verdicts `json:"reviews"` // of these calls, by the answer that the review would have given; the rest is still to be made
	Failed   int64    `json:"failed"`  // the reviews that failed; they count as blocked
}

// see reads a record of a session.
func (a *Async) see(r *engine.Record) {
	if r.Kind == engine.KindPre && r.Source == engine.SourceAsync {
		a.Answered++
	}
	if r.Act == nil || r.Act.Late == nil {
		return
	}
	a.Reviews.add(r.Act.Late.Answer())
	if r.Act.Late.Decision == nil {
		a.Failed++
	}
}

func readAsync(d *Document) []sample {
	samples := []sample{}
	for _, v := range engine.Verdicts() {
		if n := d.Async.Reviews.Of(engine.Verdict(v)); n > 0 {
			samples = append(samples, sample{[]string{v}, float64(n)})
		}
	}
	return samples
}
