package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Classifier says what an event means, seen from the session's workspace, and
// puts a call in another form.
type Classifier interface {
	Classify(ctx context.Context, e Event, workspace string) (Facts, error)
	// Rewrite returns the call's raw arguments after the operations. An error
	// says which of them does not fit the call.
	Rewrite(ctx context.Context, e Event, workspace string, ops []Operation) (json.RawMessage, error)
}

// SessionKey names a session.
type SessionKey struct{ Harness, Session string }

// Tail is the end of a session's chain while its lock is held.
type Tail struct {
	History *History                       // everything folded; Append keeps it up to date
	Append  func(*Record) error            // completes v, prev, n and chain, writes the line, folds it
	Read    func(n int64) (*Record, error) // an earlier record
}

// Log keeps the records.
type Log interface {
	// Update calls fn under the session's lock, with a new chain begun where
	// the session has none.
	Update(ctx context.Context, key SessionKey, fn func(Tail) error) error
	// Workspace returns the workspace that the session's chain was opened
	// with, without locking; empty where there is no chain yet.
	Workspace(key SessionKey) (string, error)
}

// Reviewer reviews the events of agents: the only code of the package that
// causes effects, all of them through its fields.
type Reviewer struct {
	Policy     func(workspace string) (*Policy, error)
	Classifier Classifier
	Log        Log
	Env        Env
	Now        func() int64             // Unix milliseconds
	Lap        func() float64           // milliseconds since the event was received
	Mask       func(text string) string // takes secrets out of error texts
}

// maxID bounds the ids that an agent gives: they are copied into each record.
const maxID = 128

// Handle reviews one event, records it, and returns the answer. It always
// returns an answer: where anything fails before a tool call, that is a
// denial. The error says what failed; the answer already takes it into account.
func (r *Reviewer) Handle(ctx context.Context, e Event) (Answer, error) {
	// Ids are keys of the log: the same secret in one is masked alike each time.
	e.Session, e.Agent, e.Call = r.mask(e.Session), r.mask(e.Agent), r.mask(e.Call)
	answer, err := r.handle(ctx, e)
	if errors.Is(err, errOpened) {
		answer, err = r.handle(ctx, e)
	}
	if err != nil {
		return Degraded(e.Phase, r.mask(err.Error())), err
	}
	return answer, nil
}

// Degraded is the answer to an event that could not be reviewed: a denial
// where there is still something to deny, else silence. This is the one place
// that decides so.
func Degraded(p Phase, failure string) Answer {
	if p != PhasePre {
		return Answer{Effect: Allow, Mode: ModeDegraded}
	}
	text := "reviewer could not review this call, so it does not run: " + failure +
		". Run `reviewer doctor` in a terminal to see what is wrong; do not try to get around it."
	return Answer{Effect: Block, Mode: ModeDegraded, Text: text}
}

// errOpened says that another hook opened the session in another workspace
// between the look at it and the lock: the facts have to be made again.
var errOpened = errors.New("the session was opened in another workspace meanwhile")

func (r *Reviewer) mask(s string) string {
	if r.Mask == nil {
		return s
	}
	return r.Mask(s)
}

func (r *Reviewer) handle(ctx context.Context, e Event) (Answer, error) {
	if err := checkIDs(e); err != nil {
		return Answer{}, err
	}
	key := SessionKey{e.Harness, e.Session}
	workspace, err := r.workspace(key, e)
	if err != nil {
		return Answer{}, err
	}
	h := &hearing{event: e, workspace: workspace}
	h.policy, err = r.Policy(workspace)
	h.rec, h.failure = r.classify(ctx, e, workspace, h.policy)
	if h.failure == nil && err != nil && e.Phase.Reviewed() {
		h.failure = fmt.Errorf("load policy: %w", err)
	}
	var answer Answer
	err = r.Log.Update(ctx, key, func(t Tail) error {
		answer, err = r.answer(ctx, t, h)
		return err
	})
	return answer, err
}

// hearing is an event on its way to an answer.
type hearing struct {
	event     Event
	workspace string
	policy    *Policy
	rec       *Record
	failure   error // why it cannot be reviewed
}

func checkIDs(e Event) error {
	if e.Session == "" {
		return errors.New("event names no session")
	}
	for what, id := range map[string]string{"session": e.Session, "agent": e.Agent, "call": e.Call, "harness": e.Harness} {
		if len(id) > maxID {
			return fmt.Errorf("%s id is %d bytes long, at most %d", what, len(id), maxID)
		}
	}
	return nil
}

