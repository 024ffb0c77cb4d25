package harness

import (
	"cmp"
	"encoding/json"

	"github.com/agent-reviewer/reviewer/engine"
)

// ClaudeCode is the name of Claude Code in command lines and records.
const ClaudeCode = "claude-code"

func claudeCode() dialect {
	return dialect{agent: ClaudeCode, events: ClaudeCodeEvents(), others: claudeCodeOthers(), keys: claudeCodeKeys(), prompt: "prompt_id"}
}

// DecodeClaudeCode reads the input of a hook.
func DecodeClaudeCode(event string, raw []byte, project string) (engine.Event, error) {
	return claudeCode().decode(event, raw, project)
}

// claudeCodeOthers are events of the client that no tool call follows, in addition
// to those for which reviewer is installed.
func claudeCodeOthers() []string {
	return []string{permissionRequest, "PermissionDenied", "Notification", "PreCompact", "PostCompact", "Setup", "StopFailure",
		"TeammateIdle", "TaskCreated", "TaskCompleted", "ConfigChange", "InstructionsLoaded", "WorktreeCreate", "WorktreeRemove",
		"CwdChanged", "FileChanged", "Elicitation", "ElicitationResult", "UserPromptExpansion"}
}

// claudeCodeKeys are the keys that reviewer reads.
func claudeCodeKeys() []string {
	return []string{
		"session_id", "cwd", "hook_event_name", "prompt_id", "permission_mode", "agent_id",
		"tool_name", "tool_input", "tool_use_id", "tool_response", "duration_ms",
		"error", "is_interrupt", "prompt", "source", "transcript_path", "last_assistant_message", "stop_hook_active",
	}
}

// maxChanged bounds the paths that are taken over from a response.
const maxChanged = 1000

// changedFiles returns the paths that were changed according to the response to a shell command.
// The client gives up easily, and does not say so in each response.
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
		if f != "" && len(list) < maxChanged {
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
