package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// TestResidentAnswersTheSame: the resident process answers each recorded event of a client, and
// input that is none, with the same bytes as a process of its own.
func TestResidentAnswersTheSame(t *testing.T) {
	inputs := map[string][]byte{"PreToolUse-empty.json": {}, "PreToolUse-broken.json": []byte("{\"session_id\":"),
		"PreToolUse-utf8.json": []byte("{\"session_id\":\"\xff\"}"), "Unknown-event.json": []byte("{}")}
	files, err := filepath.Glob("../../testdata/hooks/" + harness.ClaudeCode + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		inputs[filepath.Base(name)] = b
	}
	env := []string{"HOME=" + t.TempDir()}
	served, alone := t.TempDir(), t.TempDir()
	r := newResident(served)
	for name, input := range inputs {
		event, _, _ := strings.Cut(strings.TrimSuffix(name, ".json"), "-")
		args := []string{"hook", harness.ClaudeCode, event, "--home", served}
		got := r.handle(context.Background(), serve.Client{Pid: os.Getpid()}, &wire.Request{Home: served, Args: args, Env: env, Input: input}, nil)
		var stdout, stderr bytes.Buffer
		a := &cli.App{Streams: term.Streams{Stdin: bytes.NewReader(input), Stdout: &stdout, Stderr: &stderr, Env: variables(env)}}
		code := run(context.Background(), a, []string{"hook", harness.ClaudeCode, event, "--home", alone})
		want := wire.Answer{Exit: byte(code), Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
		if got.Status != wire.Answered || got.Exit != want.Exit || withoutIDs(got.Stdout, served) != withoutIDs(want.Stdout, alone) ||
			withoutIDs(got.Stderr, served) != withoutIDs(want.Stderr, alone) {
			t.Errorf("%s: exit %d, want %d\n%s%s\nwant\n%s%s", name, got.Exit, want.Exit, got.Stdout, got.Stderr, want.Stdout, want.Stderr)
		}
	}
}

// withoutIDs replaces what differs from one state directory to the next: its path, and the
// ids of records.
func withoutIDs(text []byte, home string) string {
	id := regexp.MustCompile(`[0-9a-f]{8}-[0-9]+`)
	return id.ReplaceAllString(strings.ReplaceAll(string(text), home, "HOME"), "ID")
}

// TestForms: what install does not write is left to a process of its own.
func TestForms(t *testing.T) {
	r := newResident(t.TempDir())
	for _, args := range [][]string{nil, {"version"}, {"hook"}, {"hook", harness.ClaudeCode}, {"hook", harness.ClaudeCode, "PreToolUse"},
		{"hook", "unknown", "PreToolUse", "--home", "/x"}, {"hook", harness.ClaudeCode, "--help", "--home", "/x"}, {"session", "resume", "x", "--home", "/x"}} {
		if a := r.handle(context.Background(), serve.Client{Pid: 1}, &wire.Request{Args: args}, nil); a.Status != wire.InProcess {
			t.Errorf("%q: %+v", args, a)
		}
	}
}
