package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
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
		got := r.handle(context.Background(), serve.Client{Pid: os.Getpid(), Own: true}, &wire.Request{Home: served, Args: args, Env: env, Input: input}, nil)
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
		{"hook", "unknown", "PreToolUse", "--home", "/x"}, {"hook", harness.ClaudeCode, "--help", "--home", "/x"}, {"session", "resume", "x", "--home", "/x"},
		{"hook", harness.ClaudeCode, "PreToolUse", "--home", "/x", "--key"}, {"hook", harness.ClaudeCode, "PreToolUse", "--home", "/x", "--key", "f"},
		{"hook", harness.ClaudeCode, "PreToolUse", "--home", "/x", "--key", someKey, "--key", someKey}} {
		if a := r.handle(context.Background(), serve.Client{Pid: 1}, &wire.Request{Args: args}, nil); a.Status != wire.InProcess {
			t.Errorf("%q: %+v", args, a)
		}
	}
}

const someKey = "0123456789abcdef0123456789abcdef"

// TestKeysOfHooks: one process answers hooks with different fingerprints, each as if it were alone, whichever came first.
func TestKeysOfHooks(t *testing.T) {
	ctx := context.Background()
	for _, first := range []bool{true, false} {
		home := t.TempDir()
		log := &audit.Store{Dir: home, Env: cli.Environment()}
		codes := &code.Store{Log: log, Cheap: true}
		secret, err := codes.Set(ctx, "kim", nil)
		if err != nil {
			t.Fatal(err)
		}
		key, err := codes.Unlock(ctx, secret)
		if err != nil {
			t.Fatal(err)
		}
		r := newResident(home)
		ask := func(session, fingerprint string) bool {
			input := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":%q,"tool_use_id":"t%d","cwd":"/srv/shop","tool_name":"Bash",`+
				`"tool_input":{"command":"ls"}}`, session, rand.Int())
			args := []string{"hook", harness.ClaudeCode, "PreToolUse", "--home", home, "--timeout", "60", "--key", fingerprint}
			a := r.handle(ctx, serve.Client{Pid: os.Getpid(), Own: true}, &wire.Request{Home: home, Args: args, Env: []string{"HOME=" + home}, Input: []byte(input)}, nil)
			if a.Status != wire.Answered {
				t.Fatalf("not answered: %+v", a)
			}
			return a.Exit == 0
		}
		person := key.Key()
		right := person.Fingerprint()
		for _, session := range []string{"a", "b"} {
			if !ask(session, right) {
				t.Fatal("the first call was denied")
			}
			k := engine.SessionKey{Harness: harness.ClaudeCode, Session: session}
			if err := errors.Join(log.Control(ctx, k, engine.Control{Do: engine.ControlStop, By: "kim"}, nil),
				log.Control(ctx, k, engine.Control{Do: engine.ControlResume, By: "kim"}, key)); err != nil {
				t.Fatal(err)
			}
		}
		one, other := ask, func(session, _ string) bool { return ask(session, someKey) }
		if !first {
			one, other = other, one
		}
		if one("a", right) != first || other("b", right) == first {
			t.Errorf("the right fingerprint first: %v: the resumed session's calls are answered with the wrong key", first)
		}
	}
}

// TestCodesThatWereShown: the resident process tries what has the form of a code, a person's prompt first.
func TestCodesThatWereShown(t *testing.T) {
	ctx := context.Background()
	home := t.TempDir()
	r := newResident(home)
	secret, err := newCode(home)
	if err != nil {
		t.Fatal(err)
	}
	other, err := code.New()
	if err != nil {
		t.Fatal(err)
	}
	h, _ := harness.Find(harness.ClaudeCode)
	r.noteCodes(r.plain, h, "PreToolUse", []byte(`{"tool_input":{"command":"echo `+other+`"}}`))
	r.noteCodes(r.plain, h, "UserPromptSubmit", []byte(`{"prompt":"approve it:\n`+strings.ToLower(secret)+`\nplease"}`))
	r.noteCodes(r.plain, h, "PostToolUse", []byte(`{"tool_response":"`+other+` and `+strings.ReplaceAll(secret, "-", "")+`"}`))
	if len(r.shown) != 2 {
		t.Errorf("%d texts", len(r.shown))
	}
	if seen, err := r.plain.CodeSeen(); seen || err != nil {
		t.Errorf("it was tried at once: %v", err)
	}
	if err := r.tryCode(ctx); err != nil {
		t.Fatal(err)
	}
	if seen, err := r.plain.CodeSeen(); !seen || err != nil {
		t.Errorf("the code in the prompt was not found: %v", err)
	}
	if err := errors.Join(r.tryCode(ctx), r.tryCode(ctx)); err != nil || len(r.shown) != 0 {
		t.Errorf("%d texts are left, %v", len(r.shown), err)
	}
}
