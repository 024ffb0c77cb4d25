package simulate

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// Beside lets the session take from other ones what the policy says, as in a workspace in which
// all of them run. The list may contain the session itself.
func (r *Rehearsal) Beside(all func() []*Rehearsal) { r.reviewer.Stops = beside(all) }

// beside finds sessions of the same rehearsal. A stop is taken at the next call of each.
type beside func() []*Rehearsal

// Stopped implements review.Stops: no session was stopped before the rehearsal.
func (beside) Stopped() ([]review.Stopped, error) { return nil, nil }

// Copied implements review.Stops.
func (beside) Copied(engine.Event, engine.SessionKey) bool { return false }

// Others implements review.Stops.
func (b beside) Others(own engine.SessionKey, workspace string, since int64) ([]review.Other, error) {
	var list []review.Other
	for _, r := range b() {
		h := r.chain.history
		key := engine.SessionKey{Harness: h.Harness, Session: h.Session}
		if key != own && h.N > 0 && h.Workspace == workspace && h.T >= since {
			list = append(list, review.Other{Key: key, Chain: r.chain.id, State: h})
		}
	}
	return list, nil
}
