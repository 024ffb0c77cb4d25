package classify

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// TestTypedSecrets: a token that is typed into a terminal in pieces shows in no part
// of the facts.
func TestTypedSecrets(t *testing.T) {
	first, second := "gh"+"p_R7tYq2WmZx9LpKc", "4VnB8sDfGhJ3kQwErTyU0"
	for _, command := range []string{
		"tmux send-keys -t a 'export K=" + first + "' '" + second + "'",
		"tmux send-keys -t a -l '" + first + "' \\; send-keys -t a -l '" + second + "'",
		"tmux send-keys -t a '" + first + "'; tmux send-keys -t a '" + second + "'",
		"screen -S a -X stuff '" + first + "'; screen -S a -X stuff '" + second + "'",
	} {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
		facts, err := c.Classify(context.Background(), engine.Event{Phase: engine.PhasePre, Tool: "Bash", Args: args, CWD: "/srv/shop"}, "/srv/shop")
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(facts)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(b); strings.Contains(text, first) || strings.Contains(text, second) {
			t.Errorf("%s: a piece of the token shows: %s", command, text)
		}
	}
}
