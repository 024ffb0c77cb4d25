//go:build bench && linux

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	supervisor "github.com/agent-reviewer/reviewer/engine/run"
)

// isolated is a built program with a workspace and a state directory.
type isolated struct {
	t                        *testing.T
	program, workspace, home string
}

func isolate(t *testing.T) isolated {
	i := isolated{t, program(t, "."), t.TempDir(), t.TempDir()}
	mustRun(t, exec.Command("go", "build", "-o", filepath.Join(filepath.Dir(i.program), "reviewer"), "."))
	mustRun(t, exec.Command("go", "build", "-o", filepath.Join(filepath.Dir(i.program), "reviewer-hook"), "../reviewer-hook"))
	i.program = filepath.Join(filepath.Dir(i.program), "reviewer")
	t.Cleanup(func() { i.timed(exec.Command("true")) })
	return i
}

func (i isolated) timed(cmd *exec.Cmd) time.Duration {
	cmd.Dir, cmd.Env = i.workspace, append(os.Environ(), "REVIEWER_HOME="+i.home)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		i.t.Fatalf("%v\n%s", err, out)
	}
	return time.Since(began)
}

func (i isolated) inside(command ...string) *exec.Cmd {
	return exec.Command(i.program, append([]string{"run", "--quiet", "--profile", "strict", "--"}, command...)...)
}

// TestRunStart measures what `reviewer run` adds to a command.
func TestRunStart(t *testing.T) {
	i := isolate(t)
	i.timed(i.inside("true")) // the resident process is started
	var with, without []time.Duration
	for range 31 {
		without = append(without, i.timed(exec.Command("true")))
		with = append(with, i.timed(i.inside("true")))
	}
	t.Logf("start in the profile strict: median %v more, least %v more (`true` takes %v)", median(with)-median(without),
		slices.Min(with)-slices.Min(without), median(without))
}

// TestRunBuild compares a build of Go code inside with one outside.
func TestRunBuild(t *testing.T) {
	i := isolate(t)
	var with, without []time.Duration
	for n := range 3 {
		cache := func(where string) string { return "GOCACHE=" + filepath.Join(i.workspace, where+strconv.Itoa(n)) }
		without = append(without, i.timed(exec.Command("env", cache("out"), "go", "build", "-o", "/dev/null", "encoding/json")))
		with = append(with, i.timed(i.inside("env", cache("in"), "go", "build", "-o", "/dev/null", "encoding/json")))
	}
	t.Logf("build of encoding/json and all that it needs: %v outside, %v inside (best of 3): %.0f %% of native; with %v, without %v",
		slices.Min(without), slices.Min(with), 100*slices.Min(without).Seconds()/slices.Min(with).Seconds(), with, without)
}

// TestRunStop measures how long a stop takes to end processes that ignore it, in sessions of their own, whose
// parents have ended.
func TestRunStop(t *testing.T) {
	script := `trap "" TERM; for i in $(seq 50); do sh -c 'setsid sh -c "trap \"\" TERM; sleep 1000 & sleep 1000" &'; done; sleep 1000`
	var all []time.Duration
	for range 5 {
		r, err := supervisor.Start(context.Background(), supervisor.Options{Command: []string{"sh", "-c", script}, Env: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		for len(r.Tree().Processes()) < 150 {
			time.Sleep(10 * time.Millisecond)
		}
		began := time.Now()
		r.Stop("measured")
		if out := r.Wait(); len(out.Stuck) > 0 {
			t.Error(out.Stuck)
		}
		all = append(all, time.Since(began))
	}
	t.Logf("a stop of 150 processes that ignore SIGTERM: %v at most, of which 500ms are the grace period", slices.Max(all))
}

// TestRunOutput measures the memory of the supervisor of an agent that writes 2 GB, in one line and in many.
func TestRunOutput(t *testing.T) {
	i := isolate(t)
	claude := filepath.Join(i.workspace, "claude")
	for _, script := range []string{"echo '{}'", "head -c 2000000000 /dev/zero | tr '\\0' 'x'", "yes '{\"type\":\"" + strings.Repeat("x", 4000) + "\"}' | head -c 2000000000"} {
		if err := os.WriteFile(claude, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(i.program, "run", "--quiet", "--", "sh", claude)
		cmd.Dir, cmd.Env = i.workspace, append(os.Environ(), "REVIEWER_HOME="+i.home)
		count := exec.Command("wc", "-c")
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		count.Stdin = pipe
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		bytes, err := count.Output()
		if err := errors.Join(err, cmd.Wait()); err != nil {
			t.Fatal(err)
		}
		t.Logf("%.40s: %s bytes in %v, at most %d MiB of memory", script, strings.TrimSpace(string(bytes)), time.Since(began).Round(time.Millisecond),
			cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss>>10)
	}
}
