package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// What an event finds counts, and is an alarm where it was told.
func TestFound(t *testing.T) {
	a := simulate.Action{Rules: []string{"loop", "other"}, Record: &engine.Record{Findings: []engine.Finding{
		{ID: "loop", Level: "high"}, {ID: "drift", Level: "medium"}, {ID: "other"},
	}}}
	want := []Found{{"s", 3, "loop", "high", true}, {"s", 3, "drift", "medium", false}}
	if d := cmp.Diff(want, found(a, "s", 3)); d != "" {
		t.Error(d)
	}
	if got := found(simulate.Action{}, "s", 0); got != nil {
		t.Errorf("an event that could not be decided: %+v", got)
	}
}

func TestRuns(t *testing.T) {
	calls := make([]decided, 10)
	got := runsOf([]played{
		{Agent: "a", Calls: calls, Found: []Found{
			{"1", 2, "loop", "medium", true}, {"1", 3, "loop", "medium", false},
			{"1", 4, "loop", "high", true}, {"1", 4, "theft", "critical", true}, {"1", 9, "theft", "critical", false},
		}},
		{Agent: "a", Calls: calls, Found: []Found{{"2", 0, "loop", "low", true}, {"2", 5, "quiet", "high", false}}},
		{Agent: "b", Calls: calls},
	})
	want := Runs{
		Patterns: []PatternCount{
			{"loop", 4, map[string]int{"low": 1, "medium": 1, "high": 1}, 2},
			{"quiet", 1, map[string]int{}, 0},
			{"theft", 2, map[string]int{"critical": 1}, 1},
		},
		High: rate(1, 30), Sessions: map[string]Rate{"a": rate(1, 2), "b": rate(0, 1)},
		Alarms: []Found{
			{"1", 2, "loop", "medium", true}, {"1", 4, "loop", "high", true}, {"1", 4, "theft", "critical", true}, {"2", 0, "loop", "low", true},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for all, lines := range map[bool]string{false: "", true: "  1 call 4: theft critical\n"} {
		var b bytes.Buffer
		got.print(&b, all)
		for _, want := range []string{"of high or above: 1 of 30, 33.3 of 1,000 [5.9–166.7]\n", "sessions of a with one: 1/2 ", lines} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
		if !all && strings.Contains(b.String(), "call 4") {
			t.Error("alarms are named without being asked for")
		}
	}
}

const codexFile = `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"x-1","cwd":"/srv/shop"}}
{"timestamp":"2026-01-02T03:04:06Z","type":"event_msg","payload":{"type":"user_message","message":"tidy up"}}
{"timestamp":"2026-01-02T03:04:07Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c1","arguments":"{\"cmd\":\"ls\"}"}}
{"timestamp":"2026-01-02T03:04:08Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c2","arguments":"{\"cmd\":\"go test\",\"workdir\":\"/srv/shop/web\"}"}}
{"timestamp":"2026-01-02T03:04:09Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"Chunk ID: 7\nProcess exited with code 1\nOutput:\nFAIL"}}
{"timestamp":"2026-01-02T03:04:10Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"Chunk ID: 8\nProcess exited with code 0\nOutput:\na.go\n"}}
{"timestamp":"2026-01-02T03:04:11Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c9","output":"of another tool"}}
`

// What people said and what came of calls is part of a session.
func TestForeignResults(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"codex": {codexFile, []string{"prompt tidy up", "pre c1", "pre c2", "post c2 failed Exit code 1\nFAIL", `post c1 "a.go\n"`}},
		"gemini": {geminiFile, []string{
			"prompt tidy up", "pre c1", `post c1 "[{\"out\":\"gone\"}]"`, "pre c2", "post c2 failed \"no space\"", "pre c4", "pre c5",
		}},
		"old swe-agent": {strings.Replace(sweFileOld, `"ls -a\n"`, `"ls -a\n", "observation": "a.py"`, 1), []string{
			"pre step-1", `post step-1 "a.py"`, "pre step-2", `post step-2 ""`,
		}},
	} {
		tr, _, err := transcript([]byte(c.file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, e := range tr.Events {
			text := string(e.Phase) + " " + e.Call + e.Prompt
			if r := e.Result; r != nil && r.Failed {
				text += " failed " + r.Error
			} else if r != nil {
				text += " " + string(r.Output)
			}
			got = append(got, text)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	tr, _, _ := transcript([]byte(codexFile))
	if e := tr.Events[2]; e.CWD != "/srv/shop/web" || e.Time != 1767323048000 {
		t.Errorf("in %s at %d", e.CWD, e.Time)
	}
}
