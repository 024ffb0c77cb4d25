package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxTrees bounds the working trees that are remembered; it belongs to
// FoldVersion. They only make policy milder, so the oldest is forgotten.
const maxTrees = 8

// madeTree returns the key of the working tree that an action has git make; of
// several, that of the last one. A folder that already exists may be someone's:
// git refuses it, and what comes after it in the same command may hide that.
func madeTree(a *engine.Action) string {
	key := ""
	if a == nil {
		return key
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		if e.Object == engine.ObjectWorktree && e.Kind == engine.EffectFileWrite && e.Certainty == engine.CertaintyExact &&
			e.Exists != "yes" && e.Class == "" && e.Host == "" && (besides(e.Location) || e.Location == engine.LocationTemp ||
			e.Location == engine.LocationInside) {
			key = truncateKey(e.Short)
		}
	}
	return key
}

// besides reports whether a working tree may be there.
func besides(l engine.Location) bool {
	return l == engine.LocationWorktree || l == engine.LocationOutside || l == engine.LocationBeside || l == engine.LocationHome
}

// endsTree reports whether git removes a working tree that it made in the
// session: it contained nobody's work before. What was moved into it may exist
// nowhere else.
func (h *State) endsTree(e *engine.Effect) bool {
	return e.Object == engine.ObjectWorktree && e.Kind == engine.EffectFileDelete && e.Certainty == engine.CertaintyExact &&
		e.Host == "" && e.Ledger != engine.LedgerMoved && slices.Contains(h.Trees, truncateKey(e.Short))
}

func (h *State) addTree(key string) {
	if key != "" {
		h.Trees = keepLast(appendOnce(h.Trees, key), maxTrees)
	}
}

// dropTree forgets a tree that is removed, by git or otherwise.
func (h *State) dropTree(e *engine.Effect) {
	if len(h.Trees) > 0 && e.Host == "" {
		h.Trees = slices.DeleteFunc(h.Trees, func(key string) bool { return reaches(e, key) })
	}
}

// location reports where an effect takes place, given the working trees that git made in the
// session: if nothing is known about the disk, only these show what belongs to the workspace's
// repository.
func (h *State) location(e *engine.Effect) engine.Location {
	known := e.Certainty == engine.CertaintyExact || e.Certainty == engine.CertaintyGlob
	if len(h.Trees) == 0 || !known || e.Host != "" || e.Short == "" || e.Location == engine.LocationWorktree || !besides(e.Location) {
		return e.Location
	}
	above := upwards(e.Short)[1:]
	if e.Certainty == engine.CertaintyGlob && len(above) > 0 {
		above = above[1:] // a pattern may take all that is in a tree
	}
	if slices.ContainsFunc(above, func(dir string) bool { return slices.Contains(h.Trees, truncateKey(dir)) }) {
		return engine.LocationWorktree
	}
	return e.Location
}

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
	if facts.Effect == engine.Block {
		h.notRun(c)
	}
	n := len(h.Checkpoints)
	if facts.ID == "" || n > 0 && h.Checkpoints[n-1].ID == boundKey(facts.ID, keyLength) {
		return // the state that the last one has is also that before this call
	}
	if n == maxCheckpoints {
		h.dropCheckpoint()
	}
	h.Checkpoints = append(h.Checkpoints, checkpoint{ID: boundKey(facts.ID, keyLength), N: c.Pre, At: h.Actions, T: r.T})
}

// dropCheckpoint forgets the oldest checkpoint after the first one. While the session is
// in trouble, that is the oldest one since it began: one from before is what a rollback
// returns to. How the calls went stays.
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

// HasUnfinished reports whether the session itself may be changing files now: another of its
// calls has not ended, or it started something in the background since the last prompt.
// Nothing reports when that ends.
func (h *State) HasUnfinished(pre int64) bool {
	pending := func(c callEntry) bool { return c.Kept > 0 && c.Pre != pre && c.Outcome == engine.OutcomePending }
	return slices.ContainsFunc(h.Calls, pending) ||
		slices.ContainsFunc(h.Running, func(s startedEntry) bool { return isStarted(s) && s.N > h.PromptN })
}
