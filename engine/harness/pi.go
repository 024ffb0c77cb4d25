package harness

import (
	"github.com/agent-reviewer/reviewer/engine"
)

// Pi is the name of pi in command lines and records.
const Pi = "pi"

// pi describes the documents that the extension sends: Claude Code's. The client has no sub-agents.
func pi() dialect {
	return dialect{agent: Pi, keys: claudeKeys(), ids: true,
		events: pascal(sessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure, stop, sessionEnd)}
}

func piChannels() engine.Channels {
	return pluginChannels("extension", "the extension blocks the call",
		"the extension changes the call's input; an extension that runs later can change it again",
		engine.PhaseStart, engine.PhasePrompt, engine.PhasePre, engine.PhasePost)
}

// encodePi encodes an answer for the extension.
func encodePi(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	return encodePlugin(event, a, []string{sessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure})
}

// piRow is the agent's row in Harnesses.
func piRow() Harness {
	return pi().row(Harness{
		Encode:   encodePi,
		Channels: piChannels(),
		Commands: []string{".pi/prompts", ".pi/skills", ".pi/agent/prompts", ".pi/agent/skills"},
		Programs: []string{"pi", "pi.exe"},
	})
}
