package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// codexLine is a line of a rollout that Codex writes about a session.
type codexLine struct {
	Type    string    `json:"type"`
	Time    time.Time `json:"timestamp"`
	Payload struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		CWD       string          `json:"cwd"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // of a function: JSON in a string
		Call      string          `json:"call_id"`
		Output    json.RawMessage `json:"output"`  // of a function: text, or parts of it
		Message   string          `json:"message"` // of a person
	} `json:"payload"`
}

// isCodex says whether a file begins as a rollout does.
func isCodex(raw []byte) bool {
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	var line codexLine
	return json.Unmarshal(first, &line) == nil && line.Type == "session_meta"
}

// codexReader reads the prompts of a rollout, and its shell calls with their
// results: its other tools have no counterpart that the classifier knows.
type codexReader struct {
	out   harness.Transcript
	cwd   string
	calls map[string]engine.Event // that wait for their result
}

func readCodex(raw []byte) (harness.Transcript, error) {
	r := codexReader{calls: map[string]engine.Event{}}
	in := bufio.NewReader(bytes.NewReader(raw))
	for n := 1; ; n++ {
		text, end := in.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			var line codexLine
			err := json.Unmarshal(text, &line)
			if err == nil {
				err = r.line(line)
			}
			if err != nil {
				return r.out, fmt.Errorf("line %d: %w", n, err)
			}
		}
		if end == io.EOF {
			return r.out, nil
		}
	}
}

func (r *codexReader) line(l codexLine) error {
	p := l.Payload
	switch {
	case l.Type == "session_meta":
		r.out.Session, r.cwd = p.ID, p.CWD
	case p.Type == "user_message":
		r.add(promptOf(p.Message, r.cwd), l.Time)
	case p.Type == "function_call" && p.Name == "exec_command":
		return r.call(l)
	case p.Type == "function_call_output":
		r.result(l)
	}
	return nil
}

func (r *codexReader) add(e engine.Event, at time.Time) {
	if !at.IsZero() {
		e.Time = at.UnixMilli()
	}
	r.out.Events = append(r.out.Events, e)
}

func (r *codexReader) call(l codexLine) error {
	var args struct {
		Command string `json:"cmd"`
		Dir     string `json:"workdir"`
	}
	var text string
	err := json.Unmarshal(l.Payload.Arguments, &text)
	if err == nil {
		err = json.Unmarshal([]byte(text), &args)
	}
	if err != nil {
		return fmt.Errorf("arguments of %s: %w", l.Payload.Name, err)
	}
	if args.Dir != "" {
		r.cwd = args.Dir
	}
	e, err := call(Row{Tool: "bash", Command: args.Command, CWD: r.cwd})
	if err != nil {
		return err
	}
	e.Call = l.Payload.Call
	r.calls[e.Call] = e
	r.add(e, l.Time)
	return nil
}

// result pairs a result with its call. Of one that still runs when Codex looks,
// no more is known than that it ran.
func (r *codexReader) result(l codexLine) {
	e, waits := r.calls[l.Payload.Call]
	if !waits {
		return
	}
	delete(r.calls, e.Call)
	var text string
	if json.Unmarshal(l.Payload.Output, &text) != nil {
		text = string(l.Payload.Output)
	}
	head, body, _ := strings.Cut(text, "\nOutput:\n") // times and ids, which differ each time
	_, code, ended := strings.Cut(head, "Process exited with code ")
	code, _, _ = strings.Cut(code, "\n")
	failure := ""
	if ended && code != "0" {
		failure = "Exit code " + code + "\n" + body
	}
	r.add(resultOf(e, body, failure), l.Time)
}
