package act

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// A reminder quotes what a person said, masked and shortened; without their words
// it says what stands for them in the record.
func TestQuote(t *testing.T) {
	const stands = "(the words cannot be read)"
	reminder := &engine.Record{Decision: &engine.Decision{Intervention: &engine.Intervention{Kind: engine.ContextReinforcement, Request: stands}}}
	for _, c := range []struct {
		name, words, want string
		rec               *engine.Record
	}{
		{"a request", "Start\nthe shop.", "The user asked: “Start the shop.”", reminder},
		{"a secret", "Use hunter2.", "The user asked: “Use REDACTED.”", reminder},
		{"no words", "", "The user asked: " + stands, reminder},
	} {
		r := Reviewer{Classifier: classifyFunc(nil), Agent: Agent{Request: func(engine.Event) string { return c.words }}}
		if got := reminded(t, &r, c.rec, "The user asked: "+stands); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	counted := &engine.Record{Decision: &engine.Decision{Intervention: &engine.Intervention{Progress: "1 done, 6 open"}}}
	list := Reviewer{Classifier: classifyFunc(nil)}
	if got := reminded(t, &list, counted, "1 done, 6 open"); got != "1 done, 6 open" {
		t.Errorf("without a list: got %q", got)
	}
	list.Agent.SubTasks = func(engine.Event) []engine.SubTask { return nil }
	if got := reminded(t, &list, counted, "1 done, 6 open"); got != "1 done, 6 open" {
		t.Errorf("an empty list: got %q", got)
	}
	list.Agent.SubTasks = func(engine.Event) []engine.SubTask {
		return []engine.SubTask{{Title: "use hunter2", Done: true}, {Title: "a"}, {Title: "b"}, {Title: "c"}, {Title: "d"}, {Title: "e"}}
	}
	if got := reminded(t, &list, counted, "1 done, 6 open"); got != "1 done (“use REDACTED”), 5 open (“a”, “b”, “c”, “d”, …)" {
		t.Errorf("a list: got %q", got)
	}
	long := Reviewer{Classifier: classifyFunc(nil), Agent: Agent{Request: func(engine.Event) string { return strings.Repeat("word ", 1000) }}}
	if got := reminded(t, &long, reminder, stands); len(got) > maxRequest+20 {
		t.Errorf("a long request is quoted with %d bytes", len(got))
	}
}

func reminded(t *testing.T, r *Reviewer, rec *engine.Record, text string) string {
	t.Helper()
	a, err := r.remind(t.Context(), &handling{rec: rec}, duty{}, engine.Answer{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return a.Text
}
