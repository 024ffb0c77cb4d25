package act

import (
	"fmt"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// clients compares the processes from which the events of a session come.
type clients struct {
	live func(*engine.Client) bool // nil: none does
	mask func(string) string
	now  func() int64
}

// strange returns why a process is not the client that a session has; empty: it is, or becomes it.
func (k clients) strange(now, by *engine.Client) string {
	switch {
	case !now.Verified():
	case !now.Is(by):
		if k.runs(now) {
			return fmt.Sprintf("the client of the session (process %d) still runs, and process %d sent this", now.Pid, by.Pid)
		}
	default:
		return now.Unlike(by)
	}
	return ""
}

func (k clients) runs(c *engine.Client) bool { return k.live != nil && k.live(c) }

// follow records that a session continues under another process once its client has ended, or that its client is a
// person's after all. What was permitted before is over then.
func (k clients) follow(t history.Tail, by *engine.Client) error {
	now := t.History.Client
	switch {
	case by == nil, !now.Verified() && by.Missing != "":
		return nil
	case now.Verified() && (now.Is(by) || k.runs(now)):
		return nil
	}
	mode, why := engine.ExpirePermits, "the session continues under another process"
	if now == nil && t.History.Actions+t.History.Prompts == 0 {
		mode, why = engine.ExpireNothing, "the session's first event came from this process"
	}
	rec := &engine.Record{Kind: engine.KindControl, T: k.now(),
		Control: &engine.Control{Do: engine.ControlExpire, Mode: mode, By: "client", Reason: why, Client: k.masked(by)}}
	rec.ClampTime(t.History.T)
	return t.Append(rec)
}

// masked returns a client as it may be recorded.
func (k clients) masked(c *engine.Client) *engine.Client {
	if c == nil {
		return nil
	}
	own := *c
	own.Missing = engine.ClipJSON(k.mask(own.Missing), maxMissing)
	return &own
}

// maxMissing bounds the fact that a client lacks, in bytes of JSON.
const maxMissing = 300

// notAPerson begins the reason why a prompt does not count because of who sent it.
const notAPerson = "this is not a person's input: "

// headlessPermits is the value of the setting words.headless with which prompts of a client that a
// schedule or a service started count as a person's.
const headlessPermits = "permits"

// notice tells the person that their words do not count, and what to do.
func (k clients) notice(e engine.Event) string {
	if e.Client == nil || e.Client.Missing == "" || e.Phase != engine.PhaseStart && !strings.HasPrefix(e.Unverified, notAPerson) {
		return ""
	}
	remedy := "Begin the session in a terminal of your own, or confirm it there with `reviewer session mine`."
	if e.Client.Headless {
		remedy = "Begin the session in a terminal of your own, or let such prompts count with the setting words.headless."
	}
	return "reviewer: what is typed here does not count as a person's words, so it neither permits anything nor widens the scope: " +
		k.mask(e.Client.Missing) + ". " + remedy
}
