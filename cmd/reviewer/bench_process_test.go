//go:build bench && unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// TestWork fails where work grows. It compares bytes that are allocated, since they are nearly the same in each run
// and on each machine, as times are not. On 28 November 2026 the ratios were 0.65, 1.00 and 1.48; without the prepared
// policy, the first would be about 1.6.
func TestWork(t *testing.T) {
	for _, r := range []struct {
		what  string
		limit float64
		fn    func(*testing.T) (a, b uint64)
	}{
		{"cold hook / the built-in policy compiled with a layer of rules", 1, coldBytes},
		{"warm decision with 1,000 more rules / with 40 more", 1.3, manyRulesBytes},
		{"warm call at 2,000 earlier ones / at 10", 2, longSessionBytes},
	} {
		a, b := r.fn(t)
		got := float64(a) / float64(b)
		fmt.Printf("%-74s %8.2f   (limit: %.2f; %d KB / %d KB allocated)\n", r.what, got, r.limit, a>>10, b>>10)
		if got > r.limit {
			t.Errorf("%s: %.2f, at most %.2f", r.what, got, r.limit)
		}
	}
}

// allocated is how many bytes a function allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// coldBytes compares the first hook of this process with what the prepared policy saves. It runs before anything
// else in the process reads the policy.
func coldBytes(t *testing.T) (uint64, uint64) {
	call, home := recordedCall(t), t.TempDir()
	hook := allocated(func() {
		var out bytes.Buffer
		env := func(name string) string { return map[string]string{"HOME": home, "REVIEWER_NO_RESIDENT": "1"}[name] }
		a := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(call), Stdout: &out, Stderr: &out, Env: env}, Installed: signed.Installed, MadeBy: inputMaker}
		if code := run(t.Context(), a, []string{"hook", "claude-code", "PreToolUse", "--home", filepath.Join(home, "state")}); code != 0 {
			t.Fatalf("exit code %d: %s", code, &out)
		}
	})
	return hook, allocated(func() { policyWith(t, 2) })
}

func manyRulesBytes(t *testing.T) (uint64, uint64) {
	many, few := policyWith(t, 1000), policyWith(t, 40)
	inputs := sessionInputs(t, few.View)
	decide := func(p *review.Policy) func() {
		return func() {
			for i := range inputs {
				decideOnce(t, p, &inputs[i])
			}
		}
	}
	decide(many)() // what is kept from the first decision on
	decide(few)()
	return allocated(decide(many)), allocated(decide(few))
}

func longSessionBytes(t *testing.T) (uint64, uint64) {
	long, short := liveSession(t, 2_000), liveSession(t, 10)
	times := func(fn func()) func() {
		return func() {
			for range 60 {
				fn()
			}
		}
	}
	return allocated(times(long)), allocated(times(short))
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
