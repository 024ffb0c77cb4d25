package cel

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

func TestEval(t *testing.T) {
	in := &engine.Input{Phase: engine.PhasePre, Action: engine.Action{
		Commands: []engine.Command{{Name: "git", Sub: []string{"push"}, Flags: []string{"--force"}}, {Name: "ls"}},
		Signals:  []engine.Signal{}, Effects: []engine.Effect{},
	}}
	in.History.Similar.Failed = 2
	names := &Names{Data: map[string]any{"hosts": []any{"a.example"}},
		Definitions: []Definition{{ID: "pushes", Type: "bool", Text: `action.commands.exists(c, c.sub("push"))`}}}
	host, err := Compile([]Condition{{ID: "x", When: "true", Match: Match{Phases: []string{"pre"}}, Names: names}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][2]string{
		`1 + 1`:                          {"2", "int"},
		`phase`:                          {`"pre"`, "string"},
		`phase + "x"`:                    {`"prex"`, "string"},
		`1.0 / 4.0`:                      {"0.25", "double"},
		`pushes`:                         {"true", "bool"},
		`data.hosts`:                     {`["a.example"]`, "list(string)"},
		`[1, 2].map(n, [n])`:             {`[[1],[2]]`, "list(list(int))"},
		`action.commands.map(c, c.name)`: {`["git","ls"]`, "list(string)"},
		`action.commands[0].flags`:       {`["--force"]`, "list(string)"},
		`action.commands.filter(c, c.has("--force"))`: {"", "list(engine.Command)"},
		`action.commands[0]`:                          {"", "engine.Command"},
		`history.similar.failed > 1`:                  {"true", "bool"},
		`timestamp("2026-01-31T00:00:00Z")`:           {`"2026-01-31T00:00:00Z"`, "google.protobuf.Timestamp"},
		`optional.none()`:                             {"null", ""},
		`type(1)`:                                     {`"int"`, ""},
	} {
		v, typ, err := host.Eval(text, in)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		doc, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if want[0] != "" && string(doc) != want[0] || want[1] != "" && typ != want[1] {
			t.Errorf("%s is %s of %s, want %v", text, doc, typ, want)
		}
		if want[0] == "" {
			var commands []engine.Command
			if doc[0] != '[' {
				doc = append(append([]byte("["), doc...), ']')
			}
			if err := json.Unmarshal(doc, &commands); err != nil || len(commands) != 1 || commands[0].Name != "git" || !commands[0].Has("--force") {
				t.Errorf("%s is %s", text, doc)
			}
		}
	}
}

func TestEvalErrors(t *testing.T) {
	host, err := Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"acton.types":            `expression:1:1: unknown name "acton"; did you mean "action"?`,
		"action.comands":         `expression:1:7: unknown field "comands"; did you mean "commands"?`,
		"1 +":                    "expression:1:4: syntax error: the expression ends too early",
		"action.commands[3].sub": "index out of bounds: 3",
	} {
		_, _, err := host.Eval(text, &engine.Input{})
		var problem *Error
		got := ""
		if errors.As(err, &problem) {
			got = fmt.Sprintf("%s:%d:%d: %s", problem.Part, problem.Line, problem.Column, problem.Message)
		} else if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}

func TestWatch(t *testing.T) {
	host, err := Compile([]Condition{{ID: "a", When: `phase == "pre"`}, {ID: "b", When: `phase == "post"`, Match: Match{Phases: []string{"post"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	host.Watch(func(id string) func() {
		seen = append(seen, "begin "+id)
		return func() { seen = append(seen, "end "+id) }
	})
	if _, err := host.Match(t.Context(), &engine.Input{Phase: engine.PhasePre}); err != nil || len(seen) != 2 || seen[0] != "begin a" || seen[1] != "end a" {
		t.Errorf("%v %v", seen, err)
	}
}
