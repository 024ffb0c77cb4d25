package act

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// memoryLog is a Log of one session. fail says which append fails.
type memoryLog struct {
	history *history.State
	records []*engine.Record
	fail    func(*engine.Record) error
	mu      sync.Mutex
	purged  error // of what comes before a record
}

func newMemoryLog() *memoryLog { return &memoryLog{history: lenient()} }

func (l *memoryLog) Update(_ context.Context, _ *review.Policy, _ engine.SessionKey, fn func(history.Tail) error) error {
	if !l.mu.TryLock() {
		return errors.New("locked twice")
	}
	defer l.mu.Unlock()
	return fn(history.Tail{History: l.history, Append: l.append, Read: l.read, Before: l.before})
}

func (l *memoryLog) locked() bool {
	free := l.mu.TryLock()
	if free {
		l.mu.Unlock()
	}
	return !free
}

func (l *memoryLog) before(n int64) (*history.State, error) {
	h := lenient()
	if l.purged != nil {
		return nil, l.purged
	}
	for _, r := range l.records[:n-1] {
		h.Append(r)
	}
	return h, nil
}

func (l *memoryLog) append(r *engine.Record) error {
	if l.fail != nil {
		if err := l.fail(r); err != nil {
			return err
		}
	}
	r.V, r.Chain, r.N = engine.FormatVersion, strings.Repeat("c", 32), l.history.N+1
	if _, err := engine.EncodeLine(r); err != nil {
		return err
	}
	l.history.Append(r)
	l.records = append(l.records, r)
	return nil
}

func (l *memoryLog) read(n int64) (*engine.Record, error) { return l.records[n-1], nil }

func (l *memoryLog) Workspace(engine.SessionKey) (workspace string, began int64, err error) {
	if !l.mu.TryLock() {
		return "", 0, errors.New("locked")
	}
	defer l.mu.Unlock()
	return l.history.Workspace, l.history.Started, nil
}

func (l *memoryLog) last() *engine.Record {
	if l.mu.TryLock() { // else this is called while a record is appended
		defer l.mu.Unlock()
	}
	return l.records[len(l.records)-1]
}

func (l *memoryLog) kinds() []string {
	if l.mu.TryLock() {
		defer l.mu.Unlock()
	}
	var list []string
	for _, r := range l.records {
		list = append(list, string(r.Kind))
	}
	return list
}

type classifyFunc func(engine.Event, string) (engine.Facts, error)

func (f classifyFunc) Rewrite(context.Context, engine.Event, string, []engine.Operation) (json.RawMessage, error) {
	return nil, errors.New("this call has no other form")
}

func (classifyFunc) Mask(s string) string { return strings.ReplaceAll(s, "hunter2", "REDACTED") }

func (f classifyFunc) Classify(_ context.Context, e engine.Event, workspace string) (engine.Facts, error) {
	return f(e, workspace)
}

// plainly makes facts of an event without looking at it.
func plainly(e engine.Event, _ string) (engine.Facts, error) {
	f := engine.Facts{Event: engine.EventFacts{Name: e.Name, Tool: e.Tool}}
	if e.Phase == engine.PhasePre || e.Phase == engine.PhasePost {
		f.Action = &engine.Action{Types: []engine.Type{engine.TypeFileRead}, Fingerprint: engine.HexSum(e.Args)[:16]}
		f.Args = engine.HexSum(e.Args)
	}
	return f, nil
}

type decideFunc func(*engine.Input) (engine.Decision, error)

func (f decideFunc) Decide(_ context.Context, in *engine.Input, _ []engine.Finding) (engine.Decision, error) {
	return f(in)
}

func (decideFunc) Match(context.Context, *engine.Input) ([]engine.Finding, error) { return nil, nil }

// always is a policy that says the same to everything.
func always(d engine.Decision) decideFunc {
	return func(*engine.Input) (engine.Decision, error) { return d, nil }
}

func say(v engine.Verdict) engine.Decision {
	return engine.Decision{Decision: v, Enforced: v, Text: "told ({id})"}
}

func newReviewer(l *memoryLog, d decideFunc) *Reviewer {
	return &Reviewer{
		Policy: func(string) (*review.Policy, error) {
			return &review.Policy{Digest: "p", Config: "c", Matcher: d, Decider: d}, nil
		},
		Classifier: classifyFunc(plainly), Log: l, Clock: Clock{Now: func() int64 { return 1000 }},
	}
}

func event(p engine.Phase, call string) engine.Event {
	return engine.Event{Harness: "h", Session: "s", Phase: p, Call: call, Name: string(p), Tool: "Bash", Args: []byte(`{"n":1}`), CWD: "/w", Time: 5000}
}

// lenient is an empty history in which choices count without a signature.
func lenient() *history.State {
	h := history.New()
	h.Lenient = true
	return h
}
