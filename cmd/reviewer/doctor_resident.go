package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/installed"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// residentWait is how long a process may take to start and to answer.
const residentWait = 20 * time.Second

// timedCalls is how often a hook is started to measure how long it takes.
const timedCalls = 5

// resident checks the process that answers the hooks.
func (e *examination) resident(ctx context.Context) {
	client := e.hookClient()
	if client == "" {
		e.say("info", "no resident process is used: the hooks start %s itself, which reads the policy for each call", cli.Program())
		e.async()
		return
	}
	if err := serve.Obstacle(e.home); err != nil {
		e.say("fail", "no resident process can run, so hooks are slow: %v", err)
		e.async()
		return
	}
	if kind := serve.Shared(e.home); kind != "" {
		e.say("warn", "the state directory is on a network file system (%s), where locks may fail and hooks are slow: "+
			"choose another with --home", kind)
	}
	if e.reachable() && e.answering() {
		e.timed(ctx, client)
	}
}

// hookClient is the client that hooks start, or would after an installation; empty if they
// start this program.
func (e *examination) hookClient() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	for _, h := range e.own {
		if isHookClient(h.Program) {
			return h.Program
		}
	}
	path := filepath.Join(filepath.Dir(cli.Program()), cli.HookClient)
	if _, err := os.Stat(path); err != nil || len(e.own) > 0 {
		return ""
	}
	return path
}

// reachable starts a resident process if there is none, and waits until it listens.
func (e *examination) reachable() bool {
	_, _, err := e.askResident()
	if !nobodyListens(err) {
		return true // other problems show when it is asked
	}
	if e.a.Env("REVIEWER_NO_RESIDENT") != "" {
		e.say("info", "no resident process runs, and none is started, since REVIEWER_NO_RESIDENT is set")
		return false
	}
	if err := cli.DetachWith([]string{}, "serve", "--home", e.home); err != nil {
		e.say("fail", "no resident process can be started, so hooks are slow: %v", err)
		return false
	}
	for began := time.Now(); time.Since(began) < residentWait; time.Sleep(20 * time.Millisecond) {
		if _, _, err = e.askResident(); !nobodyListens(err) {
			return true
		}
	}
	e.say("fail", "the resident process does not start, so hooks are slow: run `reviewer serve` to see why")
	return false
}

func nobodyListens(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// askResident sends the resident process input that cannot be parsed, which must be denied.
func (e *examination) askResident() (*wire.Answer, serve.Peer, error) {
	request := &wire.Request{Home: e.home, Args: hookArgs("PreToolUse", e.home), Env: os.Environ(), Input: []byte(doctorInput)}
	return serve.Ask(e.home, request, residentWait)
}

func hookArgs(event, home string) []string {
	return []string{"hook", harness.ClaudeCode, event, "--home", home}
}

// answering reports whether the installed program answers at the socket, with a denial.
func (e *examination) answering() bool {
	a, who, err := e.askResident()
	switch {
	case who.Pid != 0 && who.Program != cli.Program():
		e.say("fail", "process %d (%s) listens in the place of the resident process; hooks do not trust it and are slow: end it",
			who.Pid, strings.TrimSpace(who.Program))
	case err != nil:
		e.say("fail", "the resident process %d does not answer, so hooks are slow: %v", who.Pid, err)
	case a.Status != wire.Answered:
		e.say("fail", "the resident process %d makes hooks review all calls themselves, so they are slow", who.Pid)
	case int(a.Exit) != cli.ExitFindings || !bytes.Contains(a.Stdout, []byte(`"permissionDecision":"deny"`)):
		e.say("fail", "the resident process %d does not deny unreadable input (exit code %d)", who.Pid, a.Exit)
	default:
		e.say("ok", "the resident process %d denies unreadable input", who.Pid)
		return true
	}
	return false
}

// timed measures how long an agent waits for a hook.
func (e *examination) timed(ctx context.Context, client string) {
	var took []time.Duration
	for range timedCalls {
		began := time.Now()
		cmd := exec.CommandContext(ctx, client, hookArgs("PreToolUse", e.home)...)
		cmd.Stdin = strings.NewReader(doctorInput)
		if err := cmd.Run(); cmd.ProcessState == nil {
			e.say("fail", "%s does not start: %v", client, err)
			return
		}
		if code := cmd.ProcessState.ExitCode(); code != cli.ExitFindings {
			e.say("fail", "%s exited with status %d; the client treats only 2 as a denial", client, code)
			return
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	e.say("ok", "a hook takes %s (%s, the median of %d)", took[len(took)/2].Round(100*time.Microsecond), client, timedCalls)
}

// async reports that no call is answered before its review, although the policy asks for
// it: only a process that continues after the answer can make the review.
func (e *examination) async() {
	eff, err := cli.MachineAt(e.home).Effective("")
	if err == nil && eff.Settings.Mode == "async" { // problems are reported elsewhere
		e.say("warn", "mode is async, but no resident process answers: every call waits for its review, as in mode blocking")
	}
}

// aroundQuestion is the time that a hook needs besides the question about its call: for the
// review before it, and for recording the outcome.
const aroundQuestion = 30 * time.Second

// questionTime returns how much time a hook before a call needs if the policy lets questions wait
// for a person; 0: it does not.
func questionTime(home string) time.Duration {
	eff, err := cli.MachineAt(home).Effective("")
	if err != nil {
		return 0 // reported elsewhere
	}
	set := &eff.Settings.Approvals
	if set.Queue != review.QueueAlways && set.Queue != review.QueueUnattended {
		return 0
	}
	return time.Duration(set.WaitSeconds)*time.Second + aroundQuestion
}

// questions reports hooks that are given less time than the policy lets a question wait.
func (e *examination) questions(s standingOf, f installed.File) {
	need := questionTime(e.home)
	for _, h := range f.Own {
		has := max(s.Agent.Timeout(h.Event), time.Duration(h.Wait)*time.Second)
		switch {
		case s.Agent.Phase(h.Event) != engine.PhasePre || has >= need:
		case s.Agent.Longest > 0 && s.Agent.Longest <= has:
			e.say("info", "%s: a question waits for %s at most, since the client gives its hooks no more time; the policy lets it wait for %s",
				f.Path, seconds(has), seconds(need-aroundQuestion))
		default:
			e.say("warn", "%s: the policy lets a question wait for %s, and the hook %s has %s: run `reviewer install %s` again",
				f.Path, seconds(need-aroundQuestion), h.Event, seconds(has), s.Agent.Name)
		}
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%d s", int(d.Seconds())) }
