//go:build e2e && linux

package agents

import (
	"slices"
	"testing"
)

// Codex skips a hook that nobody has trusted, without a message: the call runs. `reviewer
// install` makes the client trust its hooks if it finds the client; then the call is denied.
func TestCodexTrust(t *testing.T) {
	c := installedFor(t, "codex")
	for want, trusted := range map[Outcome]bool{Ran: false, Told: true} {
		s := newStage(t, c)
		s.driver.Args = slices.DeleteFunc(s.driver.Args, func(arg string) bool { return arg == "--dangerously-bypass-hook-trust" })
		if !trusted {
			s.driver.hooks = func(s *stage) { s.installWith(t.TempDir()) }
		}
		deny := answers()[1]
		if run := s.play(deny); s.outcome(deny, run) != want {
			t.Errorf("trusted %t: %s, want %s\n%s", trusted, s.outcome(deny, run), want, s.story(run))
		}
	}
}
