//go:build bench && unix

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/serve"
)

// clientCost compares the client of a resident process, which records each call, with a Go program that
// does nothing: whole processes in turns.
func clientCost(t *testing.T) (time.Duration, time.Duration) {
	dir, empty := t.TempDir(), emptyProgram(t)
	for name, source := range map[string]string{"reviewer": ".", "reviewer-hook": "../reviewer-hook"} {
		if err := os.Rename(program(t, source), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(dir, "state")
	serving := exec.Command(filepath.Join(dir, "reviewer"), "serve", "--home", home)
	if err := serving.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = serving.Process.Kill()
		_ = serving.Wait() // it was killed
	}()
	for range 100 {
		if conn, err := net.Dial("unix", serve.Socket(home)); err == nil {
			_ = conn.Close() // it was only to see whether somebody listens
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	calls := 0
	call := func() {
		calls++
		cmd := exec.Command(filepath.Join(dir, "reviewer-hook"), "hook", "claude-code", "PreToolUse", "--home", home)
		cmd.Stdin = bytes.NewReader(fmt.Appendf(nil, `{"session_id":"s1","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash",`+
			`"tool_input":{"command":"go test ./basket -run Total%d"},"tool_use_id":"c%d","prompt_id":"p"}`, dir, calls, calls))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for range 20 {
		call()
	}
	return turns(300, call, func() {
		if err := exec.Command(empty).Run(); err != nil {
			t.Fatal(err)
		}
	})
}
