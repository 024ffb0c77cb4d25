package harness

import (
	"strings"
	"time"
)

// ClaudeCodeEvents are the events to install: every one that is reviewed or
// folded.
func ClaudeCodeEvents() []string {
	return []string{
		sessionStart, UserPromptSubmit, PreToolUse, permissionRequest, PostToolUse, PostToolUseFailure, postToolBatch,
		subagentStart, subagentStop, stop, sessionEnd,
	}
}

// ClaudeCodeTimeout returns the time that the client gives a hook. The hook's
// own deadline must be shorter, since a call runs when the client's expires.
//
// Tool calls: 60 s, a hundred times what 200 hooks at once on two cores take; a
// hook that needs longer is broken, and a person waits no longer for one call.
// Prompt, start and stop: 30 s, the client's own default for prompts, where a slow hook keeps a
// person waiting. The end: 5 s, since the client is closing, but
// more than its default of 1.5 s for all hooks together.
func ClaudeCodeTimeout(event string) time.Duration {
	switch event {
	case PreToolUse, PostToolUse, PostToolUseFailure, postToolBatch:
		return 60 * time.Second
	case sessionEnd:
		return 5 * time.Second
	}
	return 30 * time.Second
}

// QuoteShell writes any text as one quoted word of a shell.
func QuoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
