package notifycmd

import (
	"cmp"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Asked tells people about a question that waits, if the settings name a channel for that.
func Asked(a *cli.App, store *audit.Store, p *review.Policy, r *approval.Request) error {
	if !told(p, notify.AboutApprovals) {
		return nil
	}
	return Ask(a, store, notify.Ask(requestOf(r), time.UnixMilli(r.Asked), r.Harness, r.Session, r.Workspace))
}

// Answered ends the notifications about a question.
func Answered(store *audit.Store, p *review.Policy, id string) error {
	if !told(p, notify.AboutApprovals) {
		return nil
	}
	return notify.Resolve(Dir(store), id)
}

// requestOf is the part of a request that may leave the machine: neither contents nor what the
// person said to the agent.
func requestOf(r *approval.Request) notify.Request {
	out := notify.Request{ID: r.ID, Action: r.Action, Reasons: r.Reasons, Undo: "cannot be undone", Notes: r.Unseen,
		Deadline: time.UnixMilli(r.Until).UTC().Format(time.RFC3339)}
	if r.Reversible {
		out.Undo = "can be undone"
	}
	if r.Risk != nil {
		out.Level = r.Risk.Level
	}
	for i := range r.Effects {
		out.Effects = append(out.Effects, r.Effects[i].Verb+" "+cmp.Or(r.Effects[i].Place(), r.Effects[i].Target))
	}
	return out
}
