package harness

import (
	"cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

// Qwen is the name of Qwen Code in command lines and records.
const Qwen = "qwen"

// qwen describes the documents of Qwen Code: those of Claude Code. After each turn with calls
// the client reports a prompt again, without its text.
func qwen() dialect {
	return dialect{agent: Qwen, keys: claudeKeys(), ids: true, blankPrompt: true, finish: finishQwen,
		author: author{line: "submitted_prompt"},
		events: pascal(sessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure, postToolBatch, subagentStart,
			subagentStop,
			stop, sessionEnd),
		others: pascal(permissionRequest, "Notification", "PreCompact", "PostCompact", "StopFailure", "PermissionDenied", "TodoCreated",
			"TodoCompleted"),
	}
}

// finishQwen prefers the id of the call that the client's transcript has too. The other one is
// made for the hook.
func finishQwen(d document, e *engine.Event) error { return d.set(&e.Call, "tool_call_id") }

// qwenChannels states what the client does with a hook's answer.
func qwenChannels() engine.Channels {
	return engine.Channels{
		{Way: engine.WayDeny, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`permissionDecision: deny` with a reason, before the call"},
		{Way: engine.WayAsk, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`permissionDecision: ask`; where nobody can be asked, the client denies"},
		{Way: engine.WayModify, Support: engine.SupportNone,
			How: "the client ignores `updatedInput` and runs the original call, so reviewer asks about it"},
		{Way: engine.WayContext, Support: engine.SupportAdvisory,
			Phases: []engine.Phase{engine.PhaseStart, engine.PhasePrompt, engine.PhasePost, engine.PhaseStop},
			How:    "`additionalContext`, and `decision: block` at Stop; before a call the client drops it"},
		{Way: engine.WayReplace, Support: engine.SupportNone,
			How: "reviewer does not replace results"},
		{Way: engine.WayStop, Support: engine.SupportNone,
			How: "`continue: false` only denies the call; once a session is stopped, each of its calls is denied"},
		{Way: engine.WayKill, Support: engine.SupportNone,
			How: "no answer ends the client's process; only `reviewer run` can"},
	}
}

// encodeQwen encodes an answer for the client, which ignores a document after other text: the
// call runs. A new input is ignored too, so a call that is to be changed is asked about.
func encodeQwen(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	return encodeLikeClaude(event, a, encodeQwenPre)
}

func encodeQwenPre(a engine.Answer) []byte {
	s := &claudeSpecific{Event: PreToolUse}
	switch a.Effect {
	case engine.Allow:
		return nil
	case engine.Warn:
		return encodePerson(a) // the client does not pass text on to the model here
	case engine.Ask, engine.Modify:
		s.Decision, s.Reason = "ask", cmp.Or(a.Text, askText)
	default:
		s.Decision, s.Reason = "deny", cmp.Or(a.Text, denyText)
	}
	return encode(claudeCodeOutput{Specific: s})
}

// qwenRow is the agent's row in Harnesses.
func qwenRow() Harness {
	return qwen().row(Harness{
		Encode:   encodeQwen,
		Channels: qwenChannels(),
		Project:  "QWEN_PROJECT_DIR",
		Commands: []string{".qwen/commands", ".qwen/skills"},
		Programs: []string{"qwen", "qwen-code", "qwen.exe"},
		Marker:   "QWEN_CODE",
	})
}
