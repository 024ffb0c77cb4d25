package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Session is a session that is evaluated under a policy.
type Session struct {
	ID     string
	Events []engine.Event // in order; Event.Session is replaced by ID where that is set
}

// Action is a policy's answer to one tool call.
type Action struct {
	Session  string         `json:"session"`
	Index    int            `json:"index"` // among the session's tool calls, from 0
	Call     string         `json:"call,omitempty"`
	Tool     string         `json:"tool"`
	Decision engine.Verdict `json:"decision"` // the decision of the policy
	Enforced engine.Verdict `json:"enforced"` // the answer
	Rules    []string       `json:"rules"`
	Reason   string         `json:"reason,omitempty"`
	Error    string         `json:"error,omitempty"` // why there is no decision: such a call is denied

	Record *engine.Record `json:"-"` // as a live hook would have recorded it; nil if it could not be made
}

// Rehearsal is a session that is evaluated under a policy event by event. Nothing of it is
// kept.
type Rehearsal struct {
	// Recorded reports whether the events have happened: a call that this
	// policy denies keeps its result, and what follows is judged with it.
	// Otherwise the result is dropped.
	Recorded bool

	id       string
	reviewer act.Reviewer
	chain    *chain
	denied   map[string]bool // calls that the policy denied
	calls    int
}

// lenient returns an empty history in which choices count without a signature: no agent writes it.
func lenient() *history.State {
	h := history.New()
	h.Lenient = true
	return h
}

// Start begins a rehearsal of the session id; empty: the events' own.
func Start(id string, c engine.Classifier, p *review.Policy, env engine.Env) *Rehearsal {
	log := &chain{id: chainID(id), history: lenient()}
	r := act.Reviewer{
		Policy:     func(string) (*review.Policy, error) { return p, nil },
		Classifier: c, Log: log, Env: env,
		Services: act.Services{Files: saved{}},
		Clock:    act.Clock{Now: func() int64 { return log.history.T }}, // an event without a time has the time of the one before it
	}
	return &Rehearsal{id: id, reviewer: r, chain: log, denied: map[string]bool{}}
}

// Next evaluates the next event. The result of a call that the policy denied is dropped,
// because under this policy there would be none; see Recorded.
func (r *Rehearsal) Next(ctx context.Context, e engine.Event) (a Action, happened bool) {
	if r.id != "" {
		e.Session = r.id
	}
	if e.Phase == engine.PhasePost && r.denied[e.Call] && !r.Recorded {
		return Action{}, false
	}
	a = r.handle(ctx, e)
	if e.Phase == engine.PhasePre {
		a.Index = r.calls
		r.calls++
		r.denied[e.Call] = e.Call != "" && a.Enforced == engine.Block
	}
	return a, true
}

// PretendCheckpoints lets the session have checkpoints: the policy finds one before each
// call for which it wants one. No file is stored or restored.
func (r *Rehearsal) PretendCheckpoints() { r.reviewer.Services.Files = &pretended{} }

// AnswerEarly answers calls before their review where the policy says so (mode: async), as a
// resident process does. Their review is made when the next event comes.
func (r *Rehearsal) AnswerEarly() { r.reviewer.Services.Late = &act.LateReviews{Lazy: true} }

// Control records at time t (Unix milliseconds) what a person chose, as the
// command line would. It returns an error if no event came before: the session
// does not exist yet.
func (r *Rehearsal) Control(t int64, c engine.Control) error {
	if r.chain.history.Empty() {
		return errors.New("a person can only act on a session that has events, and this one has none yet")
	}
	return r.chain.append(&engine.Record{Kind: engine.KindControl, T: max(t, r.chain.history.T), Control: &c})
}

// Records returns the chain as it would have been written, beginning with its open record.
func (r *Rehearsal) Records() []*engine.Record { return r.chain.records }

func (r *Rehearsal) mask(s string) string { return r.reviewer.Classifier.Mask(s) }

// handle reads the result of an event from the chain.
func (r *Rehearsal) handle(ctx context.Context, e engine.Event) Action {
	before := len(r.chain.records)
	answer, err := r.reviewer.Handle(ctx, e)
	a := Action{Session: r.mask(e.Session), Call: r.mask(e.Call), Tool: r.mask(e.Tool), Decision: answer.Effect, Enforced: answer.Effect,
		Rules: []string{}}
	if err != nil {
		a.Error = r.mask(err.Error())
		return a
	}
	for _, rec := range r.chain.records[before:] {
		if rec.Phase == e.Phase && rec.Answer != nil {
			a.read(rec)
		}
	}
	if answer.Effect == engine.Block {
		a.Enforced = engine.Block // files were restored, and the call does not run
	}
	return a
}

func (a *Action) read(rec *engine.Record) {
	a.Record, a.Enforced, a.Error = rec, rec.Answer.Effect, rec.Answer.Failure
	if d := rec.Decision; d != nil {
		a.Decision, a.Rules, a.Reason = d.Decision, d.RuleIDs(), d.Reason
	}
}

// chain is a act.Log of one session that is never written.
type chain struct {
	id      string
	history *history.State
	records []*engine.Record
}

// chainID is derived from the session's id, so that the same simulation has the same ids.
func chainID(session string) string {
	sum := sha256.Sum256([]byte("simulated " + session))
	return hex.EncodeToString(sum[:16])
}

// Update implements act.Log.
func (c *chain) Update(_ context.Context, _ *review.Policy, _ engine.SessionKey, fn func(history.Tail) error) error {
	return fn(history.Tail{History: c.history, Append: c.append, Read: c.read, Before: c.before})
}

// before implements history.Tail.Before.
func (c *chain) before(n int64) (*history.State, error) {
	if n < 1 || n > int64(len(c.records)) {
		return nil, fmt.Errorf("record %d is not in the simulated chain", n)
	}
	h := lenient()
	for _, r := range c.records[:n-1] {
		h.Append(r)
	}
	return h, nil
}

// Workspace implements act.Log.
func (c *chain) Workspace(engine.SessionKey) (workspace string, began int64, err error) {
	return c.history.Workspace, c.history.Started, nil
}

func (c *chain) append(r *engine.Record) error {
	r.V, r.N, r.Chain = engine.FormatVersion, c.history.N+1, c.id
	c.history.Append(r)
	c.records = append(c.records, r)
	return nil
}

func (c *chain) read(n int64) (*engine.Record, error) {
	if n < 1 || n > int64(len(c.records)) {
		return nil, fmt.Errorf("record %d is not in the simulated chain", n)
	}
	return c.records[n-1], nil
}
