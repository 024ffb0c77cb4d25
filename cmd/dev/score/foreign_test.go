package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

const geminiFile = `{
  "sessionId": "g-1", "projectHash": "00ff", "startTime": "2026-02-03T04:05:06Z",
  "messages": [
    {"id": "m1", "type": "user", "content": "tidy up"},
    {"id": "m2", "type": "gemini", "content": "", "toolCalls": [
      {"id": "c1", "name": "run_shell_command", "args": {"command": "rm -rf build"}, "status": "success", "result": [{"out":"gone"}]}]}
  ]}`

const codexFile = `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"x-1","cwd":"/srv/shop"}}
{"timestamp":"2026-01-02T03:04:05Z","type":"turn_context","payload":{"cwd":"/srv/shop","approval_policy":"never"}}
{"timestamp":"2026-01-02T03:04:07Z","type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c1","arguments":"{\"cmd\":\"ls\"}"}}
`

// Sessions of all agents happen somewhere. Whether a person can be asked is what
// their agent says, or not known.
func TestForeignSessions(t *testing.T) {
	for file, want := range map[string][]string{
		geminiFile: {"gemini", "prompt  " + workspace, "pre  " + workspace, "post  " + workspace},
		codexFile:  {"codex", "pre bypassPermissions /srv/shop"},
	} {
		tr, agent, err := readSession([]byte(file))
		if err != nil {
			t.Fatal(err)
		}
		got := []string{agent}
		for _, e := range tr.Events {
			got = append(got, strings.Join([]string{string(e.Phase), e.Mode, e.CWD}, " "))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
}

// What begins like a session and is truncated is an error, and no shorter session.
func TestForeignSessionsBroken(t *testing.T) {
	cut := geminiFile[:strings.Index(geminiFile, `{"id": "m2"`)]
	tr, agent, err := readSession([]byte(cut))
	if agent != "gemini" || err == nil || !strings.Contains(err.Error(), "truncated after message 1") {
		t.Errorf("of %q, error %v", agent, err)
	}
	if !slices.ContainsFunc(tr.Events, func(e engine.Event) bool { return e.Prompt == "tidy up" }) {
		t.Error("what came before is lost")
	}
	if _, agent, err := readSession([]byte(`{"messages": []}`)); agent != "" || err != nil {
		t.Errorf("of %q, error %v", agent, err)
	}
}
