//go:build e2e && linux

package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/live"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/scripted"
)

// TestMain builds reviewer and runs the tests. An agent starts the same program as a tool server.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == stockArgument {
		stockServer(os.Args[2])
		return
	}
	dir, err := os.MkdirTemp("", "reviewer-agents")
	if err == nil {
		err = build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	report.print(os.Stdout)
	os.RemoveAll(dir)
	os.Exit(status)
}

// build sets program. REVIEWER names another program to test.
func build(dir string) error {
	if program = os.Getenv("REVIEWER"); program != "" {
		return nil
	}
	program = filepath.Join(dir, "reviewer")
	cmd := exec.Command("go", "build", "-o", program, "../..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build reviewer: %w\n%s", err, out)
	}
	return nil
}

// TestMatrix tries each cell with each client that AGENTS names.
func TestMatrix(t *testing.T) {
	list, err := chosen(os.Getenv("AGENTS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		t.Run(c.Name, func(t *testing.T) {
			installed := installedFor(t, c.Name)
			for _, cell := range cells() {
				t.Run(cell.Name, func(t *testing.T) {
					t.Parallel()
					tryCell(newStage(t, installed), cell)
				})
			}
		})
	}
}

// installedFor returns a client from the cache, or skips a test of one that AGENTS does not
// name. A client that cannot be installed fails the test.
func installedFor(t *testing.T, name string) Installed {
	t.Helper()
	list, err := chosen(os.Getenv("AGENTS"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(c Client) bool { return c.Name == name })
	if i < 0 {
		t.Skipf("AGENTS does not name %s", name)
	}
	version := list[i].Version
	if newest() {
		version = ""
	}
	installed, err := Install(context.Background(), list[i], version)
	if err != nil {
		t.Fatal(err)
	}
	return installed
}

func tryCell(s *stage, cell Cell) {
	s.Helper()
	run := s.play(cell)
	got, want := s.outcome(cell, run), s.client.want(cell)
	report.add(s.client, result{cell.Name, got, want, run.Took})
	s.Logf("%-12s %-9s %5.1f s, %d requests", cell.Name, got, run.Took.Seconds(), len(run.Requests))
	if got != want {
		s.Errorf("%s %s, %s: %s, want %s\n%s", s.client.Name, s.client.Version, cell.What, got, want, s.story(run))
	}
	if len(run.Requests) == 0 && want != Ended {
		s.Errorf("the client never asked the model\n%s", tail(run.Output))
	}
	if got != Ran && !exists(filepath.Join(s.outside, "beach.txt")) {
		s.Error("the folder outside the project was deleted")
	}
	if cell.StandIn != "none" {
		s.wantRecord(cell.Decision)
	}
}

// play runs the client on the cell's call.
func (s *stage) play(cell Cell) live.Run {
	s.Helper()
	if cell.Prepare != "" {
		s.script(cell.Prepare)
	}
	s.standIn, s.timeout = cell.StandIn, cell.Timeout
	command := cell.Command
	if command == "" {
		command = strings.ReplaceAll(blocked, "{outside}", s.outside)
	}
	step := scripted.Step{Say: "Working.", Calls: []scripted.Call{s.driver.Shell(command)}}
	if cell.Name == stopCell {
		return s.stop(step)
	}
	return s.run(scripted.Script{step}, nil)
}

// stop lets a first call run, and stops the session before the next one.
func (s *stage) stop(step scripted.Step) live.Run {
	s.Helper()
	first := scripted.Step{Say: "Looking.", Calls: []scripted.Call{s.driver.Shell("echo 1 > first")}}
	var once sync.Once
	run := s.run(scripted.Script{first, step}, func(step int) {
		if step == 1 {
			once.Do(s.stopSession)
		}
	})
	if !exists(filepath.Join(s.project, "first")) {
		s.Errorf("the call before the stop did not run\n%s", s.story(run))
	}
	return run
}

func (s *stage) stopSession() {
	r, found := s.reviewed()
	if !found {
		s.Error("no call was reviewed before the stop")
		return
	}
	s.review("session", "stop", r.Session)
}

// outcome is what disk and model say about the call.
func (s *stage) outcome(cell Cell, run live.Run) Outcome {
	s.Helper()
	steps := 1
	if cell.Name == stopCell {
		steps = 2
	}
	switch ran := exists(filepath.Join(s.project, "mark")); {
	case ran && cell.Name == "rewrite" && s.trashed("draft.txt"):
		return Rewritten
	case ran && cell.Want == Informed && s.told(run):
		return Informed
	case ran:
		return Ran
	case len(run.Requests) <= steps:
		return Ended
	case cell.Decision != "" && cell.Name != stopCell && s.told(run):
		return Told
	}
	return Blocked
}

// trashed reports whether a file is in the trash, which is in the home.
func (s *stage) trashed(name string) bool {
	s.Helper()
	cmd := exec.Command(program, "trash", "--list")
	cmd.Dir, cmd.Env = s.project, s.environment()
	out, err := cmd.CombinedOutput()
	s.must(err)
	return strings.Contains(string(out), name)
}

// story is what the model was told last, and the end of the client's output.
func (s *stage) story(run live.Run) string {
	last := ""
	if n := len(run.Requests); n > 0 {
		last = lastMessage(run.Requests[n-1].Body)
	}
	return fmt.Sprintf("hung: %t\nthe model was told: %s\noutput: %s", run.Hung, last, tail(run.Output))
}

// lastMessage is the last message of a request, in whichever protocol.
func lastMessage(body json.RawMessage) string {
	var request struct{ Messages, Input, Contents []json.RawMessage }
	if err := json.Unmarshal(body, &request); err != nil {
		return err.Error()
	}
	all := slices.Concat(request.Messages, request.Input, request.Contents)
	if len(all) == 0 {
		return "nothing"
	}
	return tail(string(all[len(all)-1]))
}

func tail(text string) string { return text[max(0, len(text)-1500):] }
