package act

import (
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// stop records that the session is stopped: from its next event on, policy denies its calls.
func (r *Reviewer) stop(t history.Tail, of *engine.Record) error {
	return t.Append(&engine.Record{Kind: engine.KindAct, T: of.T, Agent: of.Agent, Call: of.Call,
		Act: &engine.Act{Kind: engine.EmergencyStop, Of: of.ID(), Result: of.Decision.Intervention.Reason}})
}