// workspace is pinned when the chain is opened: a hook's working directory
// follows `cd`, and would let an agent move the workspace under its target.
func (r *Reviewer) workspace(key SessionKey, e Event) (string, error) {
	pinned, err := r.Log.Workspace(key)
	if err != nil || pinned != "" {
		return pinned, err
	}
	if e.Project != "" {
		return e.Project, nil
	}
	return e.CWD, nil
}

// classify makes the record of an event, without what only the lock can give.
// Where nothing can be made of the event, that is what is recorded of it.
func (r *Reviewer) classify(ctx context.Context, e Event, workspace string, p *Policy) (*Record, error) {
	t := e.Time
	if t == 0 {
		t = r.Now()
	}
	facts, err := r.facts(ctx, e, workspace, p)
	if err != nil {
		name, tool := clipJSON(r.mask(e.Name), maxID), clipJSON(r.mask(e.Tool), maxID)
		return NewRecord(e, Facts{Event: EventFacts{Name: name, Tool: tool}}, t), fmt.Errorf("classify: %w", err)
	}
	return NewRecord(e, facts, t), nil
}

// facts says what an event means, with what the policy's detectors find in it.
func (r *Reviewer) facts(ctx context.Context, e Event, workspace string, p *Policy) (Facts, error) {
	e.Redact = PersonalKinds() // nothing is known of what may be kept
	if p != nil {
		e.Redact = p.Redact
	}
	f, err := r.Classifier.Classify(ctx, e, workspace)
	if err == nil && f.Action != nil && p != nil && p.Detector != nil {
		f.Action.Detected = p.Detector.Detect(e)
	}
	return f, err
}

// NewRecord makes the record of an event from its facts. What only the chain
// can give (number, previous hash, chain) and the decision are still missing.
func NewRecord(e Event, f Facts, t int64) *Record {
	rec := &Record{
		Kind: kindOf(e.Phase), T: t, Session: e.Session, Agent: e.AgentName(), Call: e.Call,
		Harness: e.Harness, Phase: e.Phase, Event: &f.Event, Action: f.Action, Cut: f.Cut,
	}
	if f.Args != "" {
		rec.SHA = &SHA{Args: f.Args}
	}
	return rec
}

func kindOf(p Phase) Kind {
	switch p {
	case PhasePre:
		return KindPre
	case PhasePost:
		return KindPost
	case PhasePrompt:
		return KindPrompt
	case PhaseStop:
		return KindStop
	}
	return KindNote
}

// answer runs under the session's lock.
func (r *Reviewer) answer(ctx context.Context, t Tail, h *hearing) (Answer, error) {
	rec := h.rec
	if t.History.Empty() {
		if err := t.Append(r.opening(rec, h.workspace)); err != nil {
			return Answer{}, err
		}
	} else if pinned := t.History.Workspace; pinned != "" && pinned != r.mask(h.workspace) && pinned != h.workspace {
		return Answer{}, errOpened
	}
	if n := t.History.Recorded(rec.Agent, rec.Call, rec.Phase); n > 0 {
		first, err := t.Read(n)
		if err != nil {
			return Answer{}, fmt.Errorf("read the recorded answer: %w", err)
		}
		if first.args() == rec.args() {
			return r.again(ctx, t, h, first)
		}
	}
	return r.first(ctx, t, h)
}

// first answers an event that was not answered before.
func (r *Reviewer) first(ctx context.Context, t Tail, h *hearing) (Answer, error) {
	var args json.RawMessage
	h.rec.Stamp(t.History.T)
	if h.failure == nil {
		args, h.failure = r.review(ctx, t, h)
	}
	if h.failure != nil {
		h.rec.Answer = r.failed(h.rec.Phase, h.failure)
	}
	if err := t.Append(h.rec); err != nil {
		return Answer{}, err
	}
	if err := r.act(t, h.rec); err != nil {
		return Answer{}, err
	}
	answer := AnswerOf(h.rec)
	answer.Args = args
	return answer, nil
}

func (r *Reviewer) opening(rec *Record, workspace string) *Record {
	env := r.Env
	return &Record{Kind: KindOpen, T: rec.T, Session: rec.Session, Harness: rec.Harness,
		Open: &Open{Workspace: r.mask(workspace), Env: &env}}
}

// Stamp keeps time from running backwards within a chain, whose latest record
// has the time given.
func (r *Record) Stamp(latest int64) {
	if r.T < latest {
		r.Skew, r.T = latest-r.T, latest
	}
}

// args tells calls apart that bear the same id: another one is not answered
// with what was said of the first.
func (r *Record) args() string {
	if r.SHA == nil {
		return ""
	}
	return r.SHA.Args
}

