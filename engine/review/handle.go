package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// Log keeps the records.
type Log interface {
	// Update calls fn under the session's lock, and starts a new chain if the
	// session has none.
	Update(ctx context.Context, key engine.SessionKey, fn func(history.Tail) error) error
	// Workspace returns the workspace that the session's chain was opened
	// with, and when that was, without locking; empty if there is no chain yet.
	Workspace(key engine.SessionKey) (workspace string, began int64, err error)
}

// Reviewer reviews the events of agents: the only code of the package that has side effects,
// all of them through its fields.
type Reviewer struct {
	Policy     func(workspace string) (*Policy, error)
	Classifier engine.Classifier
	Log        Log
	Env        engine.Env
	Now        func() int64              // Unix milliseconds
	Elapsed    func() float64            // milliseconds since the event was received
	CPU        func() float64            // milliseconds of CPU time since then; nil: it is not measured
	Mask       func(text string) string  // masks secrets in error texts
	Request    func(engine.Event) string // latest words of a person, raw; empty: unknown. nil: they are never read
	Stops      Stops                     // nil: a stop does not apply to other sessions
	Files      Files                     // nil: no checkpoints are taken
	Late       *LateReviews              // nil: no call is answered before its review
	Channels   engine.Channels           // the ways that the agent supports; nil: all
	Questions  Questions                 // nil: no question waits for a person outside the agent

	// LateReviewed gets the record of a review that was made after its answer; nil: nobody does.
	LateReviewed func(engine.SessionKey, *engine.Record)

	// Runs reports whether the client of a session still runs; nil: none does.
	Runs func(*engine.Client) bool

	SubTasks func(engine.Event) []engine.SubTask // the agent's own list, raw; nil: it is never read

	// Usage returns the tokens since the previous event, given what that event recorded; nil:
	// unknown. It is called under the session's lock, so that no token is counted twice.
	Usage func(e engine.Event, before *engine.Usage) *engine.Usage
}

// maxID limits the length of the ids that an agent gives: they are copied into
// each record.
const maxID = 128

// Handle reviews one event, records it, and returns the answer. It always
// returns an answer: if anything fails before a tool call, the answer is a
// denial. The error describes what failed; the answer already takes it into account.
func (r *Reviewer) Handle(ctx context.Context, e engine.Event) (engine.Answer, error) {
	// Ids are keys of the log: a secret in one is masked the same way each
	// time.
	e.Session, e.Agent, e.Call = r.mask(e.Session), r.mask(e.Agent), r.mask(e.Call)
	answer, err := r.handle(ctx, e)
	for tries := 0; tries < 3 && (errors.Is(err, errWorkspaceChanged) || errors.Is(err, errTerminalChanged)); tries++ {
		answer, err = r.handle(ctx, e)
	}
	if err != nil {
		return engine.Degraded(e.Phase, r.mask(err.Error())), err
	}
	return answer, nil
}

// errWorkspaceChanged means that another hook opened the session in another workspace
// between the first look and the lock: the facts must be recomputed.
var errWorkspaceChanged = errors.New("the session was opened in another workspace in the meantime")

// errTerminalChanged means that another call typed into a terminal meanwhile.
var errTerminalChanged = errors.New("another call typed into a terminal in the meantime")

func (r *Reviewer) mask(s string) string {
	if r.Mask == nil {
		return s
	}
	return r.Mask(s)
}

func (r *Reviewer) handle(ctx context.Context, e engine.Event) (engine.Answer, error) {
	if err := checkIDs(e); err != nil {
		return engine.Answer{}, err
	}
	key := engine.SessionKey{Harness: e.Harness, Session: e.Session}
	workspace, began, err := r.workspace(key, e)
	if err != nil {
		return engine.Answer{}, err
	}
	e.Began = began
	h := &review{workspace: workspace}
	var unloaded error
	h.policy, unloaded = r.Policy(workspace)
	if e, err = r.from(ctx, key, e, h.policy); err != nil {
		return engine.Answer{}, err
	}
	h.event = read(e, h.policy)
	h.rec, h.failure = r.classify(ctx, h.event, workspace, h.policy)
	if h.failure == nil && unloaded != nil && e.Phase.Reviewed() {
		h.failure = fmt.Errorf("load policy: %w", unloaded)
	}
	if err := r.typed(ctx, key, h); err != nil {
		return engine.Answer{}, err
	}
	var answer engine.Answer
	err = r.Log.Update(ctx, key, func(t history.Tail) error {
		answer, err = r.answer(ctx, t, h)
		return err
	})
	r.lateReviewed(key, h.made)
	answer.Early = h.ahead != nil
	if h.policy != nil && e.Phase == engine.PhaseStart {
		answer.Person = h.policy.Notice
	}
	answer.Person = strings.Trim(answer.Person+"\n"+r.clients().notice(e), "\n")
	if err == nil && answer.Mode != engine.ModeDuplicate {
		answer.Text = r.quote(h, answer.Text)
	}
	if err != nil {
		return answer, err
	}
	r.later(key, h)
	if h.asked != nil {
		if answer, err = r.wait(ctx, key, h, answer); err != nil || answer.Effect == engine.Block {
			return answer, err
		}
	}
	return r.files(ctx, key, h, answer)
}

