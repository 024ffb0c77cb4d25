package history

import (
	"maps"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// PolicyState records what one policy found in a session and told the agent about it: the part
// of a State that depends on policy. The rest does not depend on which policy judged the
// session, so several policies can be evaluated on one State, each with its own PolicyState.
// It is not recorded.
type PolicyState struct {
	session       map[string]int64
	agents        map[string]map[string]findingEntry
	interventions []intervention
}

// PolicyState returns what the policies that wrote the log noticed so far.
func (h *State) PolicyState() *PolicyState {
	n := &PolicyState{session: maps.Clone(h.Fired), agents: map[string]map[string]findingEntry{}, interventions: slices.Clone(h.Interventions)}
	for _, a := range h.Agents {
		if len(a.Fired) > 0 {
			n.agents[a.Name] = maps.Clone(a.Fired)
		}
	}
	return n
}

// WithPolicyState returns the history with n in place of its own PolicyState. It shares
// everything else with h: it must not be folded, and is valid until h is.
func (h *State) WithPolicyState(n *PolicyState) *State {
	own := *h
	own.Fired, own.Interventions = n.session, n.interventions
	own.Agents = make([]*agentState, len(h.Agents))
	for i, a := range h.Agents {
		agent := *a
		agent.Fired = n.agents[a.Name]
		own.Agents[i] = &agent
	}
	return &own
}

// Fold adds the policy's findings and decision about a record, after h was folded with that
// record. An agent that h has forgotten is forgotten.
func (n *PolicyState) Fold(h *State, r *engine.Record, findings []engine.Finding, d *engine.Decision) {
	own := h.WithPolicyState(n)
	if own.Fired == nil {
		own.Fired = map[string]int64{}
	}
	if c := h.call(agentOf(r), r.Call); r.Kind == engine.KindPre || r.Kind == engine.KindPost && c != nil && c.Pre > 0 {
		if r.Kind == engine.KindPost && outcomeOf(r) == engine.OutcomeRan {
			own.foldTold(c)
		}
		as := &engine.Record{N: r.N, T: r.T, Agent: r.Agent, Findings: findings, Decision: d}
		own.foldFindings(as)
		own.Interventions = slices.Clone(own.Interventions)
		own.foldInterventions(as)
	}
	if r.Kind == engine.KindStop {
		own.Interventions = slices.Clone(own.Interventions)
		own.foldInterventions(&engine.Record{N: r.N, T: r.T, Agent: r.Agent, Findings: findings, Decision: d})
	}
	if r.Kind == engine.KindAct && r.Act != nil && r.Act.Rollback != nil && r.Act.Rollback.Undo != "" {
		own.Interventions = slices.Clone(own.Interventions)
		lift(own.Interventions, h.checkpointN(r.Act.Rollback.Checkpoint))
	}
	if r.Kind == engine.KindAct && r.Act != nil && r.Act.Taken != nil {
		own.Interventions = slices.Clone(own.Interventions)
		own.foldTakenLimits(r)
	}
	own.boundFired()
	n.interventions = own.Interventions
	n.session, n.agents = own.Fired, map[string]map[string]findingEntry{}
	for _, a := range own.Agents {
		if len(a.Fired) > 0 {
			n.agents[a.Name] = a.Fired
		}
	}
}
