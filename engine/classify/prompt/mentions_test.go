package prompt

import (
	"os"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// TestMentions reads testdata/mentions: what a prompt mentions, and what only looks like a name.
func TestMentions(t *testing.T) {
	set := classifytest.Rows()
	m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(set, nil)}
	raw, err := os.ReadFile("testdata/mentions/seen.txt")
	if err != nil {
		t.Fatal(err)
	}
	if name := os.Getenv("MENTIONS"); name != "" {
		raw, _ = os.ReadFile(name)
	}
	for line := range strings.Lines(string(raw)) {
		path, text, ok := strings.Cut(strings.TrimSpace(line[1:]), " | ")
		if !ok {
			continue
		}
		goal := GoalOf(set, m, strings.ReplaceAll(text, `\n`, "\n"), goalMarker(), "", nil)
		if got := engine.Mentioned(goal.Mentions, path); (got != "") != (line[0] == '+') {
			t.Errorf("%s%q, intents %v", line, got, goal.Intents)
		}
	}
}
