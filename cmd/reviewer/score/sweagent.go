package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// sweRun is a trajectory that SWE-agent writes of a run.
type sweRun struct {
	Steps []struct {
		Action string          `json:"action"`
		Output string          `json:"observation"` // what it returned; that it failed is not said
		State  json.RawMessage `json:"state"`       // an object, of old versions JSON in a string
	} `json:"trajectory"`
}

// sweState is where a step runs, and the file that is open then.
type sweState struct {
	Dir  string `json:"working_dir"`
	File string `json:"open_file"`
}

// isSWE says whether a file begins as a trajectory of SWE-agent does: with the
// environment, or with the steps and the first action.
func isSWE(raw []byte) bool {
	head := raw[:min(len(raw), 64<<10)]
	return bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"trajectory"`)) && bytes.Contains(head, []byte(`"action"`))
}

// readSWE reads the actions of a run: lines of shell, and the tools that
// SWE-agent adds to the shell.
func readSWE(raw []byte) (harness.Transcript, error) {
	var run sweRun
	if err := json.Unmarshal(raw, &run); err != nil {
		return harness.Transcript{}, fmt.Errorf("trajectory of SWE-agent: %w", err)
	}
	var t harness.Transcript
	dir := ""
	for i, step := range run.Steps {
		state, before, err := readSWEState(step.State)
		if err != nil {
			return t, fmt.Errorf("step %d: state: %w", i+1, err)
		}
		if before || dir == "" {
			dir = cmp.Or(state.Dir, dir, workspace) // a session begins where its first step ends
		}
		if tool, args := sweTool(step.Action, sweState{Dir: dir, File: state.File}); tool != "" {
			e, err := toolCall("step-"+strconv.Itoa(i+1), tool, dir, args)
			if err != nil {
				return t, err
			}
			t.Events = append(t.Events, e, resultOf(e, step.Output, ""))
		}
		dir = cmp.Or(state.Dir, dir)
	}
	return t, nil
}

// readSWEState reads a state, and says whether it is the one before the action:
// old versions write that one, as JSON in a string.
func readSWEState(raw json.RawMessage) (state sweState, before bool, err error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw, before = json.RawMessage(text), true
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return state, before, nil
	}
	return state, before, json.Unmarshal(raw, &state)
}

// sweTool is the tool of Claude Code that does what an action does; empty for
// what only moves through a file or ends the run.
func sweTool(action string, state sweState) (string, map[string]any) {
	words := strings.Fields(action)
	if len(words) == 0 {
		return "", nil
	}
	name, rest := words[0], words[1:]
	file := ""
	if len(rest) > 0 {
		file = sweFile(rest[0], state.Dir)
	}
	switch name {
	case "open":
		return "Read", map[string]any{"file_path": file}
	case "create":
		return "Write", map[string]any{"file_path": file, "content": ""}
	case "edit", "insert":
		_, text, _ := strings.Cut(action, "\n")
		return "Edit", map[string]any{"file_path": state.File, "old_string": "", "new_string": text}
	case "str_replace_editor":
		return sweEditor(rest, state.Dir)
	case "goto", "scroll_up", "scroll_down", "find_file", "search_dir", "search_file", "submit", "exit_cost", "exit_format":
		return "", nil
	}
	return "Bash", map[string]any{"command": action}
}

// sweEditor is str_replace_editor COMMAND PATH …
func sweEditor(words []string, dir string) (string, map[string]any) {
	if len(words) < 2 {
		return "", nil
	}
	file := sweFile(words[1], dir)
	switch words[0] {
	case "view":
		return "Read", map[string]any{"file_path": file}
	case "create":
		return "Write", map[string]any{"file_path": file, "content": strings.Join(words[2:], " ")}
	}
	return "Edit", map[string]any{"file_path": file, "old_string": "", "new_string": strings.Join(words[2:], " ")}
}

func sweFile(word, dir string) string {
	word = strings.Trim(word, `"'`)
	if path.IsAbs(word) {
		return word
	}
	return path.Join(dir, word)
}
