package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/await"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
	"github.com/agent-reviewer/reviewer/engine/serve/apiclient"
	"github.com/agent-reviewer/reviewer/engine/serve/apiserver"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// apiBench is a resident process with the API, whose policy lets all questions wait.
type apiBench struct {
	t                    *testing.T
	home, shop           string
	address, token, code string
	resident             *resident
	client               *apiclient.Client
	stderr               bytes.Buffer
}

func newAPIBench(t *testing.T) *apiBench {
	t.Helper()
	b := &apiBench{t: t, home: t.TempDir(), shop: t.TempDir()}
	if err := os.Mkdir(filepath.Join(b.home, "policy"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := []byte("approvals: {queue: always, wait_seconds: 40}\n")
	if err := os.WriteFile(filepath.Join(b.home, "policy", "settings.yaml"), settings, 0o600); err != nil {
		t.Fatal(err)
	}
	b.resident = newResident(b.home)
	a := &cli.App{Home: b.home, Streams: term.Streams{Stderr: &b.stderr, Env: variables([]string{"HOME=" + b.shop})}}
	var err error
	if b.address, err = b.resident.serveAPI(t.Context(), a, "127.0.0.1:0", func() func() { return func() {} }); err != nil {
		t.Fatal(err)
	}
	if b.token, err = apiclient.ReadToken(filepath.Join(b.home, apiserver.TokenFile)); err != nil {
		t.Fatal(err)
	}
	if b.code, err = (&code.Store{Log: b.resident.plain, Cheap: true}).Set(t.Context(), "kim", nil); err != nil {
		t.Fatal(err)
	}
	if err := acceptPolicy(b.resident.plain, b.code); err != nil {
		t.Fatal(err)
	}
	b.client = apiclient.New(b.address, b.token)
	return b
}

// hook is the hook of a call: its answer arrives when the question has one.
func (b *apiBench) hook(command string) <-chan *wire.Answer { return b.hookOf("s1", command) }

func (b *apiBench) hookOf(session, command string) <-chan *wire.Answer {
	input, err := json.Marshal(map[string]any{"session_id": session, "cwd": b.shop, "hook_event_name": "PreToolUse", "tool_name": "Bash",
		"tool_use_id": fmt.Sprint("call-", len(command)), "tool_input": map[string]any{"command": command}})
	if err != nil {
		b.t.Fatal(err)
	}
	args := []string{"hook", harness.ClaudeCode, "PreToolUse", "--home", b.home, wire.TimeoutFlag, "60"}
	done := make(chan *wire.Answer, 1)
	go func() {
		done <- b.resident.handle(context.Background(), serve.Client{Pid: os.Getpid(), Own: true}, &wire.Request{Home: b.home, Args: args, Env: []string{"HOME=" + b.shop}, Input: input}, nil)
	}()
	return done
}

// events reads events in the background.
func (b *apiBench) events(ctx context.Context) <-chan api.Event {
	list := make(chan api.Event, 64)
	go func() {
		for e, err := range b.client.Events(ctx) {
			if err == nil {
				list <- e
			}
		}
	}()
	return list
}

func (b *apiBench) wait(events <-chan api.Event, kind string) api.Event {
	b.t.Helper()
	for {
		select {
		case e := <-events:
			if e.Kind == kind {
				return e
			}
		case <-time.After(5 * time.Minute):
			b.t.Fatalf("no event %s", kind)
		}
	}
}

const asked = "npm publish"

func TestAPIAnswersHooks(t *testing.T) {
	b := newAPIBench(t)
	ctx, end := context.WithTimeout(t.Context(), 2*time.Minute)
	defer end()
	events := b.events(ctx)
	first := b.hook(asked)
	q, err := b.client.Question(ctx, b.wait(events, api.EventOpened).Question)
	if err != nil || q.Action != asked || q.Digest == "" || len(q.Reasons) == 0 {
		t.Fatalf("%+v, %v", q, err)
	}
	refused := new(apiclient.RefusedError)
	if _, err := b.client.Answer(ctx, q.ID, "0000-0000-0000", api.Answer{Digest: q.Digest, Approve: true}); !isRefused(err, refused, 403, api.CodeWrongCode) {
		t.Errorf("a wrong code: %v", err)
	}
	if _, err := b.client.Answer(ctx, q.ID, b.code, api.Answer{Digest: q.Digest, Message: "push to a branch"}); err != nil {
		t.Fatal(err)
	}
	if a := <-first; !strings.Contains(string(a.Stdout), "push to a branch") || !strings.Contains(string(a.Stdout), `"deny"`) {
		t.Errorf("denied: %s", a.Stdout)
	}
	if e := b.wait(events, api.EventAnswered); e.Question != q.ID || e.State != "denied" {
		t.Errorf("%+v", e)
	}
	second := b.hook(asked + " ")
	if q, err = b.client.Question(ctx, b.wait(events, api.EventOpened).Question); err != nil {
		t.Fatal(err)
	}
	done, err := b.client.Answer(ctx, q.ID, b.code, api.Answer{Digest: q.Digest, Approve: true})
	if err != nil || !done.Approved {
		t.Fatalf("%+v, %v", done, err)
	}
	if a := <-second; !strings.Contains(string(a.Stdout), `"allow"`) {
		t.Errorf("approved: %s", a.Stdout)
	}
	if e := b.wait(events, api.EventDecision); e.Session != "s1" || e.Harness != harness.ClaudeCode {
		t.Errorf("%+v", e)
	}
	if _, err := b.client.Answer(ctx, q.ID, b.code, api.Answer{Digest: q.Digest}); !isRefused(err, refused, 409, api.CodeAnswered) {
		t.Errorf("after it ran: %v", err)
	}
	one, err := b.client.Session(ctx, "s1")
	if err != nil || one.Session.Asked != 2 || len(one.Questions) != 0 {
		t.Errorf("%+v, %v", one, err)
	}
}

func isRefused(err error, into *apiclient.RefusedError, status int, reason string) bool {
	e, ok := err.(*apiclient.RefusedError)
	if ok {
		*into = *e
	}
	return ok && e.Status == status && e.Why.Code == reason
}

// Events of other programs are decided, and leave no trace.
func TestAPIReviewsWithoutRecording(t *testing.T) {
	b := newAPIBench(t)
	for event, want := range map[string]string{
		`{"id":"a","session":"s1","tool":"Bash","args":{"command":"ls"},"cwd":"/srv/shop"}`:       "allow",
		`{"id":"b","session":"s1","tool":"Bash","args":{"command":"rm -rf ~"},"cwd":"/srv/shop"}`: "block",
		`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf ~"}}`: "block",
		`{"session":"s1","phase":"prompt","prompt":"push to main"}`:                               "",
		`{"hook_event_name":"UserPromptSubmit","session_id":"s1","prompt":"push to main"}`:        "",
		`{"hook_event_name":"Stop","session_id":"s1"}`:                                            "",
		`{"tool":"Bash","args":{"command":"ls"},"as":"root"}`:                                     "",
		`[]`: "",
	} {
		got, err := b.client.Review(t.Context(), json.RawMessage(event))
		if string(got.Decision) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v", event, got.Decision, err)
		}
	}
	if all, err := b.client.Sessions(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// Neither secrets of a call nor those of the API appear where they must not.
func TestAPIShowsNoSecrets(t *testing.T) {
	b := newAPIBench(t)
	secret := "glpat-" + classifytest.Made(7, 20, "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
	events := b.events(t.Context())
	await.Until(t, "events are read", b.resident.hub.Followed)
	done := b.hook("TOKEN=" + secret + " " + asked)
	id := b.wait(events, api.EventOpened).Question
	q, err := b.client.Question(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = b.client.Answer(t.Context(), id, "1111-2222-3333", api.Answer{Digest: q.Digest, Message: secret}) // refused
	if _, err := b.client.Answer(t.Context(), id, b.code, api.Answer{Digest: q.Digest, Message: "use " + secret}); err != nil {
		t.Fatal(err)
	}
	answer := <-done
	shown, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string][]byte{"the question": shown, "the agent's answer": slices.Concat(answer.Stdout, answer.Stderr), "messages": b.stderr.Bytes()}
	err = filepath.WalkDir(b.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == apiserver.TokenFile {
			return err
		}
		text, err := os.ReadFile(path)
		seen[path] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"the secret of a call": secret, "the token": b.token, "the code": b.code, "a wrong code": "1111-2222-3333"} {
		for where, all := range seen {
			if i := bytes.Index(all, []byte(text)); i >= 0 {
				t.Errorf("%s is in %s: %.200q", name, where, all[max(0, i-80):])
			}
		}
	}
}

// The example of docs/api.md does what it says.
func TestAPIExample(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	source, err := os.ReadFile("../../docs/api-example.py")
	if err != nil || bytes.Count(source, []byte("\n")) > 30 {
		t.Fatalf("%d lines, %v", bytes.Count(source, []byte("\n")), err)
	}
	b := newAPIBench(t)
	ctx, end := context.WithTimeout(t.Context(), 2*time.Minute)
	defer end()
	cmd := exec.CommandContext(ctx, python, "../../docs/api-example.py", b.address, filepath.Join(b.home, apiserver.TokenFile))
	cmd.Stdin = strings.NewReader(b.code + "\n")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the example reads events", b.resident.hub.Followed)
	answer := <-b.hook(asked)
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "denied ") || !strings.Contains(string(answer.Stdout), "not while the demo runs") {
		t.Errorf("%v\n%s\n%s", err, out.String(), answer.Stdout)
	}
}

// The port at which the API really listens and the files that reveal its secrets are kept from
// tools, in a state folder of any name.
func TestAPIIsKeptFromTools(t *testing.T) {
	b := newAPIBench(t)
	_, port, ok := strings.Cut(b.address, ":")
	if !ok {
		t.Fatal(b.address)
	}
	for command, rule := range map[string]string{
		"curl -s http://localhost:" + port + "/orders":      "guard_tampering",
		"printf GET | nc 127.0.0.1 " + port:                 "guard_tampering",
		"python3 -m http.server " + port:                    "guard_tampering",
		"cat " + filepath.Join(b.home, "key"):               "guard_key_read",
		"cat " + filepath.Join(b.home, apiserver.TokenFile): "guard_key_read",
		"cat " + b.home + "/*":                              "guard_key_read",
		"cp -r " + b.home + " x":                            "guard_key_read",
	} {
		if a := <-b.hookOf("session of "+command, command); a.Exit != 2 || !strings.Contains(string(a.Stderr), rule) {
			t.Errorf("%s: exit code %d, %s", command, a.Exit, a.Stderr)
		}
	}
}
