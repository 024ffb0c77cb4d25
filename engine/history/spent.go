package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// spent is what the session used since the last prompt, as far as limits count it,
// and how far the agent's own record of it was read.
type spent struct {
	Bytes  int64         `json:"bytes,omitempty"`  // written
	Busy   int64         `json:"busy,omitempty"`   // milliseconds that calls took
	Tokens int64         `json:"tokens,omitempty"` // that the model wrote
	Usage  *engine.Usage `json:"usage,omitempty"`  // the latest
}

func (h *State) resetSpent() {
	h.Bytes, h.Busy, h.Tokens = 0, 0, 0
	for _, a := range h.Agents {
		a.Turn = 0
	}
}

// foldUsage counts tokens, and notes where the next event goes on reading.
func (h *State) foldUsage(r *engine.Record) {
	if r.Event == nil || r.Event.Usage == nil {
		return
	}
	h.Tokens = addUse(h.Tokens, r.Event.Usage.Tokens)
	next := *r.Event.Usage
	next.Tokens, next.Skipped, next.Message = 0, 0, boundKey(next.Message, digestLength)
	h.Usage = &next
}

// endTurn starts the agent's next turn. An event without calls before it, such as that
// of an agent that is not known any more, starts none.
func (h *State) endTurn(r *engine.Record) {
	if a := h.agent(agentOf(r)); a != nil {
		a.Turn, a.Turns = 0, a.Turns || r.Phase == engine.PhaseBatch
	}
}

// busy is the time that a call took. Calls that wait for a person or for another agent
// take as long as these do, and the agent's own calls count by themselves.
func busy(r *engine.Record) int64 {
	res := resultOf(r)
	if res == nil || r.Phase != engine.PhasePost {
		return 0
	}
	if r.Action != nil && slices.ContainsFunc(r.Action.Types, func(t engine.Type) bool {
		return t == engine.TypeAgentSpawn || t == engine.TypeMessage
	}) {
		return 0
	}
	return max(0, res.MS)
}

// spentWith returns the tokens and milliseconds since the last prompt, an event's
// included.
func (h *State) spentWith(r *engine.Record) (tokens, ms int64) {
	tokens = h.Tokens
	if r.Event != nil && r.Event.Usage != nil {
		tokens = addUse(tokens, r.Event.Usage.Tokens)
	}
	return tokens, addUse(h.Busy, busy(r))
}
