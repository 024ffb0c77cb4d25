package harness

import (
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Codex is the name of Codex CLI in command lines and records.
const Codex = "codex"

// CodexEvents are the events of Codex to install. It has none for a call that failed.
func CodexEvents() []string { return eventNames(codex().events) }

// codex describes the documents of Codex. The input of Bash contains only the command: the
// call's working directory is the event's cwd, and a terminal or another shell are not shown.
func codex() dialect {
	k := claudeKeys()
	k.promptID = "turn_id"
	return dialect{agent: Codex, keys: k, ids: true,
		events: pascal(sessionStart, UserPromptSubmit, PreToolUse, PostToolUse, subagentStart, subagentStop, stop, sessionEnd),
		others: pascal(permissionRequest, "PreCompact", "PostCompact", "Interrupt"),
	}
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

// codexRow is the agent's row in Harnesses.
func codexRow() Harness {
	return Harness{
		Name:     Codex,
		Decode:   DecodeCodex,
		Encode:   EncodeCodex,
		Failure:  FailCodex,
		Events:   CodexEvents(),
		Phase:    codex().phase,
		Timeout:  CodexTimeout,
		Unit:     time.Second,
		Channels: codexChannels(),
		Commands: []string{".codex/prompts", ".codex/skills", ".agents/skills"},
		Programs: []string{"codex", "codex.exe"},
		Marker:   "CODEX_THREAD_ID",
	}
}
