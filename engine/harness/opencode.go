package harness

import (
	"github.com/agent-reviewer/reviewer/engine"
)

// OpenCode is the name of OpenCode in command lines and records.
const OpenCode = "opencode"

// openCode describes the documents that the plugin sends: Claude Code's. A call that failed raises no event.
func openCode() dialect {
	k := claudeKeys()
	k.spoken = "output_tokens"
	return dialect{agent: OpenCode, keys: k, ids: true,
		events: pascal(sessionStart, UserPromptSubmit, PreToolUse, PostToolUse, subagentStart, subagentStop, stop)}
}

func openCodeChannels() engine.Channels {
	return pluginChannels("plugin", "the plugin throws before the call",
		"the plugin changes the call's arguments; a plugin that runs later can change them again",
		engine.PhaseStart, engine.PhasePrompt, engine.PhasePre, engine.PhasePost, engine.PhaseAgentStart)
}

// encodeOpenCode encodes an answer for the plugin.
func encodeOpenCode(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	return encodePlugin(event, a, []string{sessionStart, UserPromptSubmit, PostToolUse, subagentStart})
}

// openCodeRow is the agent's row in Harnesses.
func openCodeRow() Harness {
	return openCode().row(Harness{
		Encode:   encodeOpenCode,
		Channels: openCodeChannels(),
		Commands: []string{".opencode/command", ".opencode/commands", ".opencode/skills", ".config/opencode/command", ".config/opencode/commands"},
		Programs: []string{"opencode", "opencode.exe"},
		Marker:   "OPENCODE",
	})
}
