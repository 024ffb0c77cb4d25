//go:build bench && unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRatioLimits fails where a ratio is above a limit that leaves room for a busy machine:
// twice what was measured on one, or more.
func TestRatioLimits(t *testing.T) {
	for _, r := range []struct {
		what        string
		goal, limit float64
		fn          func(*testing.T) (a, b time.Duration)
	}{
		{"client with a resident process, record written / empty Go process (median)", 2, 8, clientCost},
		{"cold hook / empty Go process (median)", 12, 160, coldProcess},
		{"reviewer version / empty Go process (median)", 6, 24, versionCost},
		{"warm decision of an allowed call / trivial Rego rule (median)", 5, 60, func(t *testing.T) (a, b time.Duration) { return warm(t, true) }},
		{"warm decision with 1,000 more rules / with 40 more (median)", 1.3, 2.6, manyRulesWarm},
		{"warm call at 10,000 earlier ones / at 10 (median)", 1.5, 4, longSession},
	} {
		if got := ratio(t, r.what, r.goal, r.fn); got > r.limit {
			t.Errorf("%s: %.2f, at most %.2f", r.what, got, r.limit)
		}
	}
}

// program builds a program of this repository, or one from its source.
func program(t *testing.T, source string) string {
	file := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", file, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	mustRun(t, build)
	return file
}

// emptyProgram builds a Go program that does nothing.
func emptyProgram(t *testing.T) string {
	source := filepath.Join(t.TempDir(), "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return program(t, source)
}

func versionCost(t *testing.T) (time.Duration, time.Duration) {
	reviewer, empty := program(t, "."), emptyProgram(t)
	return turns(41, func() { mustRun(t, exec.Command(reviewer, "version")) }, func() { mustRun(t, exec.Command(empty)) })
}

// coldProcess compares a hook without a resident process with a program that does nothing.
func coldProcess(t *testing.T) (time.Duration, time.Duration) {
	hook, empty := coldHook(t), emptyProgram(t)
	return turns(31, hook, func() { mustRun(t, exec.Command(empty)) })
}

// coldHook returns a function that reviews a call in a process of its own.
func coldHook(t *testing.T) func() {
	reviewer, dir, call, n := program(t, "."), t.TempDir(), recordedCall(t), 0
	return func() {
		n++
		hook := exec.Command(reviewer, "hook", "claude-code", "PreToolUse", "--home", filepath.Join(dir, "home"))
		hook.Stdin = strings.NewReader(strings.Replace(call, `"tool_use_id":"`, fmt.Sprintf(`"tool_use_id":"%d-`, n), 1))
		mustRun(t, hook)
	}
}

// otherHooks compares a cold hook with what BENCH_HOOKS names, command lines that read the same
// event, separated by semicolons; and with an interpreter that many hooks are written for.
func otherHooks(t *testing.T) {
	lines := strings.Split(os.Getenv("BENCH_HOOKS"), ";")
	if node, err := exec.LookPath("node"); err == nil {
		lines = append(lines, node+" -e 0")
	}
	call := recordedCall(t)
	for _, line := range lines {
		args := strings.Fields(line)
		if len(args) == 0 {
			continue
		}
		ratio(t, "cold hook / "+filepath.Base(line)+" (median)", 1, func(t *testing.T) (time.Duration, time.Duration) {
			return turns(21, coldHook(t), func() {
				other := exec.Command(args[0], args[1:]...)
				other.Stdin, other.Stdout = strings.NewReader(call), &bytes.Buffer{}
				_ = other.Run() // a denial may be an exit code
			})
		})
	}
}
