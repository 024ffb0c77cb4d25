package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// geminiSession is the file that Gemini CLI keeps of a session.
type geminiSession struct {
	Session  string `json:"sessionId"`
	Project  string `json:"projectHash"`
	Messages []struct {
		Calls []struct {
			ID   string         `json:"id"`
			Name string         `json:"name"`
			Args map[string]any `json:"args"`
		} `json:"toolCalls"`
	} `json:"messages"`
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
		for _, c := range m.Calls {
			tool, args := geminiTool(c.Name, c.Args)
			if tool == "" {
				continue
			}
			e, err := toolCall(c.ID, tool, workspace, args)
			if err != nil {
				return t, err
			}
			t.Events = append(t.Events, e)
		}
	}
	return t, nil
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
