package simulate

import (
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// people counts what the people of a session meet: questions, stops, and what comes after a stop.
type people struct {
	sides [2]meets // the baseline's, the candidate's
	modes map[string]*Group
	days  map[string]*Group
}

// meets is what one side asks of them.
type meets struct {
	stopped          bool
	stops, after     int64
	asked            map[string]bool // calls
	questions, again int64
}

func newPeople() people {
	return people{sides: [2]meets{{asked: map[string]bool{}}, {asked: map[string]bool{}}},
		modes: map[string]*Group{}, days: map[string]*Group{}}
}

// count counts a decision about a call or an event.
func (p *people) count(s Step, mode string, base, now sideAnswer) {
	for i, side := range []sideAnswer{base, now} {
		p.sides[i].count(s, side)
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

func (m *meets) count(s Step, answer sideAnswer) {
	if m.stopped && (s.Phase == engine.PhasePre || s.Phase == engine.PhasePrompt) {
		m.after++
	}
	if !m.stopped && slices.ContainsFunc(answer.duties(), func(d dutyKey) bool { return d.what == engine.DoesStop }) {
		m.stopped = true
		m.stops++
	}
	if s.Phase != engine.PhasePre || answer.verdict != engine.Ask {
		return
	}
	m.questions++
	call := s.Tool + "\x00" + s.Resource
	if m.asked[call] {
		m.again++
	}
	m.asked[call] = true
}

// record reads that a person has resumed the session.
func (p *people) record(rec *engine.Record) {
	if rec.Kind == engine.KindControl && rec.Control != nil && rec.Control.Do == engine.ControlResume {
		p.sides[0].stopped, p.sides[1].stopped = false, false
	}
}

func (p *people) sum(m *Impact) {
	a, b := &p.sides[0], &p.sides[1]
	if stops := (StopCounts{a.stops, b.stops, a.after, b.after}); stops != (StopCounts{}) {
		m.Stops = &stops
	}
	if questions := (QuestionCounts{a.questions, b.questions, a.again, b.again}); questions != (QuestionCounts{}) {
		m.Questions = &questions
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
