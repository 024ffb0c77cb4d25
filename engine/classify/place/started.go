package place

import (
	"strconv"

	"github.com/agent-reviewer/reviewer/engine"
)

// startedByCall reports whether an effect ends a process that a call of the client started, by its process ID.
func (r *Resolver) startedByCall(e *engine.Effect) bool {
	if r.World.Started == nil || e.Certainty != engine.CertaintyExact {
		return false
	}
	pid, err := strconv.Atoi(e.Target)
	return err == nil && pid > 1 && r.World.Started(pid)
}
