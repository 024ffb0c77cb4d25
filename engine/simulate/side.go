package simulate

import (
	"context"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Side is one of the two sides of a comparison.
type Side struct {
	Named  Named
	Policy *review.Policy // nil: what was recorded

	// MissingFact returns what this policy examines and a record of an audit log lacks,
	// because it was written under another policy. nil: never anything.
	MissingFact func(r *engine.Record, workspace string) Missing

	// Reread returns what a recorded call means by other rows; nil: what was recorded, or it is unknown.
	Reread func(r *engine.Record, workspace string, known engine.Rows) *engine.Action

	// Readers lists what reads the result of a detector in this policy. nil: that is unknown.
	Readers func(id string) Readers

	Causes  []Cause     // of a candidate: its differences from the baseline; none if that is not a policy
	Without WithoutSome // of a candidate; nil: causes are not determined

	// TimeDependent reports whether this policy's answer may depend on the time of the
	// call.
	TimeDependent bool

	Unattended []string // of a candidate: permission modes in which it asks nobody
}

// sideAnswer is a side's answer to one event.
type sideAnswer struct {
	verdict     engine.Verdict   // empty: unknown
	decision    *engine.Decision // nil: there is none
	findings    []engine.Finding
	noAnswer    bool     // there is no answer: nothing to compare
	fromOutcome bool     // the verdict is the outcome of the call, not an answer
	missing     string   // what was not recorded
	undetected  []string // detectors whose results are all that is missing; the answer is that if none had found something
	deciding    []string // what decides by these results: rules, and files of Rego; no more than may fire
	foreign     string   // why it cannot be compared
	failed      error    // the verdict is the denial that a failure is answered with
}

// sideState is the state of a side in one session.
type sideState struct {
	*Side
	env     string
	noticed *history.PolicyState // nil: this policy alone wrote the log so far

	own *replay        // the records as the side's own rows classify them; nil: as all sides do
	rec *engine.Record // with own: the record of the current event

	audit   bool    // the records are those of a log: their facts are classified again only where rows changed
	missing Missing // in a log: what the current record lacks
}

// reads prepares the side for an event that its own rows classify differently.
func (l *sideState) reads(ctx context.Context, m RecordedEvent, all *replay) error {
	switch {
	case l.audit:
		l.lacks(m.Record, all.history.Workspace)
		if l.missing.Action != nil && l.own == nil {
			h, err := all.history.Clone()
			if err != nil {
				return err
			}
			l.own = newReplay(nil, engine.Env{})
			l.own.folding = folding{chain: all.chain, history: h, foreign: all.foreign}
		}
		l.rec = l.missing.Applied(m.Record, nil)
	case l.own != nil:
		l.rec = m.Record
		if m.Under != nil {
			l.rec = m.Under(ctx, l.Policy.Rows)
		}
	}
	if l.own == nil {
		return nil
	}
	_, err := l.own.begin(l.rec)
	return err
}

// lacks determines what the record of a log lacks.
func (l *sideState) lacks(rec *engine.Record, workspace string) {
	l.missing = Missing{}
	if l.MissingFact != nil && rec.Event != nil && rec.Note == nil && rec.Phase.Reviewed() {
		l.missing = l.MissingFact(rec, workspace)
	}
}

// seen returns an event, and the history before it, as the side's rows classify them.
func (l *sideState) seen(m RecordedEvent, r *replay) (RecordedEvent, *replay) {
	switch {
	case l.own == nil:
		m.Record = assumed(m.Record, m.exists)
		return m, r
	case l.audit:
		return m, l.own
	}
	at := m.Record.T
	m.Record = assumed(l.rec, m.exists)
	if m.Record.T != at { // the side is evaluated at another time
		other := *m.Record
		other.T, m.Record = at, &other
	}
	return m, l.own
}

// answer evaluates the side on an event, given the history. An error means that
// the context ended.
func (l *sideState) answer(ctx context.Context, m RecordedEvent, r *replay) (sideAnswer, error) {
	if l.Policy == nil {
		return l.recorded(m), nil
	}
	m, r = l.seen(m, r)
	switch {
	case r.foreign || r.history.Empty():
		return sideAnswer{foreign: "the state before it was folded by another version, or is missing"}, nil
	case m.Record.Phase == engine.PhasePre && m.Record.Action == nil:
		return sideAnswer{missing: "what the call means: it could not be classified"}, nil
	}
	return l.judge(ctx, m, r)
}

// recorded returns the recorded decision.
func (l *sideState) recorded(m RecordedEvent) sideAnswer {
	rec := m.Record
	switch {
	case m.Event != nil:
		return fromTranscript(m)
	case rec.Decision == nil:
		return sideAnswer{missing: "a decision: there was a failure, so nothing was decided"}
	}
	s := sideAnswer{verdict: rec.Decision.Enforced, decision: rec.Decision, findings: rec.Findings}
	if rec.By == nil || rec.By.Env != l.env {
		s.foreign = "it was recorded in another environment"
	}
	return s
}

// fromTranscript returns as much of a decision as a transcript contains: the outcome of
// the call.
func fromTranscript(m RecordedEvent) sideAnswer {
	switch {
	case m.Record.Phase != engine.PhasePre:
		return sideAnswer{noAnswer: true}
	case m.Outcome == TranscriptRan:
		return sideAnswer{verdict: engine.Allow, fromOutcome: true}
	case m.Outcome == TranscriptRefused:
		return sideAnswer{verdict: engine.Block, fromOutcome: true}
	}
	return sideAnswer{missing: "the outcome of the call: it has no result"}
}

func (l *sideState) judge(ctx context.Context, m RecordedEvent, r *replay) (sideAnswer, error) {
	if l.noticed == nil && !l.wrote(m.Record) {
		l.noticed = r.history.PolicyState()
	}
	if l.noticed == nil && r.came != nil {
		return of(r.came), nil
	}
	rec := l.missing.Applied(l.facts(m), m.supposed)
	v, err := l.Policy.Decide(ctx, rec, l.history(r))
	if err != nil {
		return sideAnswer{verdict: engine.Degraded(m.Record.Phase, "").Effect, failed: err}, ctx.Err()
	}
	s := of(&v)
	s.missing, s.undetected = l.missing.Fact, l.missing.Detectors
	return s, nil
}

// certain is the answer if it does not depend on what was not recorded; else it is empty.
func (s sideAnswer) certain() engine.Verdict {
	if s.missing != "" || s.failed != nil {
		return ""
	}
	return s.verdict
}

func of(v *review.Result) sideAnswer {
	return sideAnswer{verdict: v.Decision.Enforced, decision: &v.Decision, findings: v.Findings}
}

// wrote reports whether exactly this policy decided a record.
func (l *sideState) wrote(rec *engine.Record) bool {
	return rec.Decision != nil && rec.By != nil && rec.By.Policy == l.Policy.Digest && rec.By.Env == l.env
}

// facts lets the side's own detectors search a transcript's texts.
func (l *sideState) facts(m RecordedEvent) *engine.Record {
	if m.Event == nil || m.Record.Action == nil || l.Policy.Detector == nil {
		return m.Record
	}
	rec, action := *m.Record, *m.Record.Action
	action.Detected = m.found.of(l.Policy, *m.Event)
	rec.Action = &action
	return &rec
}

// folded adds the side's answer to an event after h was folded with it.
func (l *sideState) folded(h *history.State, rec *engine.Record, s sideAnswer) {
	if l.own != nil {
		h, rec = l.own.history, l.rec
	}
	if l.noticed != nil && s.decision != nil {
		l.noticed.Fold(h, rec, s.findings, s.decision)
	}
}
