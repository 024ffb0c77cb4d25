package simulate

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// ShareWorkspace lets the session take over from others what the policy specifies, as in a workspace in
// which all of them run. The list may contain the session itself.
func (r *Rehearsal) ShareWorkspace(all func() []*Rehearsal) {
	r.reviewer.Services.Sessions = others(all)
}

// others finds sessions of the same rehearsal. Each takes over a stop at its next call.
type others func() []*Rehearsal

// Stopped implements act.Sessions: no session was stopped before the rehearsal.
func (others) Stopped() ([]review.Stopped, error) { return nil, nil }

// Await implements act.Sessions: there is no transcript to wait for.
func (others) Await(engine.Event) {}

// Copied implements act.Sessions.
func (others) Copied(engine.Event, engine.SessionKey) bool { return false }

// Others implements act.Sessions.
func (o others) Others(own engine.SessionKey, workspace string, since int64) ([]review.Other, error) {
	var list []review.Other
	for _, r := range o() {
		h := r.chain.history
		key := engine.SessionKey{Harness: h.Harness, Session: h.Session}
		if key != own && h.N > 0 && h.Workspace == workspace && h.T >= since {
			list = append(list, review.Other{Key: key, Chain: r.chain.id, State: h})
		}
	}
	return list, nil
}
