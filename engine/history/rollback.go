package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// runUp bounds the calls among which the run-up to an event is searched for. It belongs to
// FoldVersion.
const runUp = 10

// began returns the record of the call with which the run-up to an event began: of the
// agent's latest calls, the first one that failed or was denied, and otherwise the first.
func (h *State) began(r *engine.Record) int64 {
	a := h.agent(agentOf(r))
	if a == nil {
		return h.latest()
	}
	calls := a.Ring[max(0, len(a.Ring)-runUp):]
	failed := func(p ringEntry) bool { return p.Outcome == engine.OutcomeFailed || p.Outcome == engine.OutcomeDenied }
	if i := slices.IndexFunc(calls, failed); i >= 0 {
		return calls[i].N
	}
	if c := h.call(agentOf(r), r.Call); r.Kind == engine.KindPost && c != nil && outcomeOf(r) == engine.OutcomeFailed {
		return c.Pre
	}
	if len(calls) == 0 {
		return h.latest()
	}
	return calls[0].N
}

// latest returns the record of the latest call of any agent. Where a log is written,
// other records may come between it and the event that is decided about; so records
// are counted back from it.
func (h *State) latest() (n int64) {
	for _, a := range h.Agents {
		if len(a.Ring) > 0 {
			n = max(n, a.Ring[len(a.Ring)-1].N)
		}
	}
	return n
}

// troubleBegan returns the record with which the trouble began that interventions since
// the latest prompt were about; 0: there was none.
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
		s := engine.CheckpointState{ID: c.ID, Lines: max(h.latest()-c.N, 0), MS: now - c.T, First: i == 0}
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
	Act int64 `json:"act,omitempty"` // record that says what came of it; 0: there is none yet
}

// Rollback returns the records of the latest rollback that policy decided on, and of what
// came of it; 0: there is none.
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

// foldRolledBack records what came of a rollback. Limits return to those at the
// checkpoint, and what is spent counts anew; what was found and done before stays.
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
