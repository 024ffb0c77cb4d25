//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// configure writes the user's settings, and checks them.
func (s *stage) configure(text string) {
	s.t.Helper()
	path := filepath.Join(s.state, "policy", "settings.yaml")
	before, err := os.ReadFile(path)
	s.must(err)
	s.must(os.WriteFile(path, append(before, text...), 0o600))
	s.ok("config", "check", "--home", s.state)
	if s.code != "" {
		s.acceptPolicy()
	}
}

// made lists the interventions of the session: kind and issue.
func (s *stage) made() []string {
	s.t.Helper()
	var list []string
	for _, r := range s.records() {
		if i := r.Decision.Intervention; i.Kind != "" && i.Issue != "" {
			list = append(list, i.Kind+" "+i.Issue)
		}
	}
	return list
}

// wantShown asserts that the time line of the session has a string.
func (s *stage) wantShown(text string) {
	s.t.Helper()
	if shown := s.ok("session", "show", s.session, "--home", s.state); !strings.Contains(shown, text) {
		s.t.Errorf("%q is not in the time line:\n%s", text, shown)
	}
}

func (s *stage) wantMade(want ...string) {
	s.t.Helper()
	if got := s.made(); strings.Join(got, ", ") != strings.Join(want, ", ") {
		s.t.Errorf("interventions %v, want %v; the time line is\n%s", got, want, s.ok("session", "show", s.session, "--home", s.state))
	}
}

// An agent that makes the same error again and again is corrected. When that does not
// help, it is reminded of the request, in the user's words.
func TestCorrectionThenReminder(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.configure("interventions: {intervention_cooldown_seconds: 0, escalation_delay_seconds: 0}\npatterns: {hysteresis: 0}\n")
		s.words = "Please put topic 4 into the README, and leave docs/ alone."
		var script Script
		for n := range 4 {
			script = append(script, Shell(fmt.Sprintf("git checkout topic-%d", n)))
		}
		run := s.prompt(append(script, Shell("git branch")))
		s.wantMade("soft_correction repetitive_errors", "context_reinforcement repetitive_errors")
		s.wantHeard(run, 3, "rule repetitive_errors")
		s.wantHeard(run, 4, "The user asked: “Please put topic 4 into the README, and leave docs/ alone.”", "They also said: change nothing (docs/)")
		if strings.Contains(run.Requests[3].Told(), "The user asked") {
			t.Error("the correction repeats the request already")
		}
		s.wantChain()
	})
}

// An agent that drifts away from the request is reminded of it where policy enforces the
// pattern, which by default is only recorded.
func TestDriftIsRemindedOfTheRequest(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.configure("rules: {enforcement: {goal_drift: enforce}}\ninterventions: {ladders: {goal_drift: [context_reinforcement]}}\n")
		s.words = "Give main.go a flag for the port of the shop."
		script := Script{Shell("cat main.go"), Shell("grep -n port main.go")}
		for n := range 24 {
			script = append(script, Do("Write", map[string]string{
				"file_path": filepath.Join(s.Project, "art", fmt.Sprintf("poem-%d.txt", n)), "content": fmt.Sprintf("roses %d\n", n)}))
		}
		run := s.prompt(script)
		s.wantMade("context_reinforcement goal_drift")
		s.wantTold(run, "The user asked: “Give main.go a flag for the port of the shop.”")
		s.wantChain()
	})
}

// A throttled session feels its limits in later calls, until the next prompt.
func TestThrottledCallsAreDenied(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.configure("interventions: {ladders: {repetitive_errors: [resource_throttling]}, limits: {calls: 5}, metrics_window_seconds: 600}\n")
		run := s.prompt(Script{
			Shell("git checkout topic-1"), Shell("git checkout topic-2"), Shell("git checkout topic-3"),
			Shell("echo 4 > fourth"), Shell("echo 5 > fifth"), Shell("echo 6 > sixth"),
		})
		s.wantMade("resource_throttling repetitive_errors")
		s.wantHeard(run, 3, "Until the next prompt, these limits apply", "5 calls in 600 seconds")
		s.want("project/fourth", true)
		s.want("project/sixth", false)
		s.wantHeard(run, 6, "rule throttled", "its limit of 5 calls in 600 seconds")
		s.resume(Script{Shell("echo 7 > seventh")})
		s.want("project/seventh", true)
		s.wantChain()
	})
}