func (r *Reviewer) clients() clients { return clients{r.Runs, r.mask, r.Now} }

// from compares the process that sent a prompt, or the start of a session, with the session's client, before the text
// is read. A prompt of any other process is recorded as a note, and does not count as a person's.
func (r *Reviewer) from(ctx context.Context, key engine.SessionKey, e engine.Event, p *Policy) (engine.Event, error) {
	if e.Client == nil || e.Phase != engine.PhasePrompt && e.Phase != engine.PhaseStart {
		return e, nil
	}
	by := *e.Client
	if by.Headless && p != nil && p.Headless {
		by.Missing = ""
	}
	err := r.Log.Update(ctx, key, func(t history.Tail) error {
		if t.History.Empty() {
			return nil
		}
		if by.Missing == "" {
			by.Missing = r.clients().strange(t.History.Client, &by)
		}
		return r.clients().follow(t, &by)
	})
	e.Client = &by
	if e.Phase == engine.PhasePrompt && by.Missing != "" {
		e.Phase = engine.PhaseOther
		e.Unverified = notAPerson + r.mask(by.Missing)
	}
	return e, err
}

// files does what must be done about the files of a call, without the session's lock.
// The changes of a call are recorded before files are restored: they are the
// session's.
func (r *Reviewer) files(ctx context.Context, key engine.SessionKey, h *review, answer engine.Answer) (engine.Answer, error) {
	var err error
	if r.Files != nil && h.duty != nil && h.duty.after {
		if err := r.observe(ctx, key, h); err != nil {
			return answer, err
		}
	}
	if h.back != nil {
		if answer, err = r.goBack(ctx, key, h, answer); err != nil {
			return answer, err
		}
	}
	if r.Files == nil || h.duty == nil || h.duty.after || h.back != nil && answer.Effect == engine.Block {
		return answer, nil
	}
	return r.keep(ctx, key, h, answer)
}

// typed recomputes the facts of a call that types into a terminal, with what
// the session has typed there before: the line that the call ends is the sum of
// both.
func (r *Reviewer) typed(ctx context.Context, key engine.SessionKey, h *review) error {
	if !types(h.rec) {
		return nil
	}
	err := r.Log.Update(ctx, key, func(t history.Tail) error {
		h.event.Terminals = t.History.Terminals
		return nil
	})
	if err == nil && h.event.Terminals != nil {
		h.rec, h.failure = r.classify(ctx, h.event, h.workspace, h.policy)
	}
	return err
}

// types reports whether a call types into a terminal.
func types(rec *engine.Record) bool {
	return rec.Phase == engine.PhasePre && rec.Action != nil && rec.Action.Terminals != nil
}

// read returns an event with the policy's settings for how it is read. Without
// a policy it is unknown what may be kept.
func read(e engine.Event, p *Policy) engine.Event {
	e.Redact = engine.PersonalKinds()
	if p != nil {
		e.Redact, e.Rows = p.Redact, p.Rows
	}
	return e
}

// review is an event on its way to an answer.
type review struct {
	event     engine.Event
	workspace string
	policy    *Policy
	rec       *engine.Record
	failure   error // why the event cannot be reviewed
	duty      *duty // what must be done about the files of the call; nil: nothing
	back      *goesBack
	ahead     *ahead         // it was answered before its review; nil: it was not
	asked     *engine.Record // the record of the call whose question waits; nil: none does
	made      *engine.Record // of an earlier call's review, which was missing; nil: none was
}

func checkIDs(e engine.Event) error {
	if e.Session == "" {
		return errors.New("the event names no session")
	}
	for what, id := range map[string]string{"session": e.Session, "agent": e.Agent, "call": e.Call, "harness": e.Harness} {
		if len(id) > maxID {
			return fmt.Errorf("%s id is %d bytes long, at most %d", what, len(id), maxID)
		}
	}
	return nil
}

