package simulate

import (
	"context"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Side is one of the two that are compared.
type Side struct {
	Named  Named
	Policy *review.Policy // nil: what was recorded

	// Lacks says which fact this policy looks at that a record of an audit log
	// does not hold, since it was written under another policy; empty: none. nil:
	// never.
	Lacks func(*engine.Record) string

	// Times says that what this policy answers may depend on the time of the call.
	Times bool
}

// said is what a side says of one moment.
type said struct {
	verdict  engine.Verdict   // empty: not known
	decision *engine.Decision // nil: there is none
	findings []engine.Finding
	silent   bool   // nothing was ever said: there is nothing to compare
	fate     bool   // the verdict is what became of the call, not what was said of it
	missing  string // what was not recorded
	foreign  string // why it cannot be compared
	failed   error  // the verdict is the denial that a failure is answered with
}

// listener is a side in one session.
type listener struct {
	*Side
	env     string
	noticed *history.Noticed // nil: the log was written by this very policy so far

	own *replay        // of a transcript as the side's own rows read it; nil: they read it as all do
	rec *engine.Record // with own: the record of the present moment
}

// reads prepares the side for a moment that its own rows read in another way.
func (l *listener) reads(ctx context.Context, m Moment) error {
	if l.own == nil {
		return nil
	}
	l.rec = m.Record
	if m.Under != nil {
		l.rec = m.Under(ctx, l.Policy.Rows)
	}
	_, err := l.own.begin(l.rec)
	return err
}

// seen is a moment, and what happened before it, as the side's rows read them.
func (l *listener) seen(m Moment, r *replay) (Moment, *replay) {
	if l.own == nil {
		return m, r
	}
	m.Record = l.rec
	if m.assumed != "" {
		m.Record, _ = assumed(l.rec, m.assumed)
	}
	return m, l.own
}

// say asks the side about a moment, in the light of what happened before. An
// error means that the context ended.
func (l *listener) say(ctx context.Context, m Moment, r *replay) (said, error) {
	if l.Policy == nil {
		return l.recorded(m), nil
	}
	m, r = l.seen(m, r)
	switch {
	case r.foreign || r.history.Empty():
		return said{foreign: "the state before it was folded by another version, or is gone"}, nil
	case m.Record.Phase == engine.PhasePre && m.Record.Action == nil:
		return said{missing: "what the call means: it could not be classified"}, nil
	}
	return l.judge(ctx, m, r)
}

// recorded is what was decided then.
func (l *listener) recorded(m Moment) said {
	rec := m.Record
	switch {
	case m.Event != nil:
		return fated(m)
	case rec.Decision == nil:
		return said{missing: "a decision: something had failed, and nothing was decided"}
	}
	s := said{verdict: rec.Decision.Enforced, decision: rec.Decision, findings: rec.Findings}
	if rec.By == nil || rec.By.Env != l.env {
		s.foreign = "it was recorded under another environment"
	}
	return s
}

// fated is as much of a decision as a transcript holds: what became of calls.
func fated(m Moment) said {
	switch {
	case m.Record.Phase != engine.PhasePre:
		return said{silent: true}
	case m.Fate == FateRan:
		return said{verdict: engine.Allow, fate: true}
	case m.Fate == FateRefused:
		return said{verdict: engine.Block, fate: true}
	}
	return said{missing: "what became of the call: it has no result"}
}

func (l *listener) judge(ctx context.Context, m Moment, r *replay) (said, error) {
	h := r.history
	if l.noticed == nil && !l.wrote(m.Record) {
		l.noticed = h.Noticed()
	}
	if l.noticed == nil && r.came != nil {
		return of(r.came), nil
	}
	if l.noticed != nil {
		h = h.As(l.noticed)
	}
	v, err := l.Policy.Judge(ctx, l.facts(m), h)
	if err != nil {
		return said{verdict: engine.Degraded(m.Record.Phase, "").Effect, failed: err}, ctx.Err()
	}
	s := of(&v)
	if l.Lacks != nil && m.Event == nil {
		s.missing = l.Lacks(m.Record)
	}
	return s, nil
}

func of(v *review.Result) said {
	return said{verdict: v.Decision.Enforced, decision: &v.Decision, findings: v.Findings}
}

// wrote says whether a record was decided by this very policy.
func (l *listener) wrote(rec *engine.Record) bool {
	return rec.Decision != nil && rec.By != nil && rec.By.Policy == l.Policy.Digest && rec.By.Env == l.env
}

// facts lets the side's own detectors look at a transcript's texts.
func (l *listener) facts(m Moment) *engine.Record {
	if m.Event == nil || m.Record.Action == nil || l.Policy.Detector == nil {
		return m.Record
	}
	rec, action := *m.Record, *m.Record.Action
	action.Detected = l.Policy.Detector.Detect(*m.Event)
	rec.Action = &action
	return &rec
}

// folded takes in what the side said of a moment, which h was folded with.
func (l *listener) folded(h *history.State, rec *engine.Record, s said) {
	if l.own != nil {
		h, rec = l.own.history, l.rec
	}
	if l.noticed != nil && s.decision != nil {
		l.noticed.Fold(h, rec, s.findings, s.decision)
	}
}