// A throttled session makes fewer calls in one turn, and its model writes less; both
// end with the next prompt. The client's own transcript says how much it wrote; the client
// adds messages to it a short time after it sends them, so some calls wait until that is done.
func TestThrottledTurnsAndTokens(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.configure("interventions: {ladders: {repetitive_errors: [resource_throttling]}, limits: {batch: 4, tokens: 200}}\n")
		write := func(name string) Call { return Shell("echo 1 > " + name).Calls[0] }
		three := func(a, b, c string) Step { return Step{Calls: []Call{write(a), write(b), write(c)}} }
		run := s.prompt(Script{
			Shell("git checkout topic-1"), Shell("git checkout topic-2"), Shell("sleep 0.5; git checkout topic-3"),
			three("a", "b", "c"), Shell("echo 1 > d"), Shell("echo 1 > e"),
			Shell("echo 1 > f; sleep 0.5"), Shell("echo 2 > f; sleep 0.5"), // either may be denied
			Shell("echo 1 > last"),
		})
		s.wantMade("resource_throttling repetitive_errors")
		s.wantHeard(run, 3, "2 calls in one turn", "200 output tokens")
		s.want("project/b", true)
		s.want("project/c", false)
		s.wantHeard(run, 4, "rule throttled", "its limit of 2 calls in one turn")
		s.want("project/e", true)
		s.want("project/last", false)
		s.wantHeard(run, 9, "rule throttled", "its limit of 200 output tokens")
		s.resume(Script{three("g", "h", "i")})
		s.want("project/i", true)
		s.wantChain()
		s.ok("audit", "replay", "--home", s.state)
	})
}

// What was denied is denied in another way too, and the second time the run ends.
// Nothing passes until a person chooses, and each choice holds.
func TestStopAfterWorkArounds(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		run := s.prompt(Script{
			s.deletion(),
			Do("Write", map[string]string{"file_path": filepath.Join(s.Project, "tidy.py"), "content": "import shutil\nshutil.rmtree('" + s.Outside + "')\n"}),
			Shell("python3 tidy.py"), Shell("ls"),
			Shell("find " + s.Outside + " -delete"), Shell("echo 1 > after"),
		})
		s.wantPhotos()
		s.want("project/after", false)
		s.wantMade("soft_correction deny_workaround", "emergency_stop deny_workaround")
		if got := run.Result().TerminalReason; got != "hook_stopped" {
			t.Errorf("the session ended with %q, want hook_stopped", got)
		}
		s.resume(Script{Shell("echo 2 > second")})
		s.want("project/second", false)

		s.decide("session", "resume", s.session, "--limits", "--home", s.state)
		s.resume(Script{Shell("echo 3 > third"), Do("Agent", map[string]string{"description": "help", "prompt": "Help.", "subagent_type": "general-purpose"})})
		s.want("project/third", true)
		s.wantShown("rule resumed_with_limits (block)")

		s.decide("session", "resume", s.session, "--supervise", "--home", s.state)
		s.resume(Script{Shell("echo 4 > fourth")})
		s.want("project/fourth", false) // nobody is there to say yes
		s.wantShown("rule supervised (ask)")

		s.decide("session", "abort", s.session, "--home", s.state)
		s.resume(Script{Shell("echo 5 > fifth")})
		s.want("project/fifth", false)
		s.wantPhotos()
		s.wantChain()
		s.ok("audit", "replay", "--home", s.state)
	})
}

// A copy of a stopped session is stopped too.
func TestStopFollowsForks(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.prompt(Script{Shell("echo 1 > first")})
		s.ok("session", "stop", s.session, "--home", s.state)
		s.start(Script{Shell("echo 2 > second")}, "--resume", s.session, "--fork-session")
		s.want("project/second", false)
		s.decide("session", "resume", s.session, "--home", s.state)
		s.start(Script{Shell("echo 3 > third")}, "--resume", s.session, "--fork-session")
		s.want("project/third", true)
		s.wantChain()
	})
}

// A copy of a session that was resumed with conditions has the same conditions.
func TestConditionsFollowForks(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.prompt(Script{Shell("echo 1 > first")})
		s.ok("session", "stop", s.session, "--home", s.state)
		s.decide("session", "resume", s.session, "--supervise", "--home", s.state)
		s.start(Script{Shell("echo 2 > second")}, "--resume", s.session, "--fork-session")
		s.want("project/second", false)
		s.decide("session", "resume", s.session, "--home", s.state)
		s.start(Script{Shell("echo 3 > third")}, "--resume", s.session, "--fork-session")
		s.want("project/third", true)
		s.wantChain()
		s.ok("audit", "replay", "--home", s.state)
	})
}
