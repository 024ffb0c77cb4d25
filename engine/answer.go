package engine

import (
	"encoding/json"
	"slices"
	"strings"
)

// AnswerMode is how an answer came about.
type AnswerMode string

// The modes of an answer.
const (
	ModeEnforced  AnswerMode = "enforced"  // the answer is the decision
	ModeObserve   AnswerMode = "observe"   // milder than the decision: the policy only observes
	ModeDegraded  AnswerMode = "degraded"  // something failed; a denial where the event can be denied
	ModeDuplicate AnswerMode = "duplicate" // the recorded answer again: the hook is installed twice
)

// Answer is what reviewer replies to the agent.
type Answer struct {
	ID     string // the record's id; empty if nothing could be recorded
	Effect Verdict
	Mode   AnswerMode
	Text   string          // for the agent (and the person, where the agent shows it)
	Notice string          // for the person instead of Text, where the agent shows them a text of their own
	Person string          // for the person alone, at the start of a session or turn, where the agent shows them a text of their own
	Args   json.RawMessage // Effect is Modify: the arguments to run with; raw, never recorded
	Tool   string          // of the call: an agent may be able to deny only some tools' calls gently
	Grant  bool            // the person's own prompt may be skipped
	Stop   bool            // end the run

	Intervention string // kind of the intervention that was made; empty: none
	GoOn         bool   // the agent wants to stop; it is to read the text and continue

	Slow  bool // the review took more CPU time than the policy expects
	Early bool // it is given before the review (mode: async)
}

// AnswerFacts is the recorded form of an Answer.
type AnswerFacts struct {
	Effect    Verdict    `json:"effect"`
	Mode      AnswerMode `json:"mode"`
	MS        float64    `json:"ms,omitempty"`        // from receipt to the decision, milliseconds; not part of any comparison
	CPU       float64    `json:"cpu_ms,omitempty"`    // CPU time of the same, milliseconds; not part of any comparison either
	Slow      bool       `json:"slow,omitempty"`      // that is more than performance.max_review_time_ms of the policy
	Of        string     `json:"of,omitempty"`        // a duplicate: the id of the record that contains the decision
	Unmet     []Unmet    `json:"unmet,omitempty"`     // what the agent does not support at this event, and what was done instead
	Failure   string     `json:"failure,omitempty"`   // why the answer is degraded
	Approvals []Approval `json:"approvals,omitempty"` // answers to earlier questions, as far as this event shows them
	Pending   *Pending   `json:"pending,omitempty"`   // ask: the call waits until a person answers; absent: the agent asks
	Granted   *Granted   `json:"granted,omitempty"`   // the person is not asked about the call, and why
}

// Pending describes a question that waits for a person outside the agent.
type Pending struct {
	Digest string `json:"digest"` // of what is asked; an answer repeats it
	Until  int64  `json:"until"`  // Unix milliseconds; without an answer by then the call is denied
}

// Approval is a person's answer to a question that policy asked. No agent
// reports it, so it is inferred: yes if the call ran, no if it had not run by
// the next prompt or stop.
type Approval struct {
	Of       string `json:"of"`       // id of the record whose answer was ask
	Approved bool   `json:"approved"` // the call ran
	By       string `json:"by"`       // ByInference
}

// ByInference marks an answer that nobody reported: it was inferred.
const ByInference = "inferred"

// Degraded returns the answer to an event that could not be reviewed: a denial
// where the call can still be denied, else silence. No other code makes this
// decision.
func Degraded(p Phase, failure string) Answer {
	if p != PhasePre {
		return Answer{Effect: Allow, Mode: ModeDegraded}
	}
	text := "reviewer could not review this call, so it does not run: " + failure +
		". Run `reviewer doctor` in a terminal to find the cause; do not try to get around it."
	return Answer{Effect: Block, Mode: ModeDegraded, Text: text}
}

// AnswerOf returns the answer that a record contains: the same words whether it
// is sent for the first time or repeated.
func AnswerOf(r *Record) Answer {
	if r.Answer == nil {
		return Answer{ID: r.ID(), Effect: Allow, Mode: ModeEnforced}
	}
	a := Answer{ID: r.ID(), Effect: r.Answer.Effect, Mode: r.Answer.Mode, Slow: r.Answer.Slow}
	if r.Decision == nil {
		a.Text = Degraded(r.Phase, r.Answer.Failure).Text
		return a
	}
	a.Text = r.text() + r.Answer.unmetText()
	a.Notice = strings.ReplaceAll(r.Decision.Notice, "{session}", r.Session)
	a.Grant = r.Decision.Grants() // never where the policy only observes
	a.Stop = r.Decision.Stops()
	if i := r.Decision.Intervention; i != nil && r.Decision.Enforced != Allow {
		a.Intervention = i.Kind
	}
	a.GoOn = r.Phase == PhaseStop && r.Answer.Effect == Warn && r.Decision.corrects()
	return a
}

