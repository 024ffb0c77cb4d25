package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// A process that holds the lock of a session delays no answer beyond the hook's own
// deadline: then a call is denied, and any other event is let go.
func TestHeldLock(t *testing.T) {
	home := t.TempDir()
	for event, exit := range map[string]int{"PreToolUse": 2, "PostToolUse": 0} {
		call := `{"hook_event_name":"` + event + `","session_id":"s1","cwd":"/srv/shop","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}`
		var stdout, stderr bytes.Buffer
		env := func(name string) string { return map[string]string{"HOME": home, "REVIEWER_HOME": home}[name] }
		a := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(call), Stdout: &stdout, Stderr: &stderr, Env: env}}
		store, err := a.OpenStore()
		if err != nil {
			t.Fatal(err)
		}
		h := harness.Harnesses()[0]
		h.Timeout = func(string) time.Duration { return margin + 500*time.Millisecond }
		held, free := make(chan bool), make(chan bool)
		go func() {
			key := engine.SessionKey{Harness: harness.ClaudeCode, Session: "s1"}
			_ = store.Update(context.Background(), key, func(history.Tail) error {
				close(held)
				<-free
				return nil
			})
		}()
		<-held
		code := 0
		if err := hook(context.Background(), a, onDisk(), h, hookCall{event: event}); err != nil {
			code = err.(*cli.ExitError).Code
		}
		close(free)
		if code != exit {
			t.Errorf("%s: exit %d, want %d\n%s%s", event, code, exit, stdout.String(), stderr.String())
		}
		if exit == 2 && !strings.Contains(stderr.String(), "could not review this call") {
			t.Errorf("%s: %s", event, stderr.String())
		}
	}
}
