package classify

import (
	"encoding/json"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/google/go-cmp/cmp"
)

// The list of sub-tasks is what the latest calls made of it, with titles for those whose
// calls are among the events.
func TestSubTasks(t *testing.T) {
	made := func(call, subject, answer string) []engine.Event {
		return []engine.Event{
			{Phase: engine.PhasePre, Call: call, Tool: "TaskCreate", Args: json.RawMessage(`{"subject":"` + subject + `"}`)},
			{Phase: engine.PhasePost, Call: call, Tool: "TaskCreate", Result: &engine.Result{Output: json.RawMessage(answer)}},
		}
	}
	update := func(args string) engine.Event {
		return engine.Event{Phase: engine.PhasePre, Tool: "TaskUpdate", Args: json.RawMessage(args)}
	}
	list := func(args string) engine.Event {
		return engine.Event{Phase: engine.PhasePre, Tool: "TodoWrite", Args: json.RawMessage(args)}
	}
	one := append(made("c1", "find a port", `"Task #1 created successfully: find a port"`), made("c2", "start", `{"task":{"id":"2","subject":"start"}}`)...)
	for name, c := range map[string]struct {
		events []engine.Event
		want   []engine.SubTask
	}{
		"nothing":           {nil, nil},
		"two are made":      {one, []engine.SubTask{{Title: "find a port"}, {Title: "start"}}},
		"one is done":       {append(one, update(`{"taskId":"2","status":"completed"}`)), []engine.SubTask{{Title: "find a port"}, {Title: "start", Done: true}}},
		"one is gone":       {append(one, update(`{"taskId":"1","status":"deleted"}`)), []engine.SubTask{{Title: "start"}}},
		"another is done":   {append(one, update(`{"taskId":"7","status":"completed"}`)), []engine.SubTask{{Title: "find a port"}, {Title: "start"}}},
		"a list":            {[]engine.Event{list(`{"todos":[{"content":"a","status":"completed"},{"content":"b"},3]}`)}, []engine.SubTask{{Title: "a", Done: true}, {Title: "b"}}},
		"the latest list":   {[]engine.Event{list(`{"todos":[{"content":"a"}]}`), list(`{"todos":[{"content":"b"}]}`)}, []engine.SubTask{{Title: "b"}}},
		"another tool":      {[]engine.Event{{Phase: engine.PhasePre, Tool: "Read", Args: json.RawMessage(`{"todos":[{"content":"a"}]}`)}}, nil},
		"strange arguments": {[]engine.Event{list(`{"todos":"a"}`), list(`[`)}, nil},
	} {
		if d := cmp.Diff(c.want, SubTasks(classifytest.Rows(), c.events)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if got := SubTasks(nil, one); got != nil {
		t.Errorf("without rows: %v", got)
	}
}
