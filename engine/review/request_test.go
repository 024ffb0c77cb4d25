package review

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
		{"a secret", "Use hunter2.", "The user asked: “Use [masked].”", reminder},
		{"no words", "", "The user asked: " + stands, reminder},
		{"no reminder", "Start the shop.", "The user asked: " + stands, &engine.Record{Decision: &engine.Decision{}}},
		{"not decided", "Start the shop.", "The user asked: " + stands, &engine.Record{}},
	} {
		r := Reviewer{
			Request: func(engine.Event) string { return c.words },
			Mask:    func(text string) string { return strings.ReplaceAll(text, "hunter2", "[masked]") },
		}
		if got := r.quote(&review{rec: c.rec}, "The user asked: "+stands); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	counted := &engine.Record{Decision: &engine.Decision{Intervention: &engine.Intervention{Progress: "1 done, 6 open"}}}
	list := Reviewer{Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[masked]") }}
	if got := list.quote(&review{rec: counted}, "1 done, 6 open"); got != "1 done, 6 open" {
		t.Errorf("without a list: got %q", got)
	}
	list.SubTasks = func(engine.Event) []engine.SubTask { return nil }
	if got := list.quote(&review{rec: counted}, "1 done, 6 open"); got != "1 done, 6 open" {
		t.Errorf("an empty list: got %q", got)
	}
	list.SubTasks = func(engine.Event) []engine.SubTask {
		return []engine.SubTask{{Title: "use hunter2", Done: true}, {Title: "a"}, {Title: "b"}, {Title: "c"}, {Title: "d"}, {Title: "e"}}
	}
	if got := list.quote(&review{rec: counted}, "1 done, 6 open"); got != "1 done (“use [masked]”), 5 open (“a”, “b”, “c”, “d”, …)" {
		t.Errorf("a list: got %q", got)
	}
	long := Reviewer{Request: func(engine.Event) string { return strings.Repeat("word ", 1000) }}
	if got := long.quote(&review{rec: reminder}, stands); len(got) > maxRequest+20 {
		t.Errorf("a long request is quoted with %d bytes", len(got))
	}
}
