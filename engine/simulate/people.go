package simulate

import (
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// people counts what the people of a session meet: questions, stops, and what comes after a stop.
type people struct {
	stopped   [2]bool            // by the baseline, by the candidate
	asked     [2]map[string]bool // by the same: calls
	stops     StopCounts
	questions QuestionCounts
	modes     map[string]*Group
	days      map[string]*Group
}

func newPeople() people {
	return people{asked: [2]map[string]bool{{}, {}}, modes: map[string]*Group{}, days: map[string]*Group{}}
}

// count counts a decision about a call or an event.
func (p *people) count(s Step, mode string, base, now sideAnswer) {
	for i, side := range []sideAnswer{base, now} {
		if p.stopped[i] && (s.Phase == engine.PhasePre || s.Phase == engine.PhasePrompt) {
			*[]*int64{&p.stops.AfterBaseline, &p.stops.AfterCandidate}[i]++
		}
		if !p.stopped[i] && slices.ContainsFunc(side.duties(), func(d dutyKey) bool { return d.what == engine.DoesStop }) {
			p.stopped[i] = true
			*[]*int64{&p.stops.Baseline, &p.stops.Candidate}[i]++
		}
		if s.Phase != engine.PhasePre || side.verdict != engine.Ask {
			continue
		}
		*[]*int64{&p.questions.Baseline, &p.questions.Candidate}[i]++
		call := s.Tool + "\x00" + s.Resource
		if p.asked[i][call] {
			*[]*int64{&p.questions.RepeatedBaseline, &p.questions.RepeatedCandidate}[i]++
		}
		p.asked[i][call] = true
	}
	if s.Phase != engine.PhasePre {
		return
	}
	g := named(p.modes, mode)
	g.add(s.State)
	g.Baseline += int64(number(s.From == engine.Ask))
	g.Candidate += int64(number(s.To == engine.Ask))
	if s.Time > 0 {
		d := named(p.days, time.UnixMilli(s.Time).UTC().Format(time.DateOnly))
		d.add(s.State)
		d.Baseline += int64(number(stops(s.From)))
		d.Candidate += int64(number(stops(s.To)))
	}
}

// record reads that a person has resumed the session.
func (p *people) record(rec *engine.Record) {
	if rec.Kind == engine.KindControl && rec.Control != nil && rec.Control.Do == engine.ControlResume {
		p.stopped = [2]bool{}
	}
}

func (p *people) sum(m *Impact) {
	if p.stops != (StopCounts{}) {
		m.Stops = &p.stops
	}
	if p.questions != (QuestionCounts{}) {
		m.Questions = &p.questions
	}
	m.Modes, m.Days = sorted(p.modes, Group.compare), sorted(p.days, Group.compare)
}

// with returns the sum of two counts; nil: none.
func (c *StopCounts) with(o *StopCounts) *StopCounts {
	if c == nil || o == nil {
		return either(c, o)
	}
	return &StopCounts{c.Baseline + o.Baseline, c.Candidate + o.Candidate, c.AfterBaseline + o.AfterBaseline,
		c.AfterCandidate + o.AfterCandidate}
}

// with returns the sum of two counts; nil: none.
func (c *QuestionCounts) with(o *QuestionCounts) *QuestionCounts {
	if c == nil || o == nil {
		return either(c, o)
	}
	return &QuestionCounts{c.Baseline + o.Baseline, c.Candidate + o.Candidate, c.RepeatedBaseline + o.RepeatedBaseline,
		c.RepeatedCandidate + o.RepeatedCandidate}
}

// either returns a copy of the one that is there; nil: none is.
func either[T any](a, b *T) *T {
	if a == nil {
		a = b
	}
	if a == nil {
		return nil
	}
	own := *a
	return &own
}
