package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Kimi is the name of Kimi Code in command lines and records.
const Kimi = "kimi"

// kimi describes the documents of Kimi Code. They name no record of the session. Only events that were observed are installed: an
// entry that the client does not know switches off all hooks of the file.
func kimi() dialect {
	k := claudeKeys()
	k.call, k.result, k.failure = "tool_call_id", "tool_output", "error.message"
	k.mode, k.transcript, k.promptID, k.prompt, k.message = "", "", "", "", ""
	return dialect{agent: Kimi, keys: k, ids: true,
		events: pascal(sessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure, stop),
		others: pascal(sessionEnd, subagentStart, subagentStop, permissionRequest, "Notification", "PreCompact", "PostCompact",
			"StopFailure"),
		finish: finishKimi,
	}
}

// finishKimi reads a prompt, which is a list of parts.
func finishKimi(d document, e *engine.Event) error {
	raw := d.raw("prompt")
	if e.Phase != engine.PhasePrompt || raw == nil || json.Unmarshal(raw, &e.Prompt) == nil {
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return errors.New("prompt is neither a string nor a list of parts")
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	e.Prompt = strings.Join(texts, "\n")
	return nil
}

// kimiChannels states what the client does with a hook's answer.
func kimiChannels() engine.Channels {
	return engine.Channels{
		{Way: engine.WayDeny, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`permissionDecision: deny` with exit status 0, before the call"},
		{Way: engine.WayAsk, Support: engine.SupportNone,
			How: "the client runs a call that a hook asks about, so reviewer denies it"},
		{Way: engine.WayModify, Support: engine.SupportNone,
			How: "the client ignores `updatedInput`, so reviewer denies the call"},
		{Way: engine.WayContext, Support: engine.SupportAdvisory, Phases: []engine.Phase{engine.PhaseStop},
			How: "exit status 2 at Stop, once for each turn; the model reads the text, and nothing makes it comply"},
		{Way: engine.WayReplace, Support: engine.SupportNone,
			How: "the client keeps the result"},
		{Way: engine.WayStop, Support: engine.SupportNone,
			How: "the client ignores `continue: false`; once a session is stopped, each of its calls is denied"},
		{Way: engine.WayKill, Support: engine.SupportNone,
			How: "no answer ends the client's process; only `reviewer run` can"},
	}
}

// encodeKimi encodes an answer for the client, which obeys a denial only with exit status 0, alone
// on standard output, and lets the agent continue when a hook at Stop ends with 2.
func encodeKimi(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	a.Text = shorten(a.Text, maxText)
	switch event {
	case "", PreToolUse:
		if a.Effect == engine.Allow || a.Effect == engine.Warn {
			return nil, "", 0
		}
		s := &claudeSpecific{Event: PreToolUse, Decision: "deny", Reason: cmp.Or(a.Text, denyText)}
		return encode(claudeCodeOutput{Specific: s}), "", 0
	case stop:
		if a.GoOn && a.Text != "" && a.Effect != engine.Allow {
			return nil, a.Text + "\n", 2
		}
	}
	return nil, "", 0
}

// kimiRow is the agent's row in Harnesses.
func kimiRow() Harness {
	return kimi().row(Harness{
		Encode:   encodeKimi,
		Channels: kimiChannels(),
		Commands: []string{".kimi/skills", ".agents/skills"},
		Programs: []string{"kimi", "kimi.exe"},
	})
}
