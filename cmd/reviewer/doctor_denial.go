package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// doctorInput cannot be read as an event of any agent, so a hook must deny it. It leaves nothing in the log: no agent sent it.
const doctorInput = `{"reviewer": "doctor"}`

// denial starts a hook with unreadable input, and applies the agent's rules to the answer:
// it must be the answer that the agent's row specifies for a failure before a call.
func (e *examination) denial(ctx context.Context, agent settings.Agent, h settings.OwnHook) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.Program, argumentsOf(agent, h)...)
	if e.prove {
		cmd = commandOf(ctx, agent, h)
	}
	cmd.Stdin = strings.NewReader(doctorInput)
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return err
	}
	return denies(agent.Harness, h, cmd.ProcessState.ExitCode(), out.Bytes(), text.String())
}

// sampleCommand is denied by the built-in policy. It is never run: a hook is asked about it.
const sampleCommand = "mkfs.ext4 /dev/sdz9"

// sampled asks a hook, run with its command from the settings, about a call that policy should deny. The question
// is recorded in the log, as a session of its own.
func (e *examination) sampled(ctx context.Context, s standingOf, h settings.OwnHook) {
	sample, has := harness.SampleOf(s.Agent.Name)
	folder, err := os.Getwd()
	if !has || err != nil || h.Event != sample.Event {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	cmd := commandOf(ctx, s.Agent, h)
	cmd.Stdin = bytes.NewReader(sample.Document(fmt.Sprintf("reviewer-doctor-%d", time.Now().UnixMilli()), folder, sampleCommand))
	out, _ := cmd.Output() // the status is examined
	const started = "run with its command from the settings, not by the agent"
	switch {
	case cmd.ProcessState == nil:
		e.say("fail", "the installed hook%s cannot be run with its command from the settings", s.of())
	case sample.Denies(s.Agent.Harness, out, cmd.ProcessState.ExitCode()):
		e.say("ok", "the hook%s, %s, denies the sample call `%s`", s.of(), started, sampleCommand)
	default:
		e.say("warn", "the hook%s, %s, does not deny the sample call `%s`: enforcement is not enforce, or your policy allows it",
			s.of(), started, sampleCommand)
	}
}

// commandOf is the hook as the agent starts it: by a line of a shell, where there is one.
func commandOf(ctx context.Context, agent settings.Agent, h settings.OwnHook) *exec.Cmd {
	if h.Line != "" {
		return exec.CommandContext(ctx, "sh", "-c", h.Line)
	}
	return exec.CommandContext(ctx, h.Program, argumentsOf(agent, h)...)
}

func argumentsOf(agent settings.Agent, h settings.OwnHook) []string {
	args := []string{"hook", agent.Name, h.Event}
	if h.Home != "" {
		args = append(args, "--home", h.Home)
	}
	if h.Key != "" {
		args = append(args, wire.KeyFlag, h.Key)
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
		return fmt.Errorf("%s printed no reason; the client treats the status as a denial only with a message", h.Program)
	}
	return nil
}

// keysOf lists the members of the JSON object that an answer is; nil if it is not one.
func keysOf(answer []byte) []string {
	var o map[string]json.RawMessage
	if json.Unmarshal(answer, &o) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(o))
}
