package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf16"

	"github.com/agent-reviewer/reviewer/engine"
)

// maxText limits a string in UTF-16 units: the client writes anything longer than
// 10,000 to a file and shows a preview, which would cut off the end of a
// denial.
const maxText = 9500

// The texts of answers for which policy has none. The clients treat a denial without a reason
// as none, or give one of their own.
const (
	denyText = "reviewer denied this call."
	askText  = "reviewer asks a person to decide on this call."
	stopText = "reviewer stopped this session."
)

// claudeCodeOutput is the document that the client reads from a hook's standard output. It
// treats a wrong name or value as no answer, so only documented fields go out.
type claudeCodeOutput struct {
	Decision      string          `json:"decision,omitempty"` // Stop only: block, so that the agent reads Reason and continues
	Reason        string          `json:"reason,omitempty"`
	Continue      *bool           `json:"continue,omitempty"`
	StopReason    string          `json:"stopReason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Specific      *claudeSpecific `json:"hookSpecificOutput,omitempty"`
}

type claudeSpecific struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"` // PreToolUse only: replaces the whole input
	Request  *claudeBehavior `json:"decision,omitempty"`     // PermissionRequest only
	Context  string          `json:"additionalContext,omitempty"`
}

type claudeBehavior struct {
	Behavior string `json:"behavior"`
	Message  string `json:"message,omitempty"`
}

