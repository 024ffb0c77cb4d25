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
	Call   int64  `json:"c"` // time of the call
	Ran    int64  `json:"ran,omitempty"`
	Failed int64  `json:"failed,omitempty"`
	Error  int64  `json:"error,omitempty"` // when the latest of these failed
}

func (c *checkpoint) size() int {
	return 76 + engine.JSONLen(c.ID) + digits(c.Call) + digits(c.N) + digits(c.At) + digits(c.T) +
		digits(c.Ran) + digits(c.Failed) + digits(c.Error)
}

// foldCheckpoint records the result of the checkpoint before a call. A call that
// was denied because there is none did not run, and no person refused it.
func (h *State) foldCheckpoint(r *engine.Record) {
	facts := r.Act.Checkpoint
	c := h.call(agentOf(r), r.Call)
	if c == nil || c.Kept > 0 {
		return
	}
	c.Kept = r.N
	if facts.Effect == engine.Block {
		h.notRun(c)
	}
	call := r.T
	if a := h.agent(agentOf(r)); a != nil {
		call = a.timeOf(c.Pre, call)
	}
	n := len(h.Checkpoints)
	if facts.ID == "" || n > 0 && h.Checkpoints[n-1].ID == boundKey(facts.ID, keyLength) {
		return // the last checkpoint also has the state before this call
	}
	if n == maxCheckpoints {
		h.dropCheckpoint()
	}
	h.Checkpoints = append(h.Checkpoints, checkpoint{ID: boundKey(facts.ID, keyLength), N: c.Pre, At: h.Actions, T: r.T, Call: call})
}

