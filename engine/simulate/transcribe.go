package simulate

import (
	"context"
	"iter"

	"github.com/agent-reviewer/reviewer/engine"
)

// Transcribe makes records of a transcript's events, as a hook would have written them,
// without decisions. A call that cannot be classified is recorded without an action. copied
// reports which calls are counted in another session; nil: none. It returns early, with an
// error, if the context ends.
func Transcribe(ctx context.Context, s Session, c engine.Classifier, env engine.Env,
	copied func(call string) bool) iter.Seq2[RecordedEvent, error] {
	return func(yield func(RecordedEvent, error) bool) {
		t := &transcriber{
			id: chainID(s.ID), session: s.ID, classifier: c, env: env,
			outcomes: outcomesOf(s.Events), copied: copied, seen: map[recorded]bool{},
		}
		if m, ok := c.(interface{ Mask(string) string }); ok {
			t.mask = m.Mask
		}
		for _, e := range s.Events {
			if err := ctx.Err(); err != nil {
				yield(RecordedEvent{}, err)
				return
			}
			for _, m := range t.event(ctx, e) {
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}

// outcomesOf returns the outcomes of the calls that have a result.
func outcomesOf(events []engine.Event) map[string]TranscriptOutcome {
	outcomes := map[string]TranscriptOutcome{}
	for i := range events {
		switch e := &events[i]; {
		case e.Phase != engine.PhasePost || e.Result == nil:
		case e.Result.Refused:
			outcomes[e.Call] = TranscriptRefused
		default:
			outcomes[e.Call] = TranscriptRan
		}
	}
	return outcomes
}

// transcriber writes a chain that is not kept: only its end is needed.
type transcriber struct {
	session    string
	classifier engine.Classifier
	env        engine.Env
	outcomes   map[string]TranscriptOutcome
	copied     func(call string) bool
	mask       func(string) string

	id, workspace string
	terminals     *engine.Terminals
	n, latest     int64 // number and time of the newest record
	seen          map[recorded]bool
}

// recorded identifies the contents of a chain.
type recorded struct {
	agent, call string
	phase       engine.Phase
}

// event returns the records of an event: its own, after the chain's open record if it is the
// first. An event that was recorded before has none.
func (t *transcriber) event(ctx context.Context, e engine.Event) []RecordedEvent {
	if t.session != "" {
		e.Session = t.session
	}
	outcome, copied := t.outcomes[e.Call], t.copied != nil && t.copied(e.Call)
	e.Session, e.Agent, e.Call = t.masked(e.Session), t.masked(e.Agent), t.masked(e.Call)
	key := recorded{e.AgentName(), e.Call, e.Phase}
	if e.Call != "" && t.seen[key] {
		return nil
	}
	t.seen[key] = true
	var made []RecordedEvent
	if t.n == 0 {
		made = append(made, RecordedEvent{Record: t.add(t.opening(e))})
	}
	e.Terminals = t.terminals
	m := RecordedEvent{Record: t.add(t.record(ctx, e)), Event: &e, Copied: copied}
	if a := m.Record.Action; a != nil && a.Terminals != nil && e.Phase == engine.PhasePre {
		t.terminals = a.Terminals
	}
	m.Under = func(ctx context.Context, r engine.Rows) *engine.Record {
		other := e
		other.Rows = r
		rec := t.record(ctx, other)
		rec.V, rec.N, rec.Chain, rec.T = m.Record.V, m.Record.N, m.Record.Chain, m.Record.T
		return rec
	}
	if e.Phase == engine.PhasePre {
		m.Outcome = outcome
	}
	return append(made, m)
}

func (t *transcriber) masked(s string) string {
	if t.mask == nil {
		return s
	}
	return t.mask(s)
}

func (t *transcriber) opening(e engine.Event) *engine.Record {
	env, workspace := t.env, e.Project
	if workspace == "" {
		workspace = e.CWD
	}
	t.workspace = t.masked(workspace)
	return &engine.Record{Kind: engine.KindOpen, T: e.Time, Session: e.Session, Harness: e.Harness,
		Open: &engine.Open{Workspace: t.workspace, Env: &env}}
}

func (t *transcriber) record(ctx context.Context, e engine.Event) *engine.Record {
	at := e.Time
	if at == 0 {
		at = t.latest // an event without a time has the time of the one before it
	}
	facts, err := t.classifier.Classify(ctx, e, t.workspace)
	if err != nil {
		facts = engine.Facts{Event: engine.EventFacts{Name: t.masked(e.Name), Tool: t.masked(e.Tool)}}
	}
	return engine.NewRecord(e, facts, at)
}

// add puts a record at the end of the chain.
func (t *transcriber) add(r *engine.Record) *engine.Record {
	r.ClampTime(t.latest)
	t.n, t.latest = t.n+1, r.T
	r.V, r.N, r.Chain = engine.FormatVersion, t.n, t.id
	return r
}
