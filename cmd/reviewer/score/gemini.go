package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// geminiSession is the file that Gemini CLI keeps of a session.
type geminiSession struct {
	Session  string `json:"sessionId"`
	Project  string `json:"projectHash"`
	Messages []struct {
		Type    string          `json:"type"`
		Content json.RawMessage `json:"content"` // of a person: text
		Calls   []geminiCall    `json:"toolCalls"`
	} `json:"messages"`
}

// geminiCall is a call with what came of it.
type geminiCall struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   map[string]any  `json:"args"`
	Status string          `json:"status"` // success, error, cancelled
	Result json.RawMessage `json:"result"`
}

// isGemini says whether a file begins as a session of Gemini CLI does.
func isGemini(raw []byte) bool {
	head := raw[:min(len(raw), 4<<10)]
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"sessionId"`)) && bytes.Contains(head, []byte(`"projectHash"`))
}

// readGemini reads the calls of a session. The file does not say in which
// directory the session was.
func readGemini(raw []byte) (harness.Transcript, error) {
	var s geminiSession
	if err := json.Unmarshal(raw, &s); err != nil {
		return harness.Transcript{}, fmt.Errorf("session of Gemini CLI: %w", err)
	}
	t := harness.Transcript{Session: s.Session}
	for _, m := range s.Messages {
		var text string
		if m.Type == "user" && json.Unmarshal(m.Content, &text) == nil {
			t.Events = append(t.Events, promptOf(text, workspace))
		}
		for _, c := range m.Calls {
			events, err := c.events()
			if err != nil {
				return t, err
			}
			t.Events = append(t.Events, events...)
		}
	}
	return t, nil
}

// events are the call, if there is a tool like it, and its result, if there is one.
func (c geminiCall) events() ([]engine.Event, error) {
	tool, args := geminiTool(c.Name, c.Args)
	if tool == "" {
		return nil, nil
	}
	e, err := toolCall(c.ID, tool, workspace, args)
	switch {
	case err != nil:
		return nil, err
	case c.Status == "success":
		return []engine.Event{e, resultOf(e, string(c.Result), "")}, nil
	case c.Status == "error":
		return []engine.Event{e, resultOf(e, "", string(c.Result))}, nil
	}
	return []engine.Event{e}, nil
}

// geminiTool is the tool of Claude Code that does what a tool of Gemini CLI
// does; empty if there is none.
func geminiTool(name string, args map[string]any) (string, map[string]any) {
	file := args["file_path"]
	if file == nil {
		file = args["absolute_path"]
	}
	switch name {
	case "run_shell_command":
		return "Bash", map[string]any{"command": args["command"]}
	case "write_file":
		return "Write", map[string]any{"file_path": file, "content": args["content"]}
	case "read_file":
		return "Read", map[string]any{"file_path": file}
	case "replace":
		return "Edit", map[string]any{"file_path": file, "old_string": args["old_string"], "new_string": args["new_string"]}
	case "glob":
		return "Glob", map[string]any{"pattern": args["pattern"]}
	case "search_file_content", "grep_search":
		return "Grep", map[string]any{"pattern": args["pattern"]}
	}
	return "", nil
}