// text returns the text for the agent, with the fields filled in that only the record has.
func (r *Record) text() string {
	text, form := r.Decision.Text, r.Rewritten
	if form != nil && form.Failure != "" && r.Decision.Otherwise != nil {
		text = strings.ReplaceAll(r.Decision.Otherwise.Text, "{why}", form.Failure)
	}
	if made := r.Decision.Intervention; made != nil {
		text = strings.NewReplacer("{request}", made.Request, "{progress}", made.Progress, "{session}", r.Session).Replace(text)
	}
	if form != nil && form.Action != nil {
		text = strings.ReplaceAll(text, "{form}", form.Action.Resource)
	}
	return strings.ReplaceAll(text, "{id}", r.ID())
}

// Way is a way in which an agent lets a hook act on its run.
type Way string

// The ways.
const (
	WayDeny    Way = "deny"           // the call does not run
	WayAsk     Way = "ask"            // a person decides on the call
	WayModify  Way = "modify"         // the call runs with other arguments
	WayContext Way = "add_context"    // the model reads additional context
	WayReplace Way = "replace_output" // the model reads a result other than that of the call
	WayStop    Way = "stop"           // the turn ends before the model is asked again
	WayKill    Way = "kill"           // the agent's process ends
)

// Ways lists every Way.
func Ways() []Way {
	return []Way{WayDeny, WayAsk, WayModify, WayContext, WayReplace, WayStop, WayKill}
}

func wayNames() []string {
	var list []string
	for _, w := range Ways() {
		list = append(list, string(w))
	}
	return list
}

// instead lists the ways to use if one is not available, strongest first. A call that nobody
// can be asked about must not run, so a question becomes a denial; a stop that cannot end the
// turn denies each later call.
func (w Way) instead() []Way {
	switch w {
	case WayModify:
		return []Way{WayAsk, WayDeny}
	case WayAsk:
		return []Way{WayDeny}
	case WayDeny:
		return []Way{WayStop, WayContext}
	case WayReplace:
		return []Way{WayContext}
	case WayStop:
		return []Way{WayKill, WayDeny, WayContext}
	}
	return nil
}

// Support is the extent to which an agent carries out a hook's answer.
type Support string

// The degrees of support.
const (
	SupportEnforced Support = "enforced"    // the agent must comply
	SupportAdvisory Support = "advisory"    // the model is told, and decides for itself
	SupportNone     Support = "not covered" // reviewer cannot do it
)

// Channel is an agent's support for one way.
type Channel struct {
	Way     Way
	Support Support
	Phases  []Phase // at which the way is offered
	How     string  // how it is done, or why it is not covered
}

// Channels lists the ways that an agent supports. Others are not covered.
type Channels []Channel

// Of returns the channel of a way.
func (c Channels) Of(w Way) Channel {
	for _, ch := range c {
		if ch.Way == w {
			return ch
		}
	}
	return Channel{Way: w, Support: SupportNone, How: "the agent does not support it"}
}

// Can reports whether a way is available at a phase.
func (c Channels) Can(w Way, p Phase) bool {
	ch := c.Of(w)
	return ch.Support != SupportNone && slices.Contains(ch.Phases, p)
}

// Strongest returns the strongest available way, at a phase, to do what is wanted; false: there is
// none.
func (c Channels) Strongest(want Way, p Phase) (Way, bool) {
	for _, w := range append([]Way{want}, want.instead()...) {
		if c.Can(w, p) {
			return w, true
		}
	}
	return "", false
}

// Unmet is a part of an answer that the agent does not support.
type Unmet struct {
	Want Way `json:"want"`           // what was wanted, one of Ways
	Used Way `json:"used,omitempty"` // what was done instead; empty: nothing
}

// unmetText tells the agent why a call that was to be asked about, or changed, does not
// run: the text of the policy does not apply.
func (a *AnswerFacts) unmetText() string {
	for _, u := range a.Unmet {
		if u.Used == WayDeny && (u.Want == WayAsk || u.Want == WayModify) {
			return "\nNobody can be asked about a call in this agent, so this one does not run. " +
				"The user can decide on it in a terminal, where `reviewer denials` lists it."
		}
	}
	return ""
}