// again answers a call that was answered before: the hook is installed twice.
func (r *Reviewer) again(ctx context.Context, t Tail, h *hearing, first *Record) (Answer, error) {
	rec := h.rec
	note := &Record{Kind: KindNote, T: rec.T, Agent: rec.Agent, Call: rec.Call, Phase: rec.Phase, Note: &Note{What: "duplicate"}}
	note.Stamp(t.History.T)
	answer := AnswerOf(first)
	answer.Mode = ModeDuplicate
	if answer.Effect == Modify {
		var err error
		if answer.Args, err = r.repeat(ctx, h, first); err != nil {
			return Answer{}, err
		}
	}
	note.Answer = &AnswerFacts{Effect: answer.Effect, Mode: ModeDuplicate, Of: first.ID()}
	return answer, t.Append(note)
}

// Reviewed says whether policy is asked about a phase.
func (p Phase) Reviewed() bool {
	return p == PhasePre || p == PhasePost || p == PhaseBatch || p == PhasePrompt || p == PhaseStop
}

// review lets policy decide. What it returns is the raw arguments of a call
// that is to run in another form.
func (r *Reviewer) review(ctx context.Context, t Tail, h *hearing) (json.RawMessage, error) {
	rec, p := h.rec, h.policy
	if !rec.Phase.Reviewed() {
		return nil, nil
	}
	v, err := p.Review(ctx, rec, t.History)
	rec.By = &By{Policy: p.Digest, Config: p.Config, Env: r.Env.Digest(), Detectors: p.Detectors}
	rec.SHA = &v.SHA
	if err != nil {
		return nil, err
	}
	rec.Findings, rec.Decision, rec.Source = v.Findings, &v.Decision, v.Decision.Source
	rec.Answer = r.answerFacts(rec, t.History)
	if rec.Decision.Enforced == Modify {
		return r.rework(ctx, t, h), nil
	}
	return nil, nil
}

func (r *Reviewer) answerFacts(rec *Record, before *History) *AnswerFacts {
	d := rec.Decision
	a := &AnswerFacts{Effect: d.Enforced, Mode: ModeEnforced, MS: r.lap(), Approvals: before.approvals(rec)}
	if d.Enforced != d.Decision {
		a.Mode = ModeObserve
	}
	for _, o := range d.Obligations {
		if a.Obligations == nil {
			a.Obligations = map[string]string{}
		}
		a.Obligations[o] = "unavailable"
	}
	return a
}

func (r *Reviewer) lap() float64 {
	if r.Lap == nil {
		return 0
	}
	return float64(int64(r.Lap()*100)) / 100
}

func (r *Reviewer) failed(p Phase, err error) *AnswerFacts {
	failure := clipJSON(r.mask(err.Error()), 480)
	return &AnswerFacts{Effect: Degraded(p, failure).Effect, Mode: ModeDegraded, MS: r.lap(), Failure: failure}
}

// act carries out the intervention that the decision asks for.
func (r *Reviewer) act(t Tail, rec *Record) error {
	if rec.Decision == nil || !rec.Decision.Stops() || t.History.Stop != nil {
		return nil
	}
	return t.Append(&Record{Kind: KindAct, T: rec.T, Agent: rec.Agent, Call: rec.Call,
		Act: &Act{Kind: EmergencyStop, Of: rec.ID(), Result: rec.Decision.Intervention.Reason}})
}

// AnswerOf returns the answer that a record holds: the same words whether it is
// sent for the first time or again.
func AnswerOf(r *Record) Answer {
	if r.Answer == nil {
		return Answer{ID: r.ID(), Effect: Allow, Mode: ModeEnforced}
	}
	a := Answer{ID: r.ID(), Effect: r.Answer.Effect, Mode: r.Answer.Mode}
	if r.Decision == nil {
		a.Text = Degraded(r.Phase, r.Answer.Failure).Text
		return a
	}
	a.Text = r.text()
	a.Grant = r.Decision.Grant && r.Decision.Decision == Allow // never for what policy merely watches
	a.Stop = r.Decision.Stops()
	return a
}

// text is what the agent is told, with what only the record knows filled in.
func (r *Record) text() string {
	text, form := r.Decision.Text, r.Rewritten
	if form != nil && form.Failure != "" && r.Decision.Otherwise != nil {
		text = strings.ReplaceAll(r.Decision.Otherwise.Text, "{why}", form.Failure)
	}
	if form != nil && form.Action != nil {
		text = strings.ReplaceAll(text, "{form}", form.Action.Resource)
	}
	return strings.ReplaceAll(text, "{id}", r.ID())
}
