//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// holds asserts what a file of the project contains.
func (s *stage) holds(name, want string) {
	s.t.Helper()
	got, err := os.ReadFile(filepath.Join(s.Project, name))
	if err != nil || string(got) != want {
		s.t.Errorf("%s contains %q (%v), want %q", name, got, err, want)
	}
}

// errorLoop is an agent that spoils a file and makes the same error, again and again.
func errorLoop() Script {
	script := Script{Shell("echo one > notes.txt")}
	for n := range 3 {
		script = append(script, Shell(fmt.Sprintf("echo %d > spoiled-%d; echo %d > notes.txt; git checkout topic-%d", n, n, n, n)))
	}
	return append(script, Shell("cat notes.txt"))
}

// An error loop ends in a rollback: the files are back, and the agent is told.
func TestErrorLoopEndsInRollback(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.configure("interventions: {ladders: {repetitive_errors: [checkpoint_rollback]}, auto_rollback: true}\n")
		run := s.prompt(errorLoop())
		s.wantMade("checkpoint_rollback repetitive_errors")
		s.wantHeard(run, 4, "rule repetitive_errors", "The files were restored to checkpoint", "what you remember of these files is out of date")
		s.holds("notes.txt", "one\n")
		for n := range 3 {
			s.want(fmt.Sprintf("project/spoiled-%d", n), false)
		}
		s.wantShown("restored")
		s.wantChain()
		s.ok("audit", "replay", "--home", s.state)
	})
}

// Unless the user allows it, the agent is told how a person can restore the files.
func TestRollbackIsOffered(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.configure("interventions: {ladders: {repetitive_errors: [checkpoint_rollback]}}\n")
		run := s.prompt(errorLoop())
		s.wantMade("checkpoint_rollback repetitive_errors")
		s.wantHeard(run, 4, "reviewer session rollback "+s.session)
		s.holds("notes.txt", "2\n")
		s.wantChain()
	})
}

// A file that git does not know and that a shell command changed is restored by hand; the agent
// is told when it goes on.
func TestShellEditIsUndoneByHand(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.must(os.WriteFile(filepath.Join(s.Project, "draft.txt"), []byte("mine\n"), 0o600))
		s.prompt(Script{Shell("echo spoiled >> draft.txt; echo more > made.txt")})
		s.holds("draft.txt", "mine\nspoiled\n")
		s.answer("y", "checkpoint", "restore", "1", "--home", s.state)
		s.holds("draft.txt", "mine\n")
		s.want("project/made.txt", false)
		s.ok("checkpoint", "verify", "--home", s.state)
		run := s.resume(Script{Shell("echo new > other.txt")})
		s.wantHeard(run, 1, "A person restored files of the workspace to an earlier state")
		s.wantChain()
		s.ok("audit", "replay", "--home", s.state)
	})
}
