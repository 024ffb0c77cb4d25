package classify

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// Settings of an editor are a matter of the guard unless it is certain that
// only how text is shown changes.
func TestEditorSettings(t *testing.T) {
	write := func(content string) map[string]any { return map[string]any{"content": content} }
	edit := func(old, next string) map[string]any { return map[string]any{"old_string": old, "new_string": next} }
	for name, test := range map[string]struct {
		before string // empty: the file is not there
		args   map[string]any
		guard  bool
	}{
		"a new file":                      {"", write(`{"editor.tabSize": 2, "files.eol": "\n"}`), false},
		"a new file for agents":           {"", write(`{"chat.tools.autoApprove": true}`), true},
		"spelt with escapes":              {"", write(`{"chat.tools.auto\u0041pprove": true}`), true},
		"both":                            {"", write(`{"editor.tabSize": 2, "chat.tools.autoApprove": true}`), true},
		"duplicate keys":                  {"", write(`{"editor.tabSize": 2, "editor.tabSize": 2}`), true},
		"an edit":                         {`{"editor.tabSize": 4, "chat.tools.autoApprove": false}`, edit("4", "2"), false},
		"an edit of a setting for agents": {`{"editor.tabSize": 4, "chat.tools.autoApprove": false}`, edit("false", "true"), true},
		"an edit of a name":               {`{"editor.x": true}`, edit("editor.x", "chat.tools.autoApprove"), true},
		"an edit of two places":           {`{"editor.a": 1, "editor.b": 1}`, edit("1", "2"), true},
		"an edit of what is not there":    {`{"editor.a": 1}`, edit("3", "2"), true},
		"a setting for agents removed":    {`{"chat.agent.enabled": false}`, write(`{}`), true},
		"not an object":                   {"// x\n\"editor.a\": 1}", edit("1", "2"), true},
		"with comments":                   {"{// x\n\"editor.a\": 1,}", edit("1", "2"), false},
		"comments, a setting for agents":  {"", write("{/* x */ \"chat.tools.autoApprove\": true}"), true},
		"after a comment":                 {"", write("{\"editor.a\": 1 // }\n, \"chat.tools.autoApprove\": true}"), true},
		"trailing text":                   {"", write(`{"editor.a": 1} {"chat.tools.autoApprove": true}`), true},
		"a list":                          {"", write(`["editor.a"]`), true},
		"not closed":                      {"", write(`{"editor.a": 1`), true},
		"a program to run":                {"", write(`{"python.defaultInterpreterPath": "./a"}`), false},
	} {
		if got := guarded(t, test.before, test.args); got != test.guard {
			t.Errorf("%s: guard %v, want %v", name, got, test.guard)
		}
	}
}

// guarded classifies a change of the editor's settings.
func guarded(t *testing.T, before string, args map[string]any) bool {
	t.Helper()
	const file = "/srv/shop/.vscode/settings.json"
	files := map[string]string{"/srv/shop/a": "x"}
	if before != "" {
		files[file] = before
	}
	w := diskWorld(files, nil)
	w.ReadFile = func(name string, _ int64) ([]byte, error) {
		if name != file || before == "" {
			return nil, errors.New("not there")
		}
		return []byte(before), nil
	}
	e := engine.Event{Phase: engine.PhasePre, Tool: "Edit", CWD: "/srv/shop"}
	if args["content"] != nil {
		e.Tool = "Write"
	}
	args["file_path"] = file
	e.Args, _ = json.Marshal(args)
	facts, err := (&Classifier{World: w, MAC: classifytest.MAC, Rows: classifytest.Rows()}).Classify(context.Background(), e, "/srv/shop")
	if err != nil {
		t.Fatal(err)
	}
	return tampers(facts.Action)
}
