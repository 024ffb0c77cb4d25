//go:build e2e && linux

package agents

import (
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/scripted"
)

// The log has the tokens that the model wrote, where the client's transcript or plugin counts them. The scripted model
// writes a few in each answer.
func TestTokens(t *testing.T) {
	for _, name := range []string{"claude-code", "codex", "gemini", "opencode", "qwen", "pi"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, installedFor(t, name))
			call := func(line string) scripted.Step {
				return scripted.Step{Say: "Working.", Calls: []scripted.Call{s.driver.Shell(line)}}
			}
			s.run(scripted.Script{call("touch one"), call("touch two"), call("touch three"), {Say: "Done."}}, nil)
			var tokens int64
			for _, r := range s.records() {
				if r.Event != nil && r.Event.Usage != nil {
					tokens += r.Event.Usage.Tokens
				}
			}
			if tokens <= 0 {
				t.Errorf("%d tokens are recorded", tokens)
			}
			t.Logf("%d tokens", tokens)
		})
	}
}
