package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// denial starts a hook with unreadable input, and applies the agent's rules to the answer: it must be
// what the agent's row says of a failure before a call.
func (e *examination) denial(ctx context.Context, agent settings.Agent, h settings.OwnHook) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.Program, argumentsOf(agent, h)...)
	if e.prove && h.Line != "" {
		cmd = exec.CommandContext(ctx, "sh", "-c", h.Line)
	}
	cmd.Stdin = strings.NewReader("{}")
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return err
	}
	return denies(agent.Harness, h, cmd.ProcessState.ExitCode(), out.Bytes(), text.String())
}

func argumentsOf(agent settings.Agent, h settings.OwnHook) []string {
	args := []string{"hook", agent.Name, h.Event}
	if h.Home != "" {
		args = append(args, "--home", h.Home)
	}
	return args
}

// denies compares an answer with the one that the agent takes as a denial.
func denies(agent harness.Harness, h settings.OwnHook, status int, out []byte, text string) error {
	wantOut, wantText, want := agent.Failure(h.Event, "this input cannot be read")
	switch {
	case status != want:
		return fmt.Errorf("%s exited with status %d; the client treats only %d as a denial", h.Program, status, want)
	case len(wantOut) > 0 && !slices.Equal(keysOf(out), keysOf(wantOut)),
		bytes.Contains(wantOut, []byte(`"permissionDecision":"deny"`)) && !bytes.Contains(out, []byte(`"permissionDecision":"deny"`)):
		return fmt.Errorf("%s did not print a denial that the client understands", h.Program)
	case len(wantOut) == 0 && wantText != "" && strings.TrimSpace(text) == "":
		return fmt.Errorf("%s printed no reason; the client treats the status as a denial only with a text", h.Program)
	}
	return nil
}

// keysOf lists the members of the JSON object that an answer is; nil if it is none.
func keysOf(answer []byte) []string {
	var o map[string]json.RawMessage
	if json.Unmarshal(answer, &o) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(o))
}
