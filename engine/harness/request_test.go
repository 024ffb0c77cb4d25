package harness

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// A request is answered only to grant the call or to deny it; without an answer the agent asks.
func TestEncodeRequest(t *testing.T) {
	const head = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":`
	for name, c := range map[string]struct {
		a              engine.Answer
		stdout, stderr string
		exit           int
	}{
		"granted":      {engine.Answer{Effect: engine.Allow, Grant: true, Text: "not to be said"}, head + `"allow"}}}` + "\n", "", 0},
		"no opinion":   {engine.Answer{Effect: engine.Allow, Text: "not to be said"}, "", "", 0},
		"a warning":    {engine.Answer{Effect: engine.Warn, Grant: true, Text: "Mind."}, "", "", 0},
		"a question":   {engine.Answer{Effect: engine.Ask, Grant: true, Text: "Really?"}, "", "", 0},
		"another form": {engine.Answer{Effect: engine.Modify, Grant: true, Args: []byte(`{"command":"ls"}`)}, "", "", 0},
		"denied": {engine.Answer{Effect: engine.Block, Grant: true, Text: "Not <here>."},
			head + `"deny","message":"Not <here>."}}}` + "\n", "Not <here>.\n", 2},
		"denied without a reason": {engine.Answer{Effect: engine.Block},
			head + `"deny","message":"` + denyText + `"}}}` + "\n", denyText + "\n", 2},
	} {
		stdout, stderr, exit := encodeClaudeCode(permissionRequest, c.a)
		if string(stdout) != c.stdout || stderr != c.stderr || exit != c.exit {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, exit, stdout, stderr)
		}
	}
}

// Where reviewer fails, the agent asks.
func TestFailedRequest(t *testing.T) {
	if stdout, stderr, exit := failClaudeCode(permissionRequest, "broken"); len(stdout) > 0 || stderr != "" || exit != 0 {
		t.Errorf("exit %d, stdout %q, stderr %q", exit, stdout, stderr)
	}
}

// A request has the tool and the arguments of the call, and no id, even where the client sends one.
func TestDecodeRequest(t *testing.T) {
	const doc = `{"hook_event_name":"PermissionRequest","session_id":"s1","cwd":"/srv/shop","permission_mode":"default",` +
		`"tool_name":"Bash","tool_input":{"command":"make test"},"permission_suggestions":[{"type":"addRules"}]`
	for _, more := range []string{`}`, `,"tool_use_id":"toolu_1"}`} {
		e, err := DecodeClaudeCode(permissionRequest, []byte(doc+more), "")
		if err != nil {
			t.Fatal(err)
		}
		if e.Phase != engine.PhaseRequest || e.Call != "" || e.Tool != "Bash" || e.Mode != "default" || e.Session != "s1" ||
			string(e.Args) != `{"command":"make test"}` {
			t.Errorf("%s: %+v", more, e)
		}
	}
	for _, missing := range []string{`"tool_name":"Bash",`, `"tool_input":{"command":"make test"},`} {
		if e, err := DecodeClaudeCode(permissionRequest, []byte(strings.Replace(doc, missing, "", 1)+`}`), ""); err == nil {
			t.Errorf("without %s: %+v", missing, e)
		}
	}
}

// Other agents of the same format report such requests, and reviewer does not decide on them.
func TestRequestsOfOtherAgents(t *testing.T) {
	const doc = `{"hook_event_name":"PermissionRequest","session_id":"s1","cwd":"/srv/shop","tool_name":"Bash","tool_input":{"command":"ls"}}`
	for _, h := range Harnesses() {
		if h.Name == ClaudeCode {
			continue
		}
		e, err := h.Decode(permissionRequest, []byte(doc), "")
		if err == nil && e.Phase == engine.PhaseRequest {
			t.Errorf("%s: %+v", h.Name, e)
		}
	}
}
