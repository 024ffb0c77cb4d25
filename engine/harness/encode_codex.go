package harness

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// codexChannels states what the client does with a hook's answer.
func codexChannels() engine.Channels {
	return engine.Channels{
		{Way: engine.WayDeny, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`permissionDecision: deny` with a reason, before the call"},
		{Way: engine.WayAsk, Support: engine.SupportNone,
			How: "the client runs a call that a hook asks about, so reviewer denies it"},
		{Way: engine.WayModify, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`updatedInput` with `permissionDecision: allow`, for the shell and for patches"},
		{Way: engine.WayContext, Support: engine.SupportAdvisory,
			Phases: []engine.Phase{engine.PhaseStart, engine.PhasePrompt, engine.PhasePre, engine.PhasePost, engine.PhaseStop},
			How:    "`additionalContext`, and `decision: block` at Stop; the model reads it, and nothing makes it comply"},
		{Way: engine.WayReplace, Support: engine.SupportNone,
			How: "the client could (`decision: block` after the call), but reviewer does not replace results"},
		{Way: engine.WayStop, Support: engine.SupportNone,
			How: "`continue: false` does not end the turn; once a session is stopped, each of its calls is denied"},
		{Way: engine.WayKill, Support: engine.SupportNone,
			How: "no answer ends the client's process; only `reviewer run` can"},
	}
}

// encodeCodex encodes an answer for the client, which ignores an answer with an unknown or
// missing field, without a reason, or with an exit status other than 0: the call runs.
// So a denial is the smallest object that the client accepts, alone on standard output.
//
// To allow a call, nothing is sent: a decision would be a grant.
func encodeCodex(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	return encodeLikeClaude(event, a, encodeCodexPre)
}

// encodeLikeClaude encodes an answer for clients with the events of Claude Code, which differ
// before a call. After a call it tells the model that the session was stopped: its next call is
// denied.
func encodeLikeClaude(event string, a engine.Answer, pre func(engine.Answer) []byte) (stdout []byte, stderr string, exit int) {
	a.Text, a.Notice = shorten(a.Text, maxText), shorten(a.Notice, maxText)
	switch event {
	case "", PreToolUse:
		return pre(a), "", 0
	case PostToolUse, PostToolUseFailure:
		if a.Stop {
			a.Effect, a.Text = engine.Block, cmp.Or(a.Text, stopText)
		}
		return encodeContext(event, a), "", 0
	case UserPromptSubmit, sessionStart:
		return encodeContext(event, a), "", 0
	case stop:
		return encodeNotice(a), "", 0
	}
	return nil, "", 0
}

func encodeCodexPre(a engine.Answer) []byte {
	s := &claudeSpecific{Event: PreToolUse}
	switch {
	case a.Effect == engine.Allow:
		return nil
	case a.Effect == engine.Warn:
		return encodeContext(PreToolUse, a)
	case a.Effect == engine.Modify && hasCommand(a.Args):
		s.Decision, s.Input, s.Context = "allow", a.Args, a.Text
		return encode(claudeCodeOutput{SystemMessage: a.Text, Specific: s})
	}
	s.Decision, s.Reason = "deny", cmp.Or(a.Text, denyText)
	return encode(claudeCodeOutput{Specific: s})
}

// hasCommand reports whether arguments are of the kind that the client replaces. It reads them
// more strictly than Go: what it cannot read, it ignores, and the original call runs.
func hasCommand(args json.RawMessage) bool {
	var in map[string]any
	if !isObject(args) || json.Unmarshal(args, &in) != nil {
		return false
	}
	command, is := in["command"].(string)
	return is && !strings.ContainsRune(command, utf8.RuneError)
}
