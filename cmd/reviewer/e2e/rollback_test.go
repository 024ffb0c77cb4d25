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
