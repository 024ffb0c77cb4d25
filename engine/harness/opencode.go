package harness

import (
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// OpenCode is the name of OpenCode in command lines and records.
const OpenCode = "opencode"

// OpenCodeEvents are the events that the plugin reports. A call that failed raises none.
func OpenCodeEvents() []string { return eventNames(openCode().events) }

// openCode describes the documents that the plugin sends: Claude Code's.
func openCode() dialect {
	return dialect{agent: OpenCode, keys: claudeKeys(), ids: true,
		events: pascal(sessionStart, UserPromptSubmit, PreToolUse, PostToolUse, subagentStart, subagentStop, stop)}
}

// DecodeOpenCode reads the input of a hook.
func DecodeOpenCode(event string, raw []byte, project string) (engine.Event, error) {
	return openCode().decode(event, raw, project)
}

// OpenCodeTimeout returns the time that the plugin gives a hook.
func OpenCodeTimeout(event string) time.Duration { return ClaudeCodeTimeout(event) }

func openCodeChannels() engine.Channels {
	return pluginChannels("plugin", "the plugin throws before the call",
		"the plugin changes the call's arguments; a plugin that runs later can change them again",
		engine.PhaseStart, engine.PhasePrompt, engine.PhasePre, engine.PhasePost, engine.PhaseAgentStart)
}

// EncodeOpenCode encodes an answer for the plugin.
func EncodeOpenCode(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	return encodePlugin(event, a, []string{sessionStart, UserPromptSubmit, PostToolUse, subagentStart})
}

// FailOpenCode encodes a failure to answer.
func FailOpenCode(event, text string) (stdout []byte, stderr string, exit int) {
	return openCode().fail(event, text)
}

// openCodeRow is the agent's row in Harnesses.
func openCodeRow() Harness {
	return Harness{
		Name:     OpenCode,
		Decode:   DecodeOpenCode,
		Encode:   EncodeOpenCode,
		Failure:  FailOpenCode,
		Events:   OpenCodeEvents(),
		Phase:    openCode().phase,
		Timeout:  OpenCodeTimeout,
		Unit:     time.Second,
		Channels: openCodeChannels(),
		Commands: []string{".opencode/command", ".opencode/commands", ".opencode/skills", ".config/opencode/command", ".config/opencode/commands"},
		Programs: []string{"opencode", "opencode.exe"},
		Marker:   "OPENCODE",
	}
}
