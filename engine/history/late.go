package history

import (
	"github.com/agent-reviewer/reviewer/engine"
)

// lateEntry is a call that was answered before its review, which found more than the answer
// said. The agent was not told yet.
type lateEntry struct {
	N        int64          `json:"n"`
	Call     string         `json:"call,omitempty"`
	Decision engine.Verdict `json:"decision"`
	Rule     string         `json:"rule,omitempty"`
	Reason   string         `json:"reason,omitempty"`
}

// Unreviewed returns the number of the record of a call that was answered before its review
// and was not reviewed yet; 0: there is none.
func (h *State) Unreviewed() int64 { return h.Early }

// foldEarly notes a call that was answered before its review. A call that is reviewed first
// tells the agent what was found late, unless the session is stopped.
func (h *State) foldEarly(r *engine.Record) {
	if r.Decision != nil && h.Stop == nil {
		h.Late = nil
	}
	if r.Source == engine.SourceAsync {
		h.Early = r.N
	}
}

// foldLate takes over what a review found after the answer. The interventions and the stop that
// it decided on count from now on.
func (h *State) foldLate(r *engine.Record) {
	if h.Early == 0 || r.Act.Of != engine.RecordID(h.Chain, h.Early) {
		return // it was taken over already
	}
	late := r.Act.Late
	if answer := knownVerdict(late.Answer()); answer != engine.Allow {
		h.Late = &lateEntry{N: h.Early, Call: engine.ClipJSON(late.Call, reasonLength), Decision: answer}
		h.Late.explain(late)
	}
	h.Early = 0
	as := *r // what was found was folded with the call
	as.Decision, as.Findings = late.Decision, late.Findings
	h.foldInterventions(&as)
	h.foldStop(&as)
}

func (e *lateEntry) explain(late *engine.LateReview) {
	d := late.Decision
	if d == nil {
		e.Reason = engine.ClipJSON(late.Failure, reasonLength)
		return
	}
	e.Reason = engine.ClipJSON(d.Reason, reasonLength)
	if len(d.Rules) > 0 {
		e.Rule = truncateKey(d.Rules[0].ID)
	}
}

func (h *State) lateFacts() *engine.LateFacts {
	if h.Late == nil {
		return nil
	}
	l := h.Late
	return &engine.LateFacts{Record: engine.RecordID(h.Chain, l.N), Call: l.Call, Decision: l.Decision, Rule: l.Rule, Reason: l.Reason}
}
