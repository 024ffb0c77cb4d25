package classify

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/prompt"
)

// TestGoalHoldsNoSecret: neither as a name nor as the hash of a word.
func TestGoalHoldsNoSecret(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2c3", 6)
	e := engine.Event{Phase: engine.PhasePrompt, Prompt: "Use `" + secret + "` and don't touch `" + secret + "`, token=" + secret}
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	f, err := c.Classify(t.Context(), e, "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), secret) || slices.Contains(f.Event.Goal.Words, prompt.HashWord(prompt.Stem(strings.ToLower(secret)))) {
		t.Errorf("%s", b)
	}
	if len(f.Event.Goal.Statements) > 0 {
		t.Errorf("statements %v", f.Event.Goal.Statements)
	}
	plain, err := c.Classify(t.Context(), engine.Event{Phase: engine.PhasePrompt, Prompt: "Rotate the key"}, "/srv/shop")
	if err != nil || !slices.Contains(plain.Event.Goal.Words, prompt.HashWord("rotat")) {
		t.Errorf("words %v, %v", plain.Event.Goal.Words, err)
	}
}
