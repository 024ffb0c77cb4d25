package harness

import (
	"encoding/json"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Sample is a document that an agent could give to its hook before it runs a command of the shell.
type Sample struct {
	agent, document  string
	Event, Tool, Key string // Key: of the command in the tool's input; in brackets where it is a list
}

// samples are written like the documents that were captured from the agents. NAME is replaced by a
// JSON value.
func samples() []Sample {
	const claude = `{"session_id":SESSION,"cwd":CWD,"hook_event_name":EVENT,"tool_name":TOOL,"tool_input":INPUT,"tool_use_id":SESSION}`
	return []Sample{
		{ClaudeCode, claude, PreToolUse, "Bash", "command"},
		{Codex, claude, PreToolUse, "Bash", "command"},
		{Gemini, `{"session_id":SESSION,"cwd":CWD,"hook_event_name":EVENT,"timestamp":"2026-11-20T09:00:00.000Z",` +
			`"tool_name":TOOL,"tool_input":INPUT}`,
			"BeforeTool", "run_shell_command", "command"},
		{Copilot, `{"sessionId":SESSION,"timestamp":1795165200000,"cwd":CWD,"toolName":TOOL,"toolArgs":INPUT}`,
			"preToolUse", "bash", "command"},
		{Qwen, claude, PreToolUse, "run_shell_command", "command"},
		{Kimi, `{"session_id":SESSION,"cwd":CWD,"hook_event_name":EVENT,"client_type":"kimi_code_cli",` +
			`"tool_name":TOOL,"tool_input":INPUT,"tool_call_id":SESSION}`,
			PreToolUse, "Bash", "command"},
		{Droid, `{"session_id":SESSION,"cwd":CWD,"permission_mode":"auto-low","hook_event_name":EVENT,"tool_name":TOOL,"tool_input":INPUT}`,
			PreToolUse, "Execute", "command"},
		{Cline, `{"taskId":SESSION,"workspaceRoots":[CWD],"workspaceInfo":{"rootPath":CWD},"hookName":"tool_call",` +
			`"tool_call":{"id":SESSION,"name":TOOL,"input":INPUT}}`, PreToolUse, clineShell, "[commands]"},
		{OpenCode, claude, PreToolUse, "bash", "command"},
		{Pi, claude, PreToolUse, "bash", "command"},
		{Cursor, `{"conversation_id":SESSION,"generation_id":SESSION,"hook_event_name":EVENT,"workspace_roots":[CWD],"cwd":CWD,` +
			`"command":COMMAND,"sandbox":false}`, "beforeShellExecution", "", "command"},
	}
}

// SampleOf returns the sample of an agent.
func SampleOf(agent string) (Sample, bool) {
	for _, s := range samples() {
		if s.agent == agent {
			return s, true
		}
	}
	return Sample{}, false
}

// Document is the sample for a command in a folder.
func (s Sample) Document(session, folder, command string) []byte {
	input := map[string]any{s.Key: command}
	if key, list := strings.CutPrefix(s.Key, "["); list {
		input = map[string]any{strings.TrimSuffix(key, "]"): []string{command}}
	}
	return []byte(strings.NewReplacer("SESSION", literal(session), "CWD", literal(folder), "EVENT", literal(s.Event),
		"TOOL", literal(s.Tool), "INPUT", literal(input), "COMMAND", literal(command)).Replace(s.document))
}

// Denies reports whether what a hook printed for the sample is a denial: it has everything
// that a denial by Encode has, apart from the texts.
func (s Sample) Denies(h Harness, stdout []byte, exit int) bool {
	one, _, status := h.Encode(s.Event, blocked(s, "one"))
	other, _, _ := h.Encode(s.Event, blocked(s, "other"))
	got, want, another := leaves(stdout), leaves(one), leaves(other)
	for path, value := range want {
		now, has := got[path]
		if !has || value == another[path] && now != value {
			return false
		}
	}
	return exit == status && len(want) > 0
}

func blocked(s Sample, text string) engine.Answer {
	return engine.Answer{Effect: engine.Block, Text: text, Tool: s.Tool}
}

// leaves lists the values of a JSON document by their paths.
func leaves(raw []byte) map[string]string {
	var doc any
	list := map[string]string{}
	if json.Unmarshal(raw, &doc) == nil {
		addLeaves(list, "", doc)
	}
	return list
}

func addLeaves(list map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			addLeaves(list, path+"."+key, value)
		}
	case []any:
		for _, value := range v {
			addLeaves(list, path+"[]", value)
		}
	default:
		list[path] = literal(v)
	}
}
