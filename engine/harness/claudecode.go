package harness

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// ClaudeCode is the name of Claude Code in command lines and records.
const ClaudeCode = "claude-code"

func claudeCode() dialect {
	events := pascal(ClaudeCodeEvents()...)
	for i := range events {
		if events[i].asks {
			events[i].phase = engine.PhaseRequest
		}
	}
	return dialect{agent: ClaudeCode, ids: true, events: events, others: pascal(claudeCodeOthers()...), keys: claudeKeys(),
		author: claudeAuthor(), finish: asked}
}

// DecodeClaudeCode reads the input of a hook.
func DecodeClaudeCode(event string, raw []byte, project string) (engine.Event, error) {
	return claudeCode().decode(event, raw, project)
}

// claudeCodeOthers are events of the client that no tool call follows, in addition
// to those for which reviewer is installed.
func claudeCodeOthers() []string {
	return []string{"PermissionDenied", "Notification", "PreCompact", "PostCompact", "Setup", "StopFailure",
		"TeammateIdle", "TaskCreated", "TaskCompleted", "ConfigChange", "InstructionsLoaded", "WorktreeCreate", "WorktreeRemove",
		"CwdChanged", "FileChanged", "Elicitation", "ElicitationResult", "UserPromptExpansion"}
}

// claudeKeys are the keys of Claude Code's documents, which several agents use.
func claudeKeys() keys {
	return keys{event: "hook_event_name", session: "session_id", cwd: "cwd", mode: "permission_mode", agent: "agent_id",
		transcript: "transcript_path", tool: "tool_name", input: "tool_input", call: "tool_use_id", result: "tool_response",
		failure: "error", interrupted: "is_interrupt", duration: "duration_ms", promptID: "prompt_id", prompt: "prompt",
		message: "last_assistant_message", again: "stop_hook_active"}
}

// maxChanged bounds the paths that are read from a response.
const maxChanged = 1000

// changedFiles returns the paths that were changed according to the response to a shell command.
// The client often gives up on finding them, and does not always report that.
func changedFiles(response json.RawMessage) []string {
	var said struct {
		Diff struct {
			Files   []editedFile `json:"files"`
			Changed []editedFile `json:"changedFiles"`
		} `json:"bashEditDiff"`
	}
	if json.Unmarshal(response, &said) != nil {
		return nil // of another shape: nothing depends on it
	}
	var list []string
	for _, f := range append(said.Diff.Changed, said.Diff.Files...) {
		if f != "" && len(list) < maxChanged && !slices.Contains(list, string(f)) {
			list = append(list, string(f))
		}
	}
	return list
}

// editedFile is a path, or an object that names one.
type editedFile string

func (f *editedFile) UnmarshalJSON(raw []byte) error {
	var named struct {
		Path     string `json:"path"`
		FilePath string `json:"filePath"`
		File     string `json:"file"`
	}
	if err := json.Unmarshal(raw, (*string)(f)); err == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &named); err == nil {
		*f = editedFile(cmp.Or(named.Path, named.FilePath, named.File))
	}
	return nil
}

// claudeCodeRow is the agent's row in Harnesses.
func claudeCodeRow() Harness {
	return claudeCode().row(Harness{
		Encode:    encodeClaudeCode,
		Failure:   failClaudeCode,
		Channels:  claudeCodeChannels(),
		Project:   "CLAUDE_PROJECT_DIR",
		Commands:  []string{".claude/commands", ".claude/skills"},
		Answering: []string{"-p", "--print", "--permission-prompt-tool", "--input-format", "--permission-prompts", "--sdk-url"},
		Programs:  []string{"claude", "claude-code", "claude.exe"},
		Marker:    "CLAUDECODE",
	})
}
