//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// An agent that stops and says that tests pass, after the check failed, is corrected and
// goes on. It can stop with the same words the second time: it is corrected once.
func TestClaimIsContradicted(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		const claim = "All tests pass."
		run := s.prompt(Script{Shell("go vet ./nowhere"), {Say: claim}, Shell("echo 1 > after"), {Say: claim}})
		s.wantMade("soft_correction claim_contradicted")
		s.wantHeard(run, 2, "the latest check of this session failed", "rule claim_contradicted")
		s.want("project/after", true)
		if got := len(run.Requests); got != 4 {
			t.Errorf("the model was asked %d times, want 4", got)
		}
		log := s.ok("audit", "show", s.session, "--home", s.state)
		if strings.Contains(log, claim) {
			t.Error("the log contains the agent's message")
		}
		s.wantChain()
		s.ok("audit", "replay", "--home", s.state)
	})
}

// An agent that says what fails stops undisturbed.
func TestFailureIsReported(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		run := s.prompt(Script{Shell("go vet ./nowhere"), {Say: "The check fails: the package does not exist."}})
		s.wantMade()
		if got := len(run.Requests); got != 2 {
			t.Errorf("the model was asked %d times, want 2", got)
		}
	})
}
