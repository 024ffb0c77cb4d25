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

// TestRatioLimits fails where a ratio is above a limit that leaves room for a busy machine: at a load of ten,
// a cold hook took 73, the version 11.2 and the client 7.4; idle, the client takes 5.1 to 5.6. A cold hook without
// the prepared policy is above 150. What is compared is processor time, which hardly depends on what else runs, as
// the time of a clock does: of processes the least of many runs.
func TestRatioLimits(t *testing.T) {
	for _, r := range []struct {
		what        string
		goal, limit float64
		fn          func(*testing.T) (a, b time.Duration)
	}{
		{"client and resident process, record written / empty Go process (least CPU)", 2, 9, clientWork},
		{"cold hook / empty Go process (least CPU)", 12, 80, coldWork},
		{"reviewer version / empty Go process (least CPU)", 6, 14, versionWork},
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
	version, empty := versions(t)
	return turns(41, unmeasured(version), unmeasured(empty))
}

func versionWork(t *testing.T) (time.Duration, time.Duration) {
	version, empty := versions(t)
	return least(41, version, empty)
}

// versions returns functions that run `reviewer version` and a program that does nothing.
func versions(t *testing.T) (version, empty func() time.Duration) {
	reviewer := program(t, ".")
	return func() time.Duration { return spent(t, exec.Command(reviewer, "version")) }, emptyProcess(t)
}

func emptyProcess(t *testing.T) func() time.Duration {
	empty := emptyProgram(t)
	return func() time.Duration { return spent(t, exec.Command(empty)) }
}

// coldProcess compares a hook without a resident process with a program that does nothing.
func coldProcess(t *testing.T) (time.Duration, time.Duration) {
	return turns(31, unmeasured(coldHook(t)), unmeasured(emptyProcess(t)))
}

func coldWork(t *testing.T) (time.Duration, time.Duration) {
	return least(31, coldHook(t), emptyProcess(t))
}

// coldHook returns a function that reviews a call in a process of its own, and returns the
// processor time of the process.
func coldHook(t *testing.T) func() time.Duration {
	reviewer, dir, call, n := program(t, "."), t.TempDir(), recordedCall(t), 0
	return func() time.Duration {
		n++
		hook := exec.Command(reviewer, "hook", "claude-code", "PreToolUse", "--home", filepath.Join(dir, "home"))
		hook.Stdin = strings.NewReader(strings.Replace(call, `"tool_use_id":"`, fmt.Sprintf(`"tool_use_id":"%d-`, n), 1))
		return spent(t, hook)
	}
}

// spent runs a process, and returns its processor time.
func spent(t *testing.T, cmd *exec.Cmd) time.Duration {
	mustRun(t, cmd)
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func unmeasured(fn func() time.Duration) func() { return func() { fn() } }

// least runs two things alternately, and returns the least processor time of each.
func least(n int, a, b func() time.Duration) (time.Duration, time.Duration) {
	leastA, leastB := a(), b()
	for range n {
		leastA, leastB = min(leastA, a()), min(leastB, b())
	}
	return leastA, leastB
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
			return turns(21, unmeasured(coldHook(t)), func() {
				other := exec.Command(args[0], args[1:]...)
				other.Stdin, other.Stdout = strings.NewReader(call), &bytes.Buffer{}
				_ = other.Run() // a denial may be an exit code
			})
		})
	}
}
