package history

import (
	"path"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
)

// foldAllow records a person's permission. A permission for the session is not
// shortened by one for a single call, and two for a single call count as one.
func (h *State) foldAllow(r *engine.Record) {
	h.Overruled++
	a := allowance{
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

// useAllowance uses up a permission for a single call once such a call is allowed. A
// call that is denied anyway leaves it.
func (h *State) useAllowance(r *engine.Record) {
	if i := h.allowanceFor(r); i >= 0 && h.Allowed[i].Once {
		h.Allowed = slices.Delete(h.Allowed, i, i+1)
	}
}

// allowanceFor returns the index of the permission for a record's call, or -1.
func (h *State) allowanceFor(r *engine.Record) int {
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
	return slices.IndexFunc(h.Allowed, func(a allowance) bool { return a.Print == print && a.Dir == dir })
}

// Approvals returns the answers that an event shows to the questions before it,
// for at most maxApprovals of the newest. A call that ran was approved; one
// without any result by the next prompt or stop was refused.
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

// asked reports whether a person was asked about a call whose outcome no post
// record has shown yet.
func (c *callEntry) asked() bool {
	return c != nil && c.Pre > 0 && c.Enforced == engine.Ask && !c.Agreed
}

// closes reports whether the end of an agent's turn (of any agent if name is
// empty) ends the wait for a call's result.
func (c *callEntry) closes(name string) bool {
	return c.Outcome == engine.OutcomePending && (name == "" || c.Agent == name)
}

// settle counts the outcome of a question when its call has ended. A call taken
// for refused may have run anyway.
func (h *State) settle(c *callEntry, o engine.Outcome) (approved bool) {
	if c.Agreed {
		return o != engine.OutcomeDenied
	}
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

// approve records that a person agreed to the places that an action writes to: they count as
// named. So do the names that the action repeats from answers from outside, such as a package:
// a person saw the name and let the call run.
func (h *State) approve(a *engine.Action, o engine.Outcome) {
	if a == nil {
		return
	}
	if o == engine.OutcomeRan {
		h.addMarks(labelPerson, h.read(a.Marks))
	}
	for i := range a.Effects {
		e := &a.Effects[i]
		if p := h.path(truncateKey(e.Place())); p != nil && p.Where != "" {
			p.Where = engine.LocationNamed
			p.Agreed = o == engine.OutcomeRan && e.Kind == engine.EffectFileWrite && e.Certainty == engine.CertaintyExact
		}
	}
}

// read returns those of the marks that occurred in an answer from outside.
func (h *State) read(marks []string) []string {
	return slices.DeleteFunc(slices.Clone(marks), func(m string) bool {
		return !hasDigits(h.Marks[engine.LabelUntrusted], m) && !hasDigits(h.Marks[engine.LabelService], m)
	})
}

// agreed reports how far a person's approval of an earlier write goes: the same file, or
// another one of its folder.
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
		return "" // these folders contain too much for one approval
	}
	if slices.ContainsFunc(h.Paths, func(p pathEntry) bool { return p.Agreed && path.Dir(p.Key) == dir }) {
		return engine.AgreedFolder
	}
	return ""
}

// foldQuestions follows the questions that wait for a person outside the agent.
func (h *State) foldQuestions(r *engine.Record) {
	if len(h.Questions) == 0 && (r.Answer == nil || r.Answer.Pending == nil) {
		return
	}
	h.Questions = h.Questions.Fold(r, h.Chain, h.Stop != nil)
	if r.Control == nil || r.Control.Decided == nil {
		return
	}
	for _, q := range h.Questions {
		if q.At == r.N {
			h.foldAnswer(q, r.Control)
		}
	}
}

// foldAnswer counts the answer to a question. A call that is denied in the end counts as one
// that policy denied; only a person's answer counts as a refusal.
func (h *State) foldAnswer(q approval.Question, choice *engine.Control) {
	c := h.callOf(q.N)
	if c == nil {
		return
	}
	unknown := c.Outcome == engine.OutcomeUnknown // it was taken for refused
	if q.State == approval.Approved {
		h.Approved++
		if c.Agreed = true; unknown {
			h.Refused--
		}
		return
	}
	if person := choice.Decided.Who == engine.DecidedPerson; !unknown {
		h.refuse(c, person)
		if person {
			h.Refused++
		}
	}
	c.Outcome, c.Enforced = engine.OutcomeDenied, engine.Block
	if a := h.agent(c.Agent); a != nil {
		if p := a.pastOf(c.Pre); p != nil {
			p.Outcome = engine.OutcomeDenied
		}
	}
}

// callOf returns the call of a record.
func (h *State) callOf(pre int64) *callEntry {
	for i := range h.Calls {
		if h.Calls[i].Pre == pre {
			return &h.Calls[i]
		}
	}
	return nil
}