// dropCheckpoint forgets the oldest checkpoint after the first one. While the session is
// in trouble, that is the oldest one since it began: a rollback returns to an earlier one. How the calls went stays.
func (h *State) dropCheckpoint() {
	at, began := 1, h.troubleBegan()
	if i := slices.IndexFunc(h.Checkpoints, func(c checkpoint) bool { return began > 0 && c.N > began }); i > 0 && i < len(h.Checkpoints)-1 {
		at = i
	}
	before, gone := &h.Checkpoints[at-1], h.Checkpoints[at]
	before.Ran, before.Failed, before.Error = before.Ran+gone.Ran, before.Failed+gone.Failed, max(before.Error, gone.Error)
	h.Checkpoints = slices.Delete(h.Checkpoints, at, at+1)
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

// Kept returns the number of the record with the result of the checkpoint before a call, or 0.
func (h *State) Kept(agent, call string) int64 {
	if c := h.call(agent, call); c != nil {
		return c.Kept
	}
	return 0
}

// HasCheckpoint reports whether a checkpoint was taken in the session.
func (h *State) HasCheckpoint() bool { return len(h.Checkpoints) > 0 }

// HasUnfinished reports whether the session itself may be changing files now: another of its
// calls has not ended, or it started something in the background since the last prompt.
// Nothing reports when that ends.
func (h *State) HasUnfinished(pre int64) bool {
	pending := func(c callEntry) bool { return c.Kept > 0 && c.Pre != pre && c.Outcome == engine.OutcomePending }
	return slices.ContainsFunc(h.Calls, pending) ||
		slices.ContainsFunc(h.Running, func(s startedEntry) bool { return isStarted(s) && s.N > h.PromptN })
}

// runUp bounds the calls among which the run-up to an event is searched for. It belongs to
// FoldVersion.
const runUp = 10

// began returns the number and the time of the call with which the run-up to an event
// began: of the agent's latest calls, the first that failed or was denied, and if none did,
// the first of them.
func (h *State) began(r *engine.Record) (n, t int64) {
	a := h.agent(agentOf(r))
	if a == nil || len(a.Ring) == 0 {
		return r.N, max(r.T, h.T)
	}
	calls := a.Ring[max(0, len(a.Ring)-runUp):]
	failed := func(p ringEntry) bool { return p.Outcome == engine.OutcomeFailed || p.Outcome == engine.OutcomeDenied }
	if i := slices.IndexFunc(calls, failed); i >= 0 {
		return calls[i].N, calls[i].T
	}
	if c := h.call(agentOf(r), r.Call); r.Kind == engine.KindPost && c != nil && outcomeOf(r) == engine.OutcomeFailed {
		return c.Pre, a.timeOf(c.Pre, max(r.T, h.T))
	}
	return calls[0].N, calls[0].T
}

// beganAgo returns how long ago the run-up to an event began, in milliseconds.
func (h *State) beganAgo(r *engine.Record) int64 {
	_, t := h.began(r)
	return max(max(r.T, h.T)-t, 0)
}

// timeOf returns the time of a call of the agent, or otherwise if the call is
// forgotten.
func (a *agentState) timeOf(n, otherwise int64) int64 {
	for i := range a.Ring {
		if a.Ring[i].N == n {
			return a.Ring[i].T
		}
	}
	return otherwise
}

// troubleBegan returns the record with which the trouble began that led to the first
// intervention since the latest prompt; 0: there was none.
func (h *State) troubleBegan() int64 {
	for i := range h.Interventions {
		if h.Interventions[i].N > h.PromptN {
			return h.Interventions[i].Began
		}
	}
	return 0
}

// Checkpointed describes the checkpoints at the end of the history.
func (h *State) Checkpointed() []engine.CheckpointState { return h.checkpointStates(h.T) }

// checkpointStates describes the checkpoints for an event.
func (h *State) checkpointStates(now int64) []engine.CheckpointState {
	var list []engine.CheckpointState
	var failed int64
	for i, c := range h.Checkpoints {
		s := engine.CheckpointState{ID: c.ID, CallMS: max(now-c.Call, 0), MS: now - c.T, First: i == 0}
		if i > 0 {
			before := &h.Checkpoints[i-1]
			s.Ran, s.Failed = before.Ran, before.Failed
			failed = max(failed, before.Error)
		}
		if failed > 0 {
			s.CleanMS = max(c.T-failed, 1)
		}
		list = append(list, s)
	}
	return list
}

// rollback is a rollback that policy decided on.
type rollback struct {
	N   int64 `json:"n"`             // record of the decision
	Act int64 `json:"act,omitempty"` // record of its result; 0: there is none yet
}

// Rollback returns the records of the latest rollback that policy decided on, and of its result; 0:
// there is none.
func (h *State) Rollback() (decided, done int64) {
	if h.Rolled == nil {
		return 0, 0
	}
	return h.Rolled.N, h.Rolled.Act
}

// foldRollback notes that files are to be restored.
func (h *State) foldRollback(r *engine.Record) {
	if r.Decision != nil && r.Decision.RollsBack() {
		h.Rolled = &rollback{N: r.N}
	}
}

// foldRolledBack records the result of a rollback. Limits return to those at the
// checkpoint, and what is spent counts again; what was found and done before stays.
func (h *State) foldRolledBack(r *engine.Record) {
	if h.Rolled == nil || h.Rolled.Act > 0 {
		return
	}
	h.Rolled.Act = r.N
	facts := r.Act.Rollback
	if facts.Effect == engine.Block {
		h.notRun(h.call(agentOf(r), r.Call))
	}
	if facts.Undo == "" {
		return
	}
	h.FileOps = 0
	h.resetSpent()
	lift(h.Interventions, h.checkpointN(facts.Checkpoint))
}

// checkpointN returns the record of the call before which a checkpoint was taken.
func (h *State) checkpointN(id string) int64 {
	for i := range h.Checkpoints {
		if h.Checkpoints[i].ID == id {
			return h.Checkpoints[i].N
		}
	}
	return h.N
}

// lift ends the limits of interventions since a record.
func lift(list []intervention, since int64) {
	for i := range list {
		list[i].Tokens, list[i].Busy = 0, 0
		list[i].Lifted = list[i].Lifted || list[i].N >= since
	}
}

// notRun records that a call that policy let pass did not run after all. No person refused
// it.
func (h *State) notRun(c *callEntry) {
	if c == nil || c.Outcome != engine.OutcomePending {
		return
	}
	c.Outcome, c.Enforced = engine.OutcomeDenied, engine.Block
	if a := h.agent(c.Agent); a != nil {
		if p := a.pastOf(c.Pre); p != nil {
			p.Outcome = engine.OutcomeDenied
		}
	}
}
