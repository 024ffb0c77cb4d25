package engine

import "slices"

// checkFailed says that the agent's latest check, of the actions that are kept,
// is known to have failed.
func (a *agentHistory) checkFailed() bool {
	for _, p := range slices.Backward(a.Ring) {
		if p.Check && p.Outcome != OutcomeDenied {
			return p.Outcome == OutcomeFailed
		}
	}
	return false
}
