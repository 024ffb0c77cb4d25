//go:build e2e && linux

package agents

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/scripted"
	"github.com/agent-reviewer/reviewer/engine"
)

// What a person gives a client counts as theirs; the same text does not once a call has typed it into a terminal. For Claude Code,
// which has schedules of its own, the tests of package e2e say so.
func TestWhoseWords(t *testing.T) {
	for _, name := range []string{"codex", "gemini"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, installedFor(t, name))
			text := "Look through the orders of the last week and write down which of them were paid twice."
			s.driver.Args[len(s.driver.Args)-1] = text
			typed := scripted.Step{Say: "Working.", Calls: []scripted.Call{s.driver.Shell("tmux send-keys -t work '" + text + "' Enter")}}
			s.run(scripted.Script{typed}, nil)
			s.run(scripted.Script{{Say: "Done."}}, nil)
			var prompts, notes int
			for _, r := range s.records() {
				switch {
				case r.Open != nil:
					t.Logf("the client is %+v", *r.Open.Client)
				case r.Kind == engine.KindPrompt:
					prompts++
				case r.Note != nil && strings.Contains(r.Note.Detail, "gave the same text to something that can repeat it"):
					notes++
				}
			}
			if prompts != 1 || notes != 1 {
				t.Errorf("%d prompts of the person and %d of the call, want one each", prompts, notes)
			}
		})
	}
}