// claudeCodeChannels states what the client does with a hook's answer.
func claudeCodeChannels() engine.Channels {
	return engine.Channels{
		{Way: engine.WayDeny, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`permissionDecision: deny` and exit status 2 before the call"},
		{Way: engine.WayAsk, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`permissionDecision: ask`; where nobody can be asked, the client denies"},
		{Way: engine.WayModify, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`updatedInput`, without a decision; if another hook changes the call too, the last one wins"},
		{Way: engine.WayContext, Support: engine.SupportAdvisory,
			Phases: []engine.Phase{engine.PhaseStart, engine.PhasePrompt, engine.PhasePre, engine.PhasePost, engine.PhaseBatch,
				engine.PhaseAgentStart, engine.PhaseAgentStop, engine.PhaseStop},
			How: "`additionalContext`, and `decision: block` at Stop; the model reads it, and nothing makes it comply"},
		{Way: engine.WayReplace, Support: engine.SupportNone,
			How: "the client could (`updatedToolOutput`), but reviewer does not replace results"},
		{Way: engine.WayStop, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePost, engine.PhaseBatch},
			How: "`continue: false` after the call; until then, and in every later turn, each call is denied"},
		{Way: engine.WayKill, Support: engine.SupportNone,
			How: "no answer ends the client's process; only `reviewer run` can"},
	}
}

// encodeClaudeCode encodes an answer for the client.
//
// To allow a call, nothing is sent: `permissionDecision: allow` would skip the
// person's own prompt, so it is sent only where the answer grants that. A
// denial is sent twice, as JSON and as exit status 2, since with either alone
// there are client versions and failures in which the call runs. A stop is
// carried out only after a call and after a batch: before a call the client
// would let that call run, or not stop.
func encodeClaudeCode(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	a.Text, a.Notice = shorten(a.Text, maxText), shorten(a.Notice, maxText)
	switch event {
	case "", PreToolUse:
		return encodePre(a)
	case permissionRequest:
		return encodeRequest(a)
	case PostToolUse, PostToolUseFailure, postToolBatch:
		return encodePost(event, a), "", 0
	case UserPromptSubmit, sessionStart, subagentStart:
		return encodeContext(event, a), "", 0
	case stop, subagentStop:
		return encodeNotice(a), "", 0
	}
	return nil, "", 0
}

// failClaudeCode encodes a failure to answer: a denial before a tool call, and
// where the event is unknown. Everywhere else it is silent: a failing hook
// there would erase the person's prompt, end the agent's loop or force it to
// continue. Without an answer to a request the agent asks a person.
func failClaudeCode(event, text string) (stdout []byte, stderr string, exit int) {
	if event == permissionRequest {
		return nil, "", 0
	}
	phase := claudeCode().answerPhase(event)
	if phase == engine.PhasePre {
		event = PreToolUse
	}
	return encodeClaudeCode(event, engine.Degraded(phase, text))
}

func encodePre(a engine.Answer) ([]byte, string, int) {
	s := &claudeSpecific{Event: PreToolUse, Reason: a.Text}
	switch a.Effect {
	case engine.Allow:
		if !a.Grant {
			return nil, "", 0
		}
		s.Decision = "allow"
	case engine.Warn:
		return encodeContext(PreToolUse, a), "", 0
	case engine.Modify:
		if isObject(a.Args) {
			return encodeModify(a), "", 0
		}
		fallthrough // without a modified form there is nothing that may run unasked
	case engine.Ask:
		s.Decision = "ask"
		s.Reason = cmp.Or(a.Text, askText)
	default:
		s.Decision = "deny"
		s.Reason = cmp.Or(a.Text, denyText)
		return encode(claudeCodeOutput{Specific: s}), s.Reason + "\n", 2
	}
	return encode(claudeCodeOutput{Specific: s}), "", 0
}

// encodeModify replaces the call's input and leaves the decision to the client:
// with `permissionDecision: allow` the person's own prompt would not appear.
// The new input is sent exactly as it was made, except for space between its
// values: no number or escape is re-encoded.
func encodeModify(a engine.Answer) []byte {
	s := &claudeSpecific{Event: PreToolUse, Input: a.Args, Context: a.Text}
	return encode(claudeCodeOutput{SystemMessage: a.Text, Specific: s})
}

// isObject reports whether a string is a JSON object: the client accepts no other
// input, and runs the original call when it gets one.
func isObject(raw json.RawMessage) bool {
	return json.Valid(raw) && bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{"))
}

// encodeRequest sends something only to grant the call or to deny it: the client's own prompt serves
// for `ask`, and a call that was modified before it came here arrives in that
// form. The client ignores the exit status here.
func encodeRequest(a engine.Answer) ([]byte, string, int) {
	if a.Effect == engine.Allow && a.Grant {
		return encode(claudeCodeOutput{Specific: &claudeSpecific{Event: permissionRequest, Request: &claudeBehavior{Behavior: "allow"}}}), "", 0
	}
	if a.Effect.Strictness() < engine.Block.Strictness() {
		return nil, "", 0
	}
	text := cmp.Or(a.Text, denyText)
	s := &claudeSpecific{Event: permissionRequest, Request: &claudeBehavior{Behavior: "deny", Message: text}}
	return encode(claudeCodeOutput{Specific: s}), text + "\n", 2
}

// encodePost addresses the model and the person. `decision: block` is never
// sent: it undoes nothing, and the client quotes the hook's command line with
// it.
func encodePost(event string, a engine.Answer) []byte {
	if !a.Stop {
		return encodeContext(event, a)
	}
	no := false
	return encode(claudeCodeOutput{Continue: &no, StopReason: cmp.Or(a.Text, stopText)})
}

func encodeContext(event string, a engine.Answer) []byte {
	if a.Effect == engine.Allow || a.Text == "" {
		return notice(a.Person)
	}
	return encode(claudeCodeOutput{SystemMessage: forPerson(a), Specific: &claudeSpecific{Event: event, Context: a.Text}})
}

// forPerson is what the person is shown where the model reads the text of an answer.
func forPerson(a engine.Answer) string {
	return strings.TrimSuffix(cmp.Or(a.Notice, a.Text)+"\n"+a.Person, "\n")
}

// encodeNotice addresses only the person, unless the agent is expected to continue: context
// given to a stopping agent starts another turn.
func encodeNotice(a engine.Answer) []byte {
	if a.Effect == engine.Allow || a.Text == "" {
		return nil
	}
	if a.GoOn {
		return encode(claudeCodeOutput{Decision: "block", Reason: a.Text, SystemMessage: a.Text})
	}
	return encode(claudeCodeOutput{SystemMessage: a.Text})
}

// encode writes a document alone. The documents contain strings, and JSON that was checked.
func encode[T claudeCodeOutput | geminiOutput | copilotOutput | clineOutput | cursorOutput](out T) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil {
		return nil // not reached
	}
	return b.Bytes()
}

// shorten cuts the middle of a string: its start describes the error, its end what to do.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s // a UTF-16 unit takes at least one byte of UTF-8
	}
	units := utf16.Encode([]rune(s))
	if len(units) <= limit {
		return s
	}
	const gap = " […] "
	head := (limit - len(gap)) / 2
	tail := limit - len(gap) - head
	return decode16(units[:head]) + gap + decode16(units[len(units)-tail:])
}

// decode16 drops the half of a surrogate pair that was cut in two.
func decode16(units []uint16) string {
	if n := len(units); n > 0 && utf16.IsSurrogate(rune(units[n-1])) && units[n-1] < 0xDC00 {
		units = units[:n-1]
	}
	if len(units) > 0 && units[0] >= 0xDC00 && units[0] <= 0xDFFF {
		units = units[1:]
	}
	return string(utf16.Decode(units))
}
