package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxCheckpoints bounds the checkpoints that are remembered: the first one, to which a
// session can always return, and the latest. It belongs to FoldVersion.
const maxCheckpoints = 8

// checkpoint is a state of the workspace to which the session can return, and how its
// calls went from then until the next one.
type checkpoint struct {
	ID     string `json:"id"`
	N      int64  `json:"n"`  // record of the call that it was taken before
	At     int64  `json:"at"` // actions so far
	T      int64  `json:"t"`
	Ran    int64  `json:"ran,omitempty"`
	Failed int64  `json:"failed,omitempty"`
	Error  int64  `json:"error,omitempty"` // when the latest of these failed
}

func (c *checkpoint) size() int {
	return 70 + engine.JSONLen(c.ID) + digits(c.N) + digits(c.At) + digits(c.T) + digits(c.Ran) + digits(c.Failed) + digits(c.Error)
}

// foldCheckpoint records what came of the checkpoint before a call. A call that was
// denied because there is none did not run, and no person refused it.
func (h *State) foldCheckpoint(r *engine.Record) {
	facts := r.Act.Checkpoint
	c := h.call(agentOf(r), r.Call)
	if c == nil || c.Kept > 0 {
		return
	}
	c.Kept = r.N
	if facts.Effect == engine.Block && c.Outcome == engine.OutcomePending {
		c.Outcome, c.Enforced = engine.OutcomeDenied, engine.Block
		if a := h.agent(c.Agent); a != nil {
			if p := a.pastOf(c.Pre); p != nil {
				p.Outcome = engine.OutcomeDenied
			}
		}
	}
	n := len(h.Checkpoints)
	if facts.ID == "" || n > 0 && h.Checkpoints[n-1].ID == boundKey(facts.ID, keyLength) {
		return // the state that the last one has is also that before this call
	}
	if n == maxCheckpoints {
		h.Checkpoints = slices.Delete(h.Checkpoints, 1, 2)
	}
	h.Checkpoints = append(h.Checkpoints, checkpoint{ID: boundKey(facts.ID, keyLength), N: c.Pre, At: h.Actions, T: r.T})
}

// countCheckpoint counts a call that ended after the latest checkpoint.
func (h *State) countCheckpoint(t int64, o engine.Outcome) {
	if len(h.Checkpoints) == 0 {
		return
	}
	c := &h.Checkpoints[len(h.Checkpoints)-1]
	switch o {
	case engine.OutcomeRan:
		c.Ran++
	case engine.OutcomeFailed:
		c.Failed++
		c.Error = t
	}
}

// Kept returns the number of the record that says what came of the checkpoint before a
// call, or 0.
func (h *State) Kept(agent, call string) int64 {
	if c := h.call(agent, call); c != nil {
		return c.Kept
	}
	return 0
}

// HasCheckpoint reports whether a checkpoint was taken in the session.
func (h *State) HasCheckpoint() bool { return len(h.Checkpoints) > 0 }

// Busy reports whether the session itself may be changing files now: another of its
// calls has not ended, or it started something in the background since the last prompt.
// Nothing reports when that ends.
func (h *State) Busy(pre int64) bool {
	pending := func(c callEntry) bool { return c.Kept > 0 && c.Pre != pre && c.Outcome == engine.OutcomePending }
	return slices.ContainsFunc(h.Calls, pending) ||
		slices.ContainsFunc(h.Running, func(s startedEntry) bool { return isStarted(s) && s.N > h.PromptN })
}
