package history

import (
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxInterventions bounds the interventions that are remembered; the oldest is
// forgotten first. It belongs to FoldVersion.
const maxInterventions = 16

// intervention is one that was made, and when its issue was found again.
type intervention struct {
	N      int64   `json:"n"`
	At     int64   `json:"at"` // actions so far
	T      int64   `json:"t"`
	Kind   string  `json:"kind"`
	Issue  string  `json:"issue"`
	Agent  string  `json:"agent"`
	Factor float64 `json:"factor,omitempty"`
	// When the issue was found again; 0: not yet.
	BackAt int64 `json:"back_at,omitempty"`
	BackT  int64 `json:"back_t,omitempty"`
}

func (i *intervention) size() int {
	return 120 + len(i.Kind) + len(i.Issue) + len(i.Agent) + digits(i.N) + digits(i.At) + digits(i.T) + digits(i.BackAt) + digits(i.BackT)
}

// foldInterventions notes which issues of earlier interventions an event has
// again, and the intervention that it led to. It runs after the event's action
// was counted.
func (h *State) foldInterventions(r *engine.Record) {
	for k := range h.Interventions {
		if i := &h.Interventions[k]; i.BackT == 0 && i.Agent == agentOf(r) && found(r, i.Issue) {
			i.BackAt, i.BackT = h.Actions, max(h.T, r.T)
		}
	}
	d := r.Decision
	if d == nil || d.Intervention == nil || d.Intervention.Issue == "" || d.Enforced == engine.Allow {
		return
	}
	h.Interventions = keepLast(append(h.Interventions, intervention{
		N: r.N, At: h.Actions, T: max(h.T, r.T), Agent: agentOf(r), Factor: min(max(d.Intervention.Factor, 0), 1),
		Kind: boundKey(d.Intervention.Kind, digestLength+digestLength), Issue: truncateKey(d.Intervention.Issue),
	}), maxInterventions)
}

// found reports whether an event has a finding of an issue, or a rule of it
// fired.
func found(r *engine.Record, issue string) bool {
	if slices.ContainsFunc(r.Findings, func(f engine.Finding) bool { return truncateKey(f.ID) == issue }) {
		return true
	}
	return r.Decision != nil && slices.ContainsFunc(r.Decision.Rules, func(rule engine.RuleResult) bool { return truncateKey(rule.ID) == issue })
}

// interventionFacts describes the earlier interventions for an event at time t.
func (h *State) interventionFacts(t int64) []engine.InterventionFacts {
	var list []engine.InterventionFacts
	for _, i := range h.Interventions {
		f := engine.InterventionFacts{
			Kind: i.Kind, Issue: i.Issue, Agent: i.Agent, Factor: i.Factor,
			Ago: h.Actions - i.At + 1, MS: max(t, h.T) - i.T, Run: i.N > h.PromptN,
		}
		if i.BackT > 0 {
			f.Back = &engine.Return{Actions: i.BackAt - i.At, MS: i.BackT - i.T}
		}
		list = append(list, f)
	}
	return list
}

// deniedHarms lists the harms of the latest denials in a row, oldest first, up to
// one that named none.
func (h *State) deniedHarms() []string {
	var harms []string
	last := int64(0)
	for i := len(h.Denials) - 1; i >= 0; i-- {
		d := &h.Denials[i]
		switch {
		case d.N == last:
			continue
		case d.Person || d.Harm == "" || d.At <= h.Actions-h.DeniedRow:
			slices.Reverse(harms)
			return harms
		}
		last = d.N
		harms = append(harms, d.Harm)
	}
	slices.Reverse(harms)
	return harms
}