// workspace is fixed when the chain is opened: a hook's working directory
// follows `cd`, which would let an agent move the workspace around its target.
func (r *Reviewer) workspace(key engine.SessionKey, e engine.Event) (workspace string, began int64, err error) {
	pinned, began, err := r.Log.Workspace(key)
	if err != nil || pinned != "" {
		return pinned, began, err
	}
	if e.Project != "" {
		return e.Project, began, nil
	}
	return e.CWD, began, nil
}

// classify makes the record of an event, without what only the lock can give.
// If the event cannot be classified, the record reports this.
func (r *Reviewer) classify(ctx context.Context, e engine.Event, workspace string, p *Policy) (*engine.Record, error) {
	t := e.Time
	if t == 0 {
		t = r.Now()
	}
	facts, err := r.facts(ctx, e, workspace, p)
	if err != nil {
		name, tool := engine.ClipJSON(r.mask(e.Name), maxID), engine.ClipJSON(r.mask(e.Tool), maxID)
		return engine.NewRecord(e, engine.Facts{Event: engine.EventFacts{Name: name, Tool: tool}}, t), fmt.Errorf("classify: %w", err)
	}
	return engine.NewRecord(e, facts, t), nil
}

// facts classifies an event and adds what the policy's detectors find in it.
func (r *Reviewer) facts(ctx context.Context, e engine.Event, workspace string, p *Policy) (engine.Facts, error) {
	f, err := r.Classifier.Classify(ctx, e, workspace)
	if err == nil && f.Action != nil && p != nil && p.Detector != nil {
		f.Action.Detected = p.Detector.Detect(e)
	}
	return f, err
}

// answer runs under the session's lock.
func (r *Reviewer) answer(ctx context.Context, t history.Tail, h *review) (engine.Answer, error) {
	rec := h.rec
	if t.History.Empty() {
		if err := t.Append(r.opening(rec, h)); err != nil {
			return engine.Answer{}, err
		}
	} else if pinned := t.History.Workspace; pinned != "" && pinned != r.mask(h.workspace) && pinned != h.workspace {
		return engine.Answer{}, errWorkspaceChanged
	}
	if err := r.clients().follow(t, h.event.Client); err != nil {
		return engine.Answer{}, err
	}
	if types(rec) && !t.History.Terminals.Equal(h.event.Terminals) {
		return engine.Answer{}, errTerminalChanged
	}
	var err error
	if h.made, err = r.catchUp(ctx, t, h.policy); err != nil {
		return engine.Answer{}, err
	}
	identify(t, h)
	if n := t.History.Recorded(rec.Agent, rec.Call, rec.Phase); n > 0 {
		first, err := t.Read(n)
		if err != nil {
			return engine.Answer{}, fmt.Errorf("read the recorded answer: %w", err)
		}
		if first.ArgsMAC() == rec.ArgsMAC() {
			return r.again(ctx, t, h, first)
		}
	}
	return r.first(ctx, t, h)
}

// readsUsage reports whether tokens are counted at a phase: one at which the agent can
// be told about them, or one that ends what they are counted for.
func readsUsage(p engine.Phase) bool { return p.Reviewed() && p != engine.PhaseBatch }

// first answers an event that was not answered before.
func (r *Reviewer) first(ctx context.Context, t history.Tail, h *review) (engine.Answer, error) {
	var args json.RawMessage
	h.rec.ClampTime(t.History.T)
	if r.Usage != nil && readsUsage(h.event.Phase) {
		h.rec.Event.Usage = r.Usage(h.event, t.History.Usage)
	}
	if err := r.takes(t, h); err != nil {
		return engine.Answer{}, err
	}
	switch {
	case h.failure != nil:
	case h.rec.Phase == engine.PhaseRequest:
		r.requested(ctx, t, h)
	default:
		args, h.failure = r.review(ctx, t, h)
	}
	if h.failure != nil {
		h.rec.Answer = r.failed(h.rec.Phase, h.failure)
		r.measure(h.rec.Answer, h.policy)
	}
	stopped := t.History.Stop != nil
	if err := t.Append(h.rec); err != nil {
		return engine.Answer{}, err
	}
	if !stopped {
		if err := r.act(t, h.rec); err != nil {
			return engine.Answer{}, err
		}
	}
	answer := engine.AnswerOf(h.rec)
	answer.Args = args
	h.duty, h.back, h.asked = r.dutyOf(t, h.rec), r.goesBackOf(t, h.rec), r.askedBy(h.rec)
	return answer, nil
}

