package harness

import (
	"time"
)

// Codex is the name of Codex CLI in command lines and records.
const Codex = "codex"

// codex describes the documents of Codex. The input of Bash contains only the command: the
// call's working directory is the event's cwd, and a terminal or another shell are not shown. A call that failed raises no event.
func codex() dialect {
	k := claudeKeys()
	k.promptID = "turn_id"
	return dialect{agent: Codex, keys: k, ids: true,
		events: pascal(sessionStart, UserPromptSubmit, PreToolUse, PostToolUse, subagentStart, subagentStop, stop, sessionEnd),
		others: pascal(permissionRequest, "PreCompact", "PostCompact", "Interrupt"),
	}
}

// codexTimeout returns the time that the client gives a hook, for the same reasons as
// ClaudeCodeTimeout. At the end of a session the client reduces it to 3 s.
func codexTimeout(event string) time.Duration {
	if event == sessionEnd {
		return 3 * time.Second
	}
	return ClaudeCodeTimeout(event)
}

// codexRow is the agent's row in Harnesses.
func codexRow() Harness {
	return codex().row(Harness{
		Encode:   encodeCodex,
		Timeout:  codexTimeout,
		Channels: codexChannels(),
		Commands: []string{".codex/prompts", ".codex/skills", ".agents/skills"},
		Programs: []string{"codex", "codex.exe"},
		Marker:   "CODEX_THREAD_ID",
	})
}
