package harness

import (
	"cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

// Droid is the name of Factory droid in command lines and records.
const Droid = "droid"

// droid describes the documents of droid, which are Claude Code's without an id of the call and
// without a time. Started without a terminal, it raises no event for the prompt.
func droid() dialect {
	k := claudeKeys()
	k.call, k.promptID = "", ""
	return dialect{agent: Droid, keys: k,
		events: pascal(sessionStart, UserPromptSubmit, PreToolUse, PostToolUse, subagentStop, stop, sessionEnd),
		others: pascal("Notification", "PreCompact"),
	}
}

// droidChannels states what the client does with a hook's answer.
func droidChannels() engine.Channels {
	return engine.Channels{
		{Way: engine.WayDeny, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`permissionDecision: deny` before the call"},
		{Way: engine.WayAsk, Support: engine.SupportNone,
			How: "without a terminal the client runs a call that a hook asks about, so reviewer denies it"},
		{Way: engine.WayModify, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`updatedInput`, without a decision"},
		{Way: engine.WayContext, Support: engine.SupportAdvisory,
			Phases: []engine.Phase{engine.PhaseStart, engine.PhasePrompt, engine.PhasePost, engine.PhaseStop},
			How:    "`additionalContext`, and `decision: block` at Stop, as its vendor documents them; not observed"},
		{Way: engine.WayReplace, Support: engine.SupportNone,
			How: "reviewer does not replace results"},
		{Way: engine.WayStop, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre},
			How: "`continue: false` before the call, which does not run; in every later turn, each call is denied"},
		{Way: engine.WayKill, Support: engine.SupportNone,
			How: "no answer ends the client's process; only `reviewer run` can"},
	}
}

// encodeDroid encodes an answer for the client, which ignores text before the object. To allow a
// call, nothing is sent: `permissionDecision: allow` runs calls that the client itself would
// refuse.
func encodeDroid(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	return encodeLikeClaude(event, a, encodeDroidPre)
}

func encodeDroidPre(a engine.Answer) []byte {
	s := &claudeSpecific{Event: PreToolUse}
	switch {
	case a.Stop:
		no := false
		return encode(claudeCodeOutput{Continue: &no, StopReason: cmp.Or(a.Text, stopText)})
	case a.Effect == engine.Allow:
		return nil
	case a.Effect == engine.Warn:
		return notice(a.Text)
	case a.Effect == engine.Modify && isObject(a.Args):
		s.Input = a.Args
		return encode(claudeCodeOutput{SystemMessage: a.Text, Specific: s})
	}
	s.Decision, s.Reason = "deny", cmp.Or(a.Text, denyText)
	return encode(claudeCodeOutput{Specific: s})
}

// notice encodes text for the person alone; without text, nothing.
func notice(text string) []byte {
	if text == "" {
		return nil
	}
	return encode(claudeCodeOutput{SystemMessage: text})
}

// droidRow is the agent's row in Harnesses.
func droidRow() Harness {
	return droid().row(Harness{
		Encode:   encodeDroid,
		Channels: droidChannels(),
		Commands: []string{".factory/commands", ".factory/skills"},
		Programs: []string{"droid", "droid.exe"},
	})
}
