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
	call, stop := residentCalls(t)
	defer stop()
	return turns(300, unmeasured(call), unmeasured(emptyProcess(t)))
}

// clientWork is clientCost in processor time, that of the resident process included.
func clientWork(t *testing.T) (time.Duration, time.Duration) {
	call, stop := residentCalls(t)
	defer stop()
	return least(300, call, emptyProcess(t))
}

// residentCalls starts a resident process. It returns a function that makes one call through a
// client and returns the processor time of both, and one that ends the process.
func residentCalls(t *testing.T) (call func() time.Duration, stop func()) {
	dir := t.TempDir()
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
	stop = func() {
		_ = serving.Process.Kill()
		_ = serving.Wait() // it was killed
	}
	for range 100 {
		if conn, err := net.Dial("unix", serve.Socket(home)); err == nil {
			_ = conn.Close() // it was only to see whether somebody listens
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	calls := 0
	call = func() time.Duration {
		calls++
		cmd := exec.Command(filepath.Join(dir, "reviewer-hook"), "hook", "claude-code", "PreToolUse", "--home", home)
		cmd.Stdin = bytes.NewReader(fmt.Appendf(nil, `{"session_id":"s1","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash",`+
			`"tool_input":{"command":"go test ./basket -run Total%d"},"tool_use_id":"c%d","prompt_id":"p"}`, dir, calls, calls))
		before := ran(t, serving.Process.Pid)
		return spent(t, cmd) + ran(t, serving.Process.Pid) - before
	}
	for range 20 {
		call()
	}
	return call, stop
}

// ran returns how long the threads of a process have run, 0 where the system does not say it.
func ran(t *testing.T, pid int) time.Duration {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all time.Duration
	for _, f := range files {
		raw, _ := os.ReadFile(f) // a thread that has ended
		var ns int64
		if _, err := fmt.Sscan(string(raw), &ns); err == nil {
			all += time.Duration(ns)
		}
	}
	return all
}
