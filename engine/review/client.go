package review

import (
	"context"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// from compares the process that sent a prompt, or the start of a session, with the session's client, before the text
// is read. A prompt of any other process is recorded as a note, and does not count as a person's.
func (r *Reviewer) from(ctx context.Context, key engine.SessionKey, e engine.Event) (engine.Event, error) {
	if e.Client == nil || e.Phase != engine.PhasePrompt && e.Phase != engine.PhaseStart {
		return e, nil
	}
	by := *e.Client
	err := r.Log.Update(ctx, key, func(t history.Tail) error {
		if t.History.Empty() {
			return nil
		}
		if by.Missing == "" {
			by.Missing = r.strange(t.History.Client, &by)
		}
		return r.follow(t, &by)
	})
	e.Client = &by
	if e.Phase == engine.PhasePrompt && by.Missing != "" {
		e.Phase, e.Prompt = engine.PhaseOther, ""
		e.Unverified = "this is not a person's input: " + r.mask(by.Missing)
	}
	return e, err
}

// strange returns why a process is not the client that a session has; empty: it is, or becomes it.
func (r *Reviewer) strange(now, by *engine.Client) string {
	switch {
	case !now.Verified():
	case !now.Is(by):
		if r.runs(now) {
			return fmt.Sprintf("the client of the session (process %d) still runs, and process %d sent this", now.Pid, by.Pid)
		}
	case now.Joined && !by.Joined:
		return "the hook does not run in the client's own session of processes, as its hooks do, but in that of something it started"
	}
	return ""
}

func (r *Reviewer) runs(c *engine.Client) bool { return r.Runs != nil && r.Runs(c) }

// follow records that a session continues under another process once its client has ended, or that its client is a
// person's after all. What was permitted before is over then.
func (r *Reviewer) follow(t history.Tail, by *engine.Client) error {
	now := t.History.Client
	switch {
	case by == nil, !now.Verified() && by.Missing != "":
		return nil
	case now.Verified() && (now.Is(by) || r.runs(now)):
		return nil
	}
	rec := &engine.Record{Kind: engine.KindControl, T: r.Now(), Control: &engine.Control{Do: engine.ControlExpire, By: "client",
		Reason: "the session continues under another process", Client: r.masked(by)}}
	rec.ClampTime(t.History.T)
	return t.Append(rec)
}

// masked returns a client as it may be recorded.
func (r *Reviewer) masked(c *engine.Client) *engine.Client {
	if c == nil {
		return nil
	}
	own := *c
	own.Missing = engine.ClipJSON(r.mask(own.Missing), maxMissing)
	return &own
}

// maxMissing bounds the fact that a client lacks, in bytes of JSON.
const maxMissing = 300

// notice tells the person that their words do not count, and what to do.
func (r *Reviewer) notice(e engine.Event) string {
	if e.Client == nil || e.Client.Missing == "" || e.Phase != engine.PhaseStart && e.Unverified == "" {
		return ""
	}
	return "reviewer: what is typed here does not count as a person's words, so it neither permits anything nor widens the scope: " +
		r.mask(e.Client.Missing) + ". Begin the session in a terminal of your own, or confirm it there with `reviewer session mine`."
}
