package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"path"
	"strconv"
	"strings"
)

// sweStep is an action of a run of SWE-agent and its output. Whether it failed is not
// recorded.
type sweStep struct {
	Action string          `json:"action"`
	Output string          `json:"observation"`
	State  json.RawMessage `json:"state"` // an object, of old versions JSON in a string
}

// sweState is the directory of a step and the file that is open.
type sweState struct {
	Dir  string `json:"working_dir"`
	File string `json:"open_file"`
}

// isSWETrajectory reports whether a file begins as a trajectory of SWE-agent
// does: with the environment, or with the steps and the first action.
func isSWETrajectory(head []byte) bool {
	keys := topLevel(head)
	_, steps := keys["trajectory"]
	_, history := keys["history"]
	_, environment := keys["environment"]
	return steps && bytes.Contains(head, []byte(`"action"`)) || history && environment
}

// readSWETrajectory reads the actions of a run: lines of shell, and the tools
// that SWE-agent adds to the shell. A trajectory has no ids and no times.
func readSWETrajectory(r io.Reader) (Transcript, error) {
	s := newScribe(SWEAgent)
	s.out.LocalIDs = true
	d := newDocReader(r)
	err := d.whole(func(key string) error {
		switch key {
		case "trajectory":
			return d.array(func() error {
				raw, err := d.value()
				if err == nil {
					s.sweStep(raw)
				}
				return err
			})
		case "info":
			return s.sweInfo(d)
		}
		return d.skip()
	})
	return s.close(), d.end("trajectory of SWE-agent", "step", s.at, err)
}

func (s *translator) sweInfo(d *docReader) error {
	raw, err := d.value()
	var info struct {
		Version string `json:"swe_agent_version"`
	}
	if err == nil && json.Unmarshal(raw, &info) == nil {
		s.out.Version = info.Version
	}
	return err
}

func (s *translator) sweStep(raw []byte) {
	s.at++
	s.out.Lines++
	var step sweStep
	if !s.decode(raw, &step) {
		return
	}
	state, before, err := readSWEState(step.State)
	if err != nil {
		s.bad(err)
	}
	if before || s.cwd == "" {
		s.cwd = cmp.Or(state.Dir, s.cwd) // the first step's directory is only known at its end
	}
	if calls := sweCalls(step.Action, sweState{Dir: s.cwd, File: state.File}); calls != nil {
		id := "step-" + strconv.Itoa(s.at)
		s.note(id, calls)
		if err := s.result(id, ended(step.Output, "")); err != nil {
			s.bad(err)
		}
	}
	s.cwd = cmp.Or(state.Dir, s.cwd)
}

// readSWEState reads a state, and reports whether it is the one before the
// action: old versions write that one, as JSON in a string.
func readSWEState(raw json.RawMessage) (state sweState, before bool, err error) {
	var text string
	if json.Unmarshal(orNull(raw), &text) == nil {
		raw, before = json.RawMessage(text), true
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return state, before, nil
	}
	return state, before, json.Unmarshal(raw, &state)
}

// sweCalls returns the calls that are equivalent to an action; none for actions that
// end the run or only scroll an open file. Actions run in a shell: one that is more
// than a tool with its arguments is a command.
func sweCalls(action string, state sweState) []toolCall {
	words := strings.Fields(action)
	if len(words) == 0 {
		return nil
	}
	if text, edits := sweEdit(action); edits {
		return []toolCall{encoded("Edit", map[string]any{"file_path": state.File, "old_string": "", "new_string": text})}
	}
	command := []toolCall{encoded("Bash", map[string]any{"command": action})}
	if !isSingleCommand(strings.TrimSpace(action)) {
		return command
	}
	file := sweFile(nth(words, 1), state.Dir)
	switch words[0] {
	case "open":
		return []toolCall{encoded("Read", map[string]any{"file_path": file})}
	case "create":
		return []toolCall{encoded("Write", map[string]any{"file_path": file, "content": ""})}
	case "edit", "insert":
		return []toolCall{encoded("Edit", map[string]any{"file_path": state.File, "old_string": "", "new_string": strings.Join(words[1:], " ")})}
	case "str_replace_editor":
		return sweEditor(words[1:], state.Dir)
	case "find_file":
		return []toolCall{encoded("Glob", sweSearch(words, state.Dir))}
	case "search_dir", "search_file":
		return []toolCall{encoded("Grep", sweSearch(words, state.Dir))}
	case "goto", "scroll_up", "scroll_down", "submit", "exit_cost", "exit_format", "exit_context", "exit_error", "exit_forfeit":
		return nil
	}
	return command
}

// sweEdit returns the text of an edit, which is between its first line and an end
// mark.
func sweEdit(action string) (string, bool) {
	head, text, more := strings.Cut(action, "\n")
	words := strings.Fields(head)
	if !more || len(words) == 0 || words[0] != "edit" && words[0] != "insert" || !isSingleCommand(head) {
		return "", false
	}
	_, after, marked := strings.Cut("\n"+text, "\nend_of_edit")
	return text, !marked || strings.TrimSpace(after) == ""
}

// isSingleCommand reports whether a line of shell is one program and its arguments:
// nothing in it starts another, or writes to a file.
func isSingleCommand(line string) bool {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote != '\'' && (c == '`' || c == '$'):
			return false
		case quote == 0 && strings.IndexByte(";&|<>()\n", c) >= 0:
			return false
		}
	}
	return quote == 0
}

// sweSearch is COMMAND NAME-OR-TEXT [WHERE].
func sweSearch(words []string, dir string) map[string]any {
	args := map[string]any{"pattern": strings.Trim(nth(words, 1), `"'`)}
	if where := nth(words, 2); where != "" {
		args["path"] = sweFile(where, dir)
	}
	return args
}

func nth(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// sweEditor is str_replace_editor COMMAND PATH …
func sweEditor(words []string, dir string) []toolCall {
	if len(words) < 2 {
		return nil
	}
	file, rest := sweFile(words[1], dir), strings.Join(words[2:], " ")
	switch words[0] {
	case "view":
		return []toolCall{encoded("Read", map[string]any{"file_path": file})}
	case "create":
		return []toolCall{encoded("Write", map[string]any{"file_path": file, "content": rest})}
	}
	return []toolCall{encoded("Edit", map[string]any{"file_path": file, "old_string": "", "new_string": rest})}
}

func sweFile(word, dir string) string {
	word = strings.Trim(word, `"'`)
	if path.IsAbs(word) || word == "" {
		return word
	}
	return path.Join(dir, word)
}
