package history

import (
	"path"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// foldAllow takes a person's word down. A word for the session is not made
// shorter by one for a single call, and two for a single call are one.
func (h *State) foldAllow(r *engine.Record) {
	h.Overruled++
	a := allowed{
		N: r.N, Print: boundKey(r.Control.Print, digestLength), Dir: truncateKey(r.Control.CWD),
		Once: r.Control.Do == engine.ControlAllowOnce, By: engine.ClipJSON(r.Control.By, keyLength),
	}
	if a.Print == "" {
		return // a call that cannot be recognised
	}
	if i := h.allowedAt(a.Print, a.Dir); i >= 0 {
		a.Once = a.Once && h.Allowed[i].Once
		h.Allowed = slices.Delete(h.Allowed, i, i+1)
	}
	h.Allowed = keepLast(append(h.Allowed, a), maxAllowed)
}

// spend takes a word for a single call back once such a call is let through.
// One that is denied all the same leaves it.
func (h *State) spend(r *engine.Record) {
	if i := h.allows(r); i >= 0 && h.Allowed[i].Once {
		h.Allowed = slices.Delete(h.Allowed, i, i+1)
	}
}

// allows returns the index of the word that allows a record's call, or -1.
func (h *State) allows(r *engine.Record) int {
	if len(h.Allowed) == 0 || r.Phase != engine.PhasePre {
		return -1
	}
	key, ok := r.CallKey()
	if !ok {
		return -1
	}
	return h.allowedAt(boundKey(key.Print, digestLength), truncateKey(key.CWD))
}

func (h *State) allowedAt(print, dir string) int {
	return slices.IndexFunc(h.Allowed, func(a allowed) bool { return a.Print == print && a.Dir == dir })
}

// Approvals says what an event tells about the questions before it, of which
// it names the newest maxApprovals. A call that ran was approved; that of one
// nothing was heard by the next prompt or stop means no.
func (h *State) Approvals(r *engine.Record) []engine.Approval {
	switch r.Kind {
	case engine.KindPost:
		if c := h.call(agentOf(r), r.Call); c.asked() {
			return []engine.Approval{h.approval(c, outcomeOf(r) != engine.OutcomeDenied)}
		}
	case engine.KindPrompt:
		return h.refusals("")
	case engine.KindStop:
		return h.refusals(agentOf(r))
	}
	return nil
}

func (h *State) refusals(agent string) []engine.Approval {
	var list []engine.Approval
	for i := range h.Calls {
		if c := &h.Calls[i]; c.asked() && c.closes(agent) {
			list = append(list, h.approval(c, false))
		}
	}
	return keepLast(list, maxApprovals)
}

func (h *State) approval(c *callEntry, approved bool) engine.Approval {
	return engine.Approval{Of: engine.RecordID(h.Chain, c.Pre), Approved: approved, By: engine.ByInference}
}

// asked says that a person was asked about a call, and that no post record has
// told what came of it.
func (c *callEntry) asked() bool { return c != nil && c.Pre > 0 && c.Enforced == engine.Ask }

// closes says whether an end of an agent's turn (of all agents where name is
// empty) ends the wait for word of a call.
func (c *callEntry) closes(name string) bool {
	return c.Outcome == engine.OutcomePending && (name == "" || c.Agent == name)
}

// settle counts the outcome of a question when its call is over. One that was
// taken for refused may have run all the same.
func (h *State) settle(c *callEntry, o engine.Outcome) (approved bool) {
	if !c.asked() {
		return false
	}
	if c.Outcome == engine.OutcomeUnknown {
		h.Refused--
	}
	if o == engine.OutcomeDenied {
		h.Refused++
		return false
	}
	h.Approved++
	return true
}

// approve notes that a person agreed to the places that an action writes to: they
// count as named.
func (h *State) approve(a *engine.Action, o engine.Outcome) {
	if a == nil {
		return
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		if p := h.path(truncateKey(e.Place())); p != nil && p.Where != "" {
			p.Where = engine.WrittenNamed
			p.Agreed = o == engine.OutcomeRan && e.Kind == engine.EffectFileWrite && e.Certainty == engine.CertaintyExact
		}
	}
}

// agreed says how far a person's answer to an earlier question about a write goes:
// the same file, or another one of its folder.
func (h *State) agreed(e *engine.Effect) string {
	if e.Kind != engine.EffectFileWrite || e.Certainty != engine.CertaintyExact {
		return ""
	}
	key := truncateKey(e.Place())
	if p := h.path(key); p != nil && p.Agreed {
		return engine.AgreedFile
	}
	dir := path.Dir(key)
	if dir == "~" || dir == "/" {
		return "" // too much lies there to be one folder's work
	}
	if slices.ContainsFunc(h.Paths, func(p pathEntry) bool { return p.Agreed && path.Dir(p.Key) == dir }) {
		return engine.AgreedFolder
	}
	return ""
}
