//go:build bench && unix

package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/serve"
)

// residentProcess starts a resident process, and returns its state, the client that asks it, and its
// process id.
func residentProcess(t *testing.T) (home, client string, pid int) {
	dir := t.TempDir()
	for name, source := range map[string]string{"reviewer": ".", "reviewer-hook": "../reviewer-hook"} {
		if err := os.Rename(program(t, source), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	home = filepath.Join(dir, "state")
	serving := exec.Command(filepath.Join(dir, "reviewer"), "serve", "--home", home)
	if err := serving.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serving.Process.Kill()
		_ = serving.Wait() // it was killed
	})
	for range 100 {
		if conn, err := net.Dial("unix", serve.Socket(home)); err == nil {
			_ = conn.Close() // it was only to see whether somebody listens
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return home, filepath.Join(dir, "reviewer-hook"), serving.Process.Pid
}

// clientCost compares the client of a resident process, which records each call, with a Go program that
// does nothing: whole processes, alternating.
func clientCost(t *testing.T) (time.Duration, time.Duration) {
	return turns(300, unmeasured(residentCalls(t)), unmeasured(emptyProcess(t)))
}

// clientTail prints how much longer than the median of an empty process all but the slowest
// hundredth of the clients take at most.
func clientTail(t *testing.T) {
	call, empty := residentCalls(t), emptyProcess(t)
	var calls, empties []time.Duration
	for range 1000 {
		calls = append(calls, timed(unmeasured(call)))
		empties = append(empties, timed(unmeasured(empty)))
	}
	slices.Sort(calls)
	over := calls[len(calls)*99/100] - median(empties)
	fmt.Printf("%-74s %8.2f   ms (goal: at most 3)\n", "client with a resident process, 99th percentile - empty Go process, median", float64(over.Microseconds())/1000)
}

// clientWork is clientCost in processor time, that of the resident process included.
func clientWork(t *testing.T) (time.Duration, time.Duration) {
	return least(300, residentCalls(t), emptyProcess(t))
}

// residentCalls starts a resident process, and returns a function that makes one call through a
// client and returns the processor time of both.
func residentCalls(t *testing.T) func() time.Duration {
	home, client, pid := residentProcess(t)
	dir := filepath.Dir(home)
	calls := 0
	call := func() time.Duration {
		calls++
		cmd := exec.Command(client, "hook", "claude-code", "PreToolUse", "--home", home)
		cmd.Stdin = bytes.NewReader(fmt.Appendf(nil, `{"session_id":"s1","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash",`+
			`"tool_input":{"command":"go test ./basket -run Total%d"},"tool_use_id":"c%d","prompt_id":"p"}`, dir, calls, calls))
		before := ran(t, pid)
		return spent(t, cmd) + ran(t, pid) - before
	}
	for range 20 {
		call()
	}
	return call
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

// agentsCost compares the hooks of the other agents with that of Claude Code: whole processes, alternating, of
// which each records a call of its own. The first duration is that of the slowest.
func agentsCost(t *testing.T) (slowest, claude time.Duration) {
	home, client, _ := residentProcess(t)
	took := map[string][]time.Duration{}
	for round := range 120 {
		for _, h := range harness.Harnesses() {
			sample, _ := harness.SampleOf(h.Name)
			document := sample.Document(fmt.Sprintf("%s-%d", h.Name, round), filepath.Dir(home), fmt.Sprintf("go test ./basket -run Total%d", round))
			began := time.Now()
			cmd := exec.Command(client, "hook", h.Name, sample.Event, "--home", home)
			cmd.Stdin = bytes.NewReader(document)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", h.Name, err, out)
			}
			if round >= 20 {
				took[h.Name] = append(took[h.Name], time.Since(began))
			}
		}
	}
	claude = median(took[harness.ClaudeCode])
	for name, list := range took {
		fmt.Printf("  %-12s %5.2f times as long as claude-code\n", name, float64(median(list))/float64(claude))
		slowest = max(slowest, median(list))
	}
	return slowest, claude
}
