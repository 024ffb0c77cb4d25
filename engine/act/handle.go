package act

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

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

func (r *Reviewer) handle(ctx context.Context, e engine.Event) (engine.Answer, error) {
	h, err := r.understand(ctx, e)
	if err != nil {
		return engine.Answer{}, err
	}
	var answer engine.Answer
	err = r.Log.Update(ctx, h.policy, h.key, func(t history.Tail) error {
		answer, err = r.answer(ctx, t, h)
		return err
	})
	r.lateReviewed(h.policy, h.key, h.made)
	answer.Early = h.early != nil
	if h.policy != nil && e.Phase == engine.PhaseStart {
		answer.Person = h.policy.Notice
	}
	answer.Person = strings.Trim(answer.Person+"\n"+r.clients().notice(h.event), "\n")
	if err == nil {
		answer, err = r.carryOut(ctx, h, answer)
	}
	if err != nil && h.recorded {
		err = errors.Join(err, r.notCarriedOut(ctx, h, err))
	}
	if err != nil {
		return answer, err
	}
	if r.Services.Answered != nil {
		r.Services.Answered(h.policy, h.key, answer)
	}
	return answer, nil
}

// notCarriedOut records that a duty failed, and with which answer instead of the recorded one.
func (r *Reviewer) notCarriedOut(ctx context.Context, h *handling, failure error) error {
	answer := r.failed(h.rec.Phase, failure)
	rec := &engine.Record{Kind: engine.KindNote, T: h.rec.T, Agent: h.rec.Agent, Call: h.rec.Call, Phase: h.rec.Phase,
		Note: &engine.Note{What: engine.NoteDutyFailed, Detail: answer.Failure}, Answer: answer}
	return r.Log.Update(context.WithoutCancel(ctx), h.policy, h.key, func(t history.Tail) error {
		rec.ClampTime(t.History.T)
		return t.Append(rec)
	})
}

// understand finds out what an event means, and under which policy it is decided. A failure to do so is part of the result,
// since it is recorded; an error means that nothing can be.
func (r *Reviewer) understand(ctx context.Context, e engine.Event) (*handling, error) {
	if err := checkIDs(e); err != nil {
		return nil, err
	}
	h := &handling{key: engine.SessionKey{Harness: e.Harness, Session: e.Session}}
	var err error
	if h.workspace, e.Began, err = r.workspace(h.key, e); err != nil {
		return nil, err
	}
	var unloaded error
	h.policy, unloaded = r.Policy(h.workspace)
	if e, err = r.from(ctx, h.key, e, h.policy); err != nil {
		return nil, err
	}
	h.event = read(e, h.policy)
	if h.policy != nil && h.policy.Settings.Instructions.Mode == instructionsRead {
		if h.event.Instructions = e.Phase == engine.PhaseStart; !h.event.Instructions && e.Began == 0 {
			h.standing = r.standing(ctx, h)
		}
	}
	h.rec, h.failure = r.classify(ctx, h.event, h.workspace, h.policy)
	if h.failure == nil && unloaded != nil && e.Phase.Reviewed() {
		h.failure = fmt.Errorf("load policy: %w", unloaded)
	}
	return h, r.typed(ctx, h)
}

func (r *Reviewer) clients() clients { return clients{r.Agent.Runs, r.mask, r.Clock.Now} }

// from compares the process that sent a prompt, or the start of a session, with the session's client, before the text
// is read. A prompt of any other process is recorded as a note, and does not count as a person's.
func (r *Reviewer) from(ctx context.Context, key engine.SessionKey, e engine.Event, p *review.Policy) (engine.Event, error) {
	if e.Asked != nil {
		return r.asked(ctx, key, e, p)
	}
	if e.Client == nil || e.Phase != engine.PhasePrompt && e.Phase != engine.PhaseStart {
		return e, nil
	}
	by := *e.Client
	if by.Headless && p != nil && p.Settings.Words.Headless == headlessPermits {
		by.Missing = ""
	}
	err := r.Log.Update(ctx, p, key, func(t history.Tail) error {
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

// asked leaves a question out whose answer need not be a person's: another process than the session's client reports it, or the
// client answers it itself in this mode.
func (r *Reviewer) asked(ctx context.Context, key engine.SessionKey, e engine.Event, p *review.Policy) (engine.Event, error) {
	if p == nil || slices.Contains(p.Settings.UnattendedModes, e.Mode) {
		e.Asked = nil
		return e, nil
	}
	if e.Client == nil {
		return e, nil
	}
	missing := e.Client.Missing
	err := r.Log.Update(ctx, p, key, func(t history.Tail) error {
		if missing == "" && !t.History.Empty() {
			missing = r.clients().strange(t.History.Client, e.Client)
		}
		return nil
	})
	if missing != "" {
		e.Asked = nil
	}
	return e, err
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
