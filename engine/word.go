package engine

import "slices"

// AnswerCounts counts what people said in a session. Questions that were
// answered with yes and denials that were overruled are false positives.
type AnswerCounts struct {
	Asked     int64 `json:"asked"`     // calls that were answered with a question
	Approved  int64 `json:"approved"`  // of them, those that ran: inferred
	Refused   int64 `json:"refused"`   // of them, those that did not run by the next prompt or stop: inferred
	Overruled int64 `json:"overruled"` // times that a person allowed a call in a terminal
}

// How long a call is allowed, as SessionFacts.Allowed has it.
const (
	AllowedOnce    = "once"
	AllowedSession = "session"
)

// CallKey is what a call is recognised by when it is made again: the same
// arguments to the same tool in the same directory, since relative names mean
// something else elsewhere.
type CallKey struct {
	Print string // the action's fingerprint
	CWD   string
}

// CallKey returns what a record's call is recognised by; false where it cannot
// be told from others.
func (r *Record) CallKey() (CallKey, bool) {
	if r.Action == nil || r.Event == nil || r.Action.Fingerprint == "" {
		return CallKey{}, false
	}
	whole := !slices.ContainsFunc(r.Cut, func(c Cut) bool { return c.Field == "event.cwd" })
	return CallKey{r.Action.Fingerprint, r.Event.CWD}, whole
}

// foldAllow takes a person's word down. A word for the session is not made
// shorter by one for a single call, and two for a single call are one.
func (h *History) foldAllow(r *Record) {
	h.Overruled++
	a := allowed{
		N: r.N, Print: boundKey(r.Control.Print, digestLength), Dir: truncateKey(r.Control.CWD),
		Once: r.Control.Do == ControlAllowOnce, By: clipJSON(r.Control.By, keyLength),
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

// endAllowed takes back what was allowed for the session. Whoever takes the
// session up again is asked again.
func (h *History) endAllowed() {
	h.Allowed = slices.DeleteFunc(h.Allowed, func(a allowed) bool { return !a.Once })
}

// spend takes a word for a single call back once such a call is let through.
// One that is denied all the same leaves it.
func (h *History) spend(r *Record) {
	if i := h.allows(r); i >= 0 && h.Allowed[i].Once {
		h.Allowed = slices.Delete(h.Allowed, i, i+1)
	}
}

// allows returns the index of the word that allows a record's call, or -1.
func (h *History) allows(r *Record) int {
	if len(h.Allowed) == 0 || r.Phase != PhasePre {
		return -1
	}
	key, ok := r.CallKey()
	if !ok {
		return -1
	}
	return h.allowedAt(boundKey(key.Print, digestLength), truncateKey(key.CWD))
}

func (h *History) allowedAt(print, dir string) int {
	return slices.IndexFunc(h.Allowed, func(a allowed) bool { return a.Print == print && a.Dir == dir })
}

// approvals says what an event tells about the questions before it, of which
// it names the newest maxApprovals. A call that ran was approved; that of one
// nothing was heard by the next prompt or stop means no.
func (h *History) approvals(r *Record) []Approval {
	switch r.Kind {
	case KindPost:
		if c := h.call(agentOf(r), r.Call); c.asked() {
			return []Approval{h.approval(c, outcomeOf(r) != OutcomeDenied)}
		}
	case KindPrompt:
		return h.refusals("")
	case KindStop:
		return h.refusals(agentOf(r))
	}
	return nil
}

func (h *History) refusals(agent string) []Approval {
	var list []Approval
	for i := range h.Calls {
		if c := &h.Calls[i]; c.asked() && c.closes(agent) {
			list = append(list, h.approval(c, false))
		}
	}
	return keepLast(list, maxApprovals)
}

func (h *History) approval(c *callEntry, approved bool) Approval {
	return Approval{Of: RecordID(h.Chain, c.Pre), Approved: approved, By: ByInference}
}

// asked says that a person was asked about a call, and that no post record has
// told what came of it.
func (c *callEntry) asked() bool { return c != nil && c.Pre > 0 && c.Enforced == Ask }

// closes says whether an end of an agent's turn (of all agents where name is
// empty) ends the wait for word of a call.
func (c *callEntry) closes(name string) bool {
	return c.Outcome == OutcomePending && (name == "" || c.Agent == name)
}

// settle counts the outcome of a question when its call is over. One that was
// taken for refused may have run all the same.
func (h *History) settle(c *callEntry, o Outcome) {
	if !c.asked() {
		return
	}
	if c.Outcome == OutcomeUnknown {
		h.Refused--
	}
	if o == OutcomeDenied {
		h.Refused++
	} else {
		h.Approved++
	}
}
