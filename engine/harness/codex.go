package harness

import (
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Codex is the name of Codex CLI in command lines and records.
const Codex = "codex"

// CodexEvents are the events of Codex to install. It has none for a call that failed.
func CodexEvents() []string {
	return []string{sessionStart, UserPromptSubmit, PreToolUse, PostToolUse, subagentStart, subagentStop, stop, sessionEnd}
}

// codex describes the documents of Codex. The input of Bash contains only the command: the
// call's working directory is the event's cwd, and a terminal or another shell are not shown.
func codex() dialect {
	return dialect{agent: Codex, events: CodexEvents(),
		others: []string{permissionRequest, "PreCompact", "PostCompact", "Interrupt"},
		keys: []string{"session_id", "turn_id", "transcript_path", "cwd", "hook_event_name", "permission_mode", "agent_id",
			"tool_name", "tool_input", "tool_use_id", "tool_response", "prompt", "last_assistant_message", "stop_hook_active"},
		prompt: "turn_id"}
}

// DecodeCodex reads the input of a hook.
func DecodeCodex(event string, raw []byte, project string) (engine.Event, error) {
	return codex().decode(event, raw, project)
}

// CodexTimeout returns the time that the client gives a hook, for the same reasons as
// ClaudeCodeTimeout. At the end of a session the client reduces it to 3 s.
func CodexTimeout(event string) time.Duration {
	if event == sessionEnd {
		return 3 * time.Second
	}
	return ClaudeCodeTimeout(event)
}
