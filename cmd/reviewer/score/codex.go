package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// codexLine is a line of a rollout that Codex writes about a session.
type codexLine struct {
	Type    string `json:"type"`
	Payload struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		CWD       string          `json:"cwd"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // of a function: JSON in a string
		Call      string          `json:"call_id"`
	} `json:"payload"`
}

// isCodex says whether a file begins as a rollout does.
func isCodex(raw []byte) bool {
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	var line codexLine
	return json.Unmarshal(first, &line) == nil && line.Type == "session_meta"
}

// readCodex reads the shell calls of a rollout: its other tools have no
// counterpart that the classifier knows.
func readCodex(raw []byte) (harness.Transcript, error) {
	var t harness.Transcript
	var cwd string
	in := bufio.NewReader(bytes.NewReader(raw))
	for n := 1; ; n++ {
		text, end := in.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			var line codexLine
			if err := json.Unmarshal(text, &line); err != nil {
				return t, fmt.Errorf("line %d: %w", n, err)
			}
			if line.Type == "session_meta" {
				t.Session, cwd = line.Payload.ID, line.Payload.CWD
			}
			if err := addCodexCall(&t, line, cwd); err != nil {
				return t, fmt.Errorf("line %d: %w", n, err)
			}
		}
		if end == io.EOF {
			return t, nil
		}
	}
}

func addCodexCall(t *harness.Transcript, line codexLine, cwd string) error {
	p := line.Payload
	if p.Type != "function_call" || p.Name != "exec_command" {
		return nil
	}
	var args struct {
		Command string `json:"cmd"`
		Dir     string `json:"workdir"`
	}
	var text string
	err := json.Unmarshal(p.Arguments, &text)
	if err == nil {
		err = json.Unmarshal([]byte(text), &args)
	}
	if err != nil {
		return fmt.Errorf("arguments of %s: %w", p.Name, err)
	}
	if args.Dir != "" {
		cwd = args.Dir
	}
	e, err := call(Row{Tool: "bash", Command: args.Command, CWD: cwd})
	e.Call = p.Call
	t.Events = append(t.Events, e)
	return err
}
