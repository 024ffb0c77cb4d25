package history

import (
	"maps"

	"github.com/agent-reviewer/reviewer/engine"
)

// Noticed is what one policy found in a session and told of it: the part of a
// State that depends on policy. Everything else in it happened, whoever judged
// it; so several policies can be asked about one State, each with what it
// noticed itself. Nothing of it is recorded.
type Noticed struct {
	session map[string]int64
	agents  map[string]map[string]firedEntry
}

// Noticed returns what the policies that wrote the log noticed so far.
func (h *State) Noticed() *Noticed {
	n := &Noticed{session: maps.Clone(h.Fired), agents: map[string]map[string]firedEntry{}}
	for _, a := range h.Agents {
		if len(a.Fired) > 0 {
			n.agents[a.Name] = maps.Clone(a.Fired)
		}
	}
	return n
}

// As returns the history as a policy sees it that noticed n. It shares all else
// with h: it must not be folded, and is good until h is.
func (h *State) As(n *Noticed) *State {
	own := *h
	own.Fired = n.session
	own.Agents = make([]*agentState, len(h.Agents))
	for i, a := range h.Agents {
		agent := *a
		agent.Fired = n.agents[a.Name]
		own.Agents[i] = &agent
	}
	return &own
}

// Fold takes in what the policy found in a record, and decided, that h was
// folded with just before. An agent that h has forgotten is forgotten.
func (n *Noticed) Fold(h *State, r *engine.Record, findings []engine.Finding, d *engine.Decision) {
	own := h.As(n)
	if own.Fired == nil {
		own.Fired = map[string]int64{}
	}
	if c := h.call(agentOf(r), r.Call); r.Kind == engine.KindPre || r.Kind == engine.KindPost && c != nil && c.Pre > 0 {
		own.foldFindings(&engine.Record{Agent: r.Agent, Findings: findings, Decision: d})
	}
	own.boundFired()
	n.session, n.agents = own.Fired, map[string]map[string]firedEntry{}
	for _, a := range own.Agents {
		if len(a.Fired) > 0 {
			n.agents[a.Name] = a.Fired
		}
	}
}
