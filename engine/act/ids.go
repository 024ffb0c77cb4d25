package act

import (
	"cmp"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// identify gives a call an id where the agent gives it none. The id before a call consists of
// its tool, its arguments and its time, so that a second hook that is told the same event makes
// the same one; an agent that sends no time gets the number of the record instead. The result
// of a call belongs to the earliest equal call that has none yet.
func identify(t history.Tail, h *handling) {
	rec := h.rec
	if rec.Call != "" || rec.Event == nil {
		return
	}
	switch rec.Phase {
	case engine.PhasePre:
		at := cmp.Or(h.event.Stamp, strconv.FormatInt(t.History.N+1, 10))
		rec.Call = engine.ClipJSON(history.MadeID(rec.Event.Tool, rec.ArgsMAC())+at, maxID)
	case engine.PhasePost:
		rec.Call = t.History.Unanswered(rec.Agent, rec.Event.Tool, rec.ArgsMAC())
	}
}
