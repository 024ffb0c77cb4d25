package incident

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxTimeline limits the actions that a timeline shows.
const maxTimeline = 50

// Read returns the incidents of a session from its records, the earliest first. If a
// record cannot be read, it returns those found so far and the error.
func Read(records iter.Seq2[*engine.Record, error]) ([]*Incident, error) {
	r := &reader{impact: newImpact(), signs: newSigns()}
	for rec, err := range records {
		if err != nil {
			return r.found, err
		}
		r.see(rec)
	}
	return r.found, nil
}

// reader folds the records of one session.
type reader struct {
	found     []*Incident
	stopped   *Incident // that stops the session now
	workspace string
	began     int64
	moments   []*TimelineEntry // at most maxTimeline
	dropped   int64            // actions that left moments
	impact    impact
	signs     signs
}

func (r *reader) see(rec *engine.Record) {
	if r.began == 0 {
		r.began = rec.T
	}
	switch rec.Kind {
	case engine.KindOpen:
		if rec.Open != nil {
			r.workspace = rec.Open.Workspace
		}
	case engine.KindControl:
		if rec.Control != nil && rec.Control.Do != engine.ControlKey {
			r.control(rec)
		}
	case engine.KindPrompt:
		r.add(rec, &TimelineEntry{What: "prompt"})
		r.impact.prompts++
	case engine.KindPre:
		r.call(rec)
	case engine.KindPost:
		r.end(rec)
	case engine.KindAct:
		rec = r.late(rec)
	}
	if Stops(rec) && r.stopped == nil {
		r.open(rec)
	}
}

// late takes the review of a call that was answered before it. The call itself was seen then.
func (r *reader) late(rec *engine.Record) *engine.Record {
	d := decisionOf(rec)
	if d == nil || r.stopped != nil {
		return rec
	}
	own := *rec
	own.Decision, own.Findings = d, nil
	r.signs.see(&own, d.Enforced)
	return &own
}

// decisionOf returns the decision in a record: its own, or that of a review after the answer.
func decisionOf(rec *engine.Record) *engine.Decision {
	if rec.Act != nil && rec.Act.Late != nil {
		return rec.Act.Late.Decision
	}
	return rec.Decision
}

// Stops reports whether a record's decision stops a session that was not stopped.
func Stops(rec *engine.Record) bool {
	d := decisionOf(rec)
	return d != nil && d.Stops() && d.Intervention.Issue != ""
}

func (r *reader) control(rec *engine.Record) {
	c := rec.Control
	if c == nil || c.Of != "" {
		return
	}
	choice := &Choice{Time: clock(rec.T), By: c.By, Reason: c.Reason, Record: rec.ID()}
	switch c.Do {
	case engine.ControlResume:
		if r.stopped != nil {
			r.stopped.Stopped, r.stopped.Resumed = false, choice
		}
		r.stopped = nil
		r.signs.denied = nil
	case engine.ControlClose:
		for _, i := range r.found {
			if i.ID == c.Record && i.Closed == nil {
				i.State, i.Closed = Closed, choice
			}
		}
		return
	}
	r.add(rec, &TimelineEntry{What: c.Do})
}

func (r *reader) call(rec *engine.Record) {
	if r.stopped != nil {
		return // only denied, and no part of what led to the stop
	}
	answer := engine.AnswerOf(rec).Effect
	m := &TimelineEntry{What: subject(rec), Answer: answer, Outcome: engine.OutcomePending, call: [2]string{rec.Agent, rec.Call}}
	if answer == engine.Block {
		m.Outcome = engine.OutcomeDenied
	}
	m.take(rec)
	r.add(rec, m)
	r.impact.call(rec, answer)
	r.signs.see(rec, answer)
}

func (r *reader) end(rec *engine.Record) {
	if r.stopped != nil {
		return
	}
	for _, m := range slices.Backward(r.moments) {
		if rec.Call != "" && m.call == [2]string{rec.Agent, rec.Call} {
			m.end(rec)
			break
		}
	}
	r.impact.end(rec)
	r.signs.see(rec, engine.Allow)
}

func (m *TimelineEntry) take(rec *engine.Record) {
	if d := rec.Decision; d != nil {
		for _, rule := range d.Rules {
			if !slices.Contains(m.Rules, rule.ID) {
				m.Rules = append(m.Rules, rule.ID)
			}
		}
		if d.Intervention != nil && d.Enforced != engine.Allow {
			m.Done = d.Intervention.Kind
		}
	}
}

func (m *TimelineEntry) end(rec *engine.Record) {
	m.Outcome = engine.OutcomeUnknown
	if rec.Event != nil && rec.Event.Result != nil {
		m.Outcome, m.Trouble = rec.Event.Result.Outcome, rec.Event.Result.Class
	}
	m.take(rec)
}

func (r *reader) add(rec *engine.Record, m *TimelineEntry) {
	m.ID, m.Time, m.at, m.Kind, m.Agent = rec.ID(), clock(rec.T), rec.T, rec.Kind, agentOf(rec)
	r.moments = append(r.moments, m)
	if len(r.moments) > maxTimeline {
		r.moments = r.moments[1:]
		r.dropped++
	}
}

// open makes the incident of a record that stops the session.
func (r *reader) open(rec *engine.Record) {
	i := &Incident{
		ID: rec.ID(), State: Open, Session: rec.Session, Harness: rec.Harness, Agent: agentOf(rec), Workspace: r.workspace,
		Time: clock(rec.T), Stopped: true, Cause: r.signs.cause(rec), Factors: r.signs.factors(rec), Impact: r.impact.until(rec.T - r.began),
		Earlier: r.dropped, Rules: r.signs.frequent(), at: rec.T,
	}
	began := r.signs.began(i.Cause, rec)
	i.Began, i.Duration = clock(began), rec.T-began
	i.Severity = severity(r.signs.worst, i.Cause)
	i.Summary = summary(i)
	for _, m := range r.moments {
		own := *m
		own.Before = rec.T - m.at
		i.Timeline = append(i.Timeline, &own)
	}
	r.found, r.stopped = append(r.found, i), i
}

func agentOf(rec *engine.Record) string { return cmp.Or(rec.Agent, engine.MainAgent) }

// subject returns what a call is about, on one line.
func subject(rec *engine.Record) string {
	var tool, resource string
	if rec.Event != nil {
		tool = rec.Event.Tool
	}
	if rec.Action != nil {
		resource = rec.Action.Resource
	}
	if tool == "" || resource == "" {
		return tool + resource
	}
	return tool + " " + resource
}

func clock(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
