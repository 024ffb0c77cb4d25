package engine

import (
	"encoding/json"
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
	Args   json.RawMessage // Effect is Modify: the arguments to run with; raw, never recorded
	Grant  bool            // the person's own prompt may be skipped
	Stop   bool            // end the run

	Intervention string // kind of the intervention that was made; empty: none
	GoOn         bool   // the agent wants to stop; it is to read the text and go on
}

// AnswerFacts is an Answer as it is recorded.
type AnswerFacts struct {
	Effect    Verdict    `json:"effect"`
	Mode      AnswerMode `json:"mode"`
	MS        float64    `json:"ms,omitempty"`        // from receipt to the decision, milliseconds; not part of any comparison
	Of        string     `json:"of,omitempty"`        // a duplicate: the id of the record that contains the decision
	Failure   string     `json:"failure,omitempty"`   // why the answer is degraded
	Approvals []Approval `json:"approvals,omitempty"` // answers to earlier questions, as far as this event shows them
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
	a := Answer{ID: r.ID(), Effect: r.Answer.Effect, Mode: r.Answer.Mode}
	if r.Decision == nil {
		a.Text = Degraded(r.Phase, r.Answer.Failure).Text
		return a
	}
	a.Text = r.text()
	a.Grant = r.Decision.Grant && r.Decision.Decision == Allow // never where the policy only observes
	a.Stop = r.Decision.Stops()
	if i := r.Decision.Intervention; i != nil && r.Decision.Enforced != Allow {
		a.Intervention = i.Kind
	}
	a.GoOn = r.Phase == PhaseStop && r.Answer.Effect == Warn && r.Decision.corrects()
	return a
}

// text returns the text for the agent, with what only the record knows filled
// in.
func (r *Record) text() string {
	text, form := r.Decision.Text, r.Rewritten
	if form != nil && form.Failure != "" && r.Decision.Otherwise != nil {
		text = strings.ReplaceAll(r.Decision.Otherwise.Text, "{why}", form.Failure)
	}
	if made := r.Decision.Intervention; made != nil {
		text = strings.ReplaceAll(text, "{request}", made.Request)
	}
	if form != nil && form.Action != nil {
		text = strings.ReplaceAll(text, "{form}", form.Action.Resource)
	}
	return strings.ReplaceAll(text, "{id}", r.ID())
}