func (r *Reviewer) opening(rec *engine.Record, h *review) *engine.Record {
	env := r.Env
	return &engine.Record{Kind: engine.KindOpen, T: rec.T, Session: rec.Session, Harness: rec.Harness,
		Open: &engine.Open{Workspace: r.mask(h.workspace), Env: &env, Client: r.clients().masked(h.event.Client)}}
}

// again answers a call that was answered before: the hook is installed twice.
func (r *Reviewer) again(ctx context.Context, t history.Tail, h *review, first *engine.Record) (engine.Answer, error) {
	rec := h.rec
	note := &engine.Record{Kind: engine.KindNote, T: rec.T, Agent: rec.Agent, Call: rec.Call, Phase: rec.Phase,
		Note: &engine.Note{What: "duplicate"}}
	note.ClampTime(t.History.T)
	answer := engine.AnswerOf(first)
	answer.Mode = engine.ModeDuplicate
	if answer.Effect == engine.Modify {
		var err error
		if answer.Args, err = r.repeat(ctx, h, first); err != nil {
			return engine.Answer{}, err
		}
	}
	if first.Phase == engine.PhasePre {
		h.duty = r.dutyOf(t, first)
	}
	h.back, h.asked = r.goesBackOf(t, first), r.askedBy(first)
	note.Answer = &engine.AnswerFacts{Effect: answer.Effect, Mode: engine.ModeDuplicate, Of: first.ID()}
	return answer, t.Append(note)
}

// review lets policy decide. It returns the raw arguments of a call that is to
// run in a modified form.
func (r *Reviewer) review(ctx context.Context, t history.Tail, h *review) (json.RawMessage, error) {
	rec, p := h.rec, h.policy
	if !rec.Phase.Reviewed() {
		return nil, nil
	}
	v, err := r.decide(ctx, t, h)
	rec.By = &engine.By{Policy: p.Digest, Config: p.Config, Env: r.Env.Digest(), Detectors: p.Detectors, Rows: p.rowsDigest()}
	rec.SHA = &v.SHA
	if err != nil {
		return nil, err
	}
	rec.Findings, rec.Decision, rec.Source = v.Findings, &v.Decision, v.Decision.Source
	rec.Answer = r.answerFacts(rec, t.History, p)
	var args json.RawMessage
	if rec.Decision.Enforced == engine.Modify {
		args = r.rework(ctx, t, h)
	}
	if r.queues(rec, p) {
		r.enqueue(t.History, rec, p)
	}
	if rec.Answer.Pending == nil {
		r.fit(rec)
	}
	return args, nil
}

func (r *Reviewer) answerFacts(rec *engine.Record, before *history.State, p *Policy) *engine.AnswerFacts {
	d := rec.Decision
	a := &engine.AnswerFacts{Effect: d.Enforced, Mode: engine.ModeEnforced, MS: r.lap(), Approvals: before.Approvals(rec)}
	r.measure(a, p)
	if d.Enforced != d.Decision {
		a.Mode = engine.ModeObserve
	}
	return a
}

func (r *Reviewer) lap() float64 {
	if r.Elapsed == nil {
		return 0
	}
	return float64(int64(r.Elapsed()*100)) / 100
}

func (r *Reviewer) failed(p engine.Phase, err error) *engine.AnswerFacts {
	failure := engine.ClipJSON(r.mask(err.Error()), 480)
	return &engine.AnswerFacts{Effect: engine.Degraded(p, failure).Effect, Mode: engine.ModeDegraded, MS: r.lap(), Failure: failure}
}

// act carries out the intervention that the decision asks for.
func (r *Reviewer) act(t history.Tail, rec *engine.Record) error {
	if rec.Decision == nil || !rec.Decision.Stops() {
		return nil
	}
	return t.Append(&engine.Record{Kind: engine.KindAct, T: rec.T, Agent: rec.Agent, Call: rec.Call,
		Act: &engine.Act{Kind: engine.EmergencyStop, Of: rec.ID(), Result: rec.Decision.Intervention.Reason}})
}

// measure notes the CPU time of a review, and whether it is more than the policy expects. It
// never changes an answer: load is not a reason to deny.
func (r *Reviewer) measure(a *engine.AnswerFacts, p *Policy) {
	if r.CPU == nil {
		return
	}
	ms := r.CPU()
	a.CPU = math.Floor(ms*100) / 100
	a.Slow = p != nil && p.MaxCPU > 0 && ms > p.MaxCPU
}
