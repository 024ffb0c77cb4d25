//go:build e2e

package e2e

import (
	"slices"
	"testing"
)

// A person's stop reaches an agent in the middle of its work: the next call
// does not run, the session ends before the model is asked again, and it works
// again after a resume.
func TestStop(t *testing.T) { each(t, (*stage).tryStop) }

// The same with a client that knows nothing of onFailure: there a stop before
// a call lets that call run, or does not stop.
func TestStopOfAnOlderClient(t *testing.T) {
	older := olderClient(t)
	each(t, func(s *stage) {
		s.client = older
		s.tryStop()
	})
}

// watched reports whether somebody could be asked in the client's mode.
func (s *stage) watched() bool { return !slices.Contains(s.args, Bypass()[0]) }

func (s *stage) tryStop() {
	s.install("user")
	s.hooks = []func(){nil, func() { s.ok("session", "stop", s.session, "--home", s.state) }}
	run := s.prompt(Script{Shell("echo 1 > first"), Shell("echo 2 > second"), Shell("echo 3 > third")})
	s.want("project/first", true)
	s.want("project/second", false)
	s.want("project/third", false)
	if got := len(run.Requests); got != 2 {
		s.t.Errorf("the model was asked %d times, want 2: the session ends with the denied call", got)
	}
	if got := run.Result().TerminalReason; got != "hook_stopped" {
		s.t.Errorf("the session ended with %q, want hook_stopped", got)
	}
	s.hooks = nil
	s.resume(Script{Shell("echo 4 > fourth")})
	s.want("project/fourth", false) // a stop is sticky
	s.decide("session", "resume", s.session, "--home", s.state)
	s.resume(Script{Shell("echo 5 > fifth")})
	s.want("project/fifth", true)
	s.wantChain()
}

// The model's server, not the client, gives calls their ids, and some servers
// count from one again after a resume. A call under an old id is another call:
// it is reviewed, and not answered as the old one was.
func TestCallIDsRepeat(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.prompt(Script{Shell("echo 1 > first")})
		s.steps = 0
		s.resume(Script{s.deletion()})
		s.want("project/first", true)
		s.wantPhotos()
	})
}

// A stopped session is one session: another one goes on, unless nobody can be asked in
// it.
func TestStopOfAnotherSession(t *testing.T) {
	each(t, func(s *stage) {
		s.install("user")
		s.prompt(Script{Shell("echo 1 > first")})
		s.ok("session", "stop", s.session, "--home", s.state)
		s.session = sessionID(s.t.Name() + "/other")
		s.prompt(Script{Shell("echo 2 > second")})
		s.want("project/second", s.watched())
	})
}
