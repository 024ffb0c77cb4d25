package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const geminiFile = `{
  "sessionId": "g-1", "projectHash": "00ff", "startTime": "2026-02-03T04:05:06Z",
  "messages": [
    {"id": "m1", "type": "user", "content": "tidy up"},
    {"id": "m2", "type": "gemini", "content": "", "toolCalls": [
      {"id": "c1", "name": "run_shell_command", "args": {"command": "rm -rf build", "description": "clean"}, "status": "success", "result": [{"out":"gone"}]},
      {"id": "c2", "name": "write_file", "args": {"file_path": "notes.md", "content": "done"}, "status": "error", "result": "no space"},
      {"id": "c3", "name": "save_memory", "args": {"fact": "tidy"}}]},
    {"id": "m3", "type": "gemini", "toolCalls": [
      {"id": "c4", "name": "replace", "args": {"file_path": "a.go", "old_string": "a", "new_string": "b", "expected_replacements": 1}},
      {"id": "c5", "name": "read_file", "args": {"absolute_path": "/srv/a.go"}}]}
  ]}`

const sweFileNew = `{
  "environment": "main",
  "trajectory": [
    {"action": "create \"tool.py\"\n", "state": {"open_file": "n/a", "working_dir": "/repo"}},
    {"action": "edit 1:1\nprint('rm -rf /')\nend_of_edit\n", "state": {"open_file": "/repo/tool.py", "working_dir": "/repo"}},
    {"action": "cd sub && rm -rf out", "state": {"open_file": "/repo/tool.py", "working_dir": "/repo/sub"}},
    {"action": "str_replace_editor view main.py", "state": {"working_dir": "/repo/sub"}},
    {"action": "submit", "state": {}}
  ], "history": [], "info": {}}`

// sweFileOld has its states in strings, as very old versions wrote them.
const sweFileOld = `{"trajectory": [{"action": "ls -a\n", "state": "{\"open_file\": \"n/a\", \"working_dir\": \"/repo\"}\n"},
  {"action": "edit 1:1", "state": "{\"open_file\": \"/repo/sub/a.py\", \"working_dir\": \"/repo/sub\"}"}], "info": {}}`

// calls writes the calls of a transcript, one a line.
func calls(t *testing.T, text string) []string {
	t.Helper()
	tr, agent, err := transcript([]byte(text))
	if err != nil || agent == "" {
		t.Fatalf("of %q: %v", agent, err)
	}
	var out []string
	for _, e := range tr.Calls() {
		var args map[string]any
		if err := json.Unmarshal(e.Args, &args); err != nil {
			t.Fatal(err)
		}
		compact, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.Join([]string{e.Call, e.CWD, e.Tool, string(compact)}, " "))
	}
	return out
}

func TestForeignSessions(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []string
	}{
		"gemini": {geminiFile, []string{
			"c1 " + workspace + ` Bash {"command":"rm -rf build"}`,
			"c2 " + workspace + ` Write {"content":"done","file_path":"notes.md"}`,
			"c4 " + workspace + ` Edit {"file_path":"a.go","new_string":"b","old_string":"a"}`,
			"c5 " + workspace + ` Read {"file_path":"/srv/a.go"}`,
		}},
		"swe-agent": {sweFileNew, []string{
			`step-1 /repo Write {"content":"","file_path":"/repo/tool.py"}`,
			`step-2 /repo Edit {"file_path":"/repo/tool.py","new_string":"print('rm -rf /')\nend_of_edit\n","old_string":""}`,
			`step-3 /repo Bash {"command":"cd sub \u0026\u0026 rm -rf out"}`,
			`step-4 /repo/sub Read {"file_path":"/repo/sub/main.py"}`,
		}},
		"old swe-agent": {sweFileOld, []string{`step-1 /repo Bash {"command":"ls -a\n"}`, `step-2 /repo/sub Edit {"file_path":"/repo/sub/a.py","new_string":"","old_string":""}`}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, calls(t, c.file)); d != "" {
				t.Error(d)
			}
		})
	}
}

// What begins like a session and is cut off is an error, and no empty session.
func TestForeignSessionsBroken(t *testing.T) {
	for _, text := range []string{geminiFile[:300], sweFileNew[:300], strings.Replace(sweFileOld, `"{\"open`, `"{open`, 1)} {
		if _, agent, err := transcript([]byte(text)); agent == "" || err == nil {
			t.Errorf("of %q, error %v: %s", agent, err, text[:40])
		}
	}
	if _, agent, err := transcript([]byte(`{"messages": []}`)); agent != "" || err != nil {
		t.Errorf("of %q, error %v", agent, err)
	}
}
