package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness/harnesstest"
)

// client is what was observed of an agent: what it does with the answer of a hook before a call.
// Anything that does not block lets the call run.
type client struct {
	name   string
	others []string // events of its own for which reviewer is not installed
	blocks func(stdout []byte, stderr string, exit int) bool
	object string // a call in its form: %s is the object of the arguments
}

// clients has a row for each agent whose documents are tested by the functions of this file.
func clients() []client {
	return []client{
		{Gemini, []string{"BeforeModel", "PreCompress"}, geminiBlocks,
			`{"hook_event_name":"BeforeTool","session_id":"s1","cwd":"/srv/shop","tool_name":"run_shell_command","tool_input":%s}`},
		{Copilot, []string{"permissionRequest", "PreToolUse", "PostToolUse", "Stop"}, copilotBlocks,
			`{"sessionId":"s1","cwd":"/srv/shop","toolName":"bash","toolArgs":%s}`},
		{Qwen, []string{permissionRequest, "Notification"}, qwenBlocks, `{"hook_event_name":"PreToolUse","session_id":"s1","cwd":"/srv/shop",` +
			`"tool_name":"run_shell_command","tool_input":%s,"tool_use_id":"call_1"}`},
	}
}

// geminiBlocks is what version 0.61.0 does: a decision counts at any exit status.
func geminiBlocks(stdout []byte, stderr string, exit int) bool {
	var out struct {
		Decision string
		Continue *bool
	}
	if len(bytes.TrimSpace(stdout)) > 0 {
		if json.Unmarshal(stdout, &out) != nil {
			return exit > 1
		}
		return out.Decision == "deny" || out.Decision == "block" || out.Decision == "ask" || out.Continue != nil && !*out.Continue
	}
	return exit > 1 && strings.TrimSpace(stderr) != ""
}

// copilotBlocks is what version 1.0.102 does: any exit status but 0 blocks.
func copilotBlocks(stdout []byte, _ string, exit int) bool {
	var out struct{ PermissionDecision string }
	return exit != 0 || json.Unmarshal(stdout, &out) == nil && (out.PermissionDecision == "deny" || out.PermissionDecision == "ask")
}

// qwenBlocks is what version 0.24.4 does.
func qwenBlocks(stdout []byte, stderr string, exit int) bool {
	var out struct {
		Specific struct{ PermissionDecision string } `json:"hookSpecificOutput"`
	}
	if exit == 2 {
		return strings.TrimSpace(stderr) != ""
	}
	said := json.Unmarshal(stdout, &out) == nil
	return said && (out.Specific.PermissionDecision == "deny" || out.Specific.PermissionDecision == "ask")
}

// eachClient runs a test for each row.
func eachClient(t *testing.T, test func(*testing.T, client, Harness)) {
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			h, known := Find(c.name)
			if !known {
				t.Fatal("it is not a row of Harnesses")
			}
			test(t, c, h)
		})
	}
}

func inputsOf(t testing.TB, agent string) []string {
	names, err := filepath.Glob("../../testdata/hooks/" + agent + "/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("%s has no inputs (%v)", agent, err)
	}
	return names
}

// Each kind of input of the client: invented contents in the client's structure.
func TestAgentsDecode(t *testing.T) {
	eachClient(t, func(t *testing.T, c client, h Harness) {
		var a txtar.Archive
		for _, name := range inputsOf(t, c.name) {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			base := filepath.Base(name)
			e, err := h.Decode(eventOf(base), raw, "/srv/shop")
			if err != nil {
				t.Fatalf("%s: %v", base, err)
			}
			a.Files = append(a.Files, txtar.File{Name: base, Data: []byte(harnesstest.Describe(e))})
		}
		harnesstest.WantGolden(t, "../../testdata/hooks/golden/"+c.name+"/decode.txtar", string(txtar.Format(&a)))
	})
}

// agentAnswers are the answers that each agent's file of answers shows.
func agentAnswers() map[string]engine.Answer {
	return map[string]engine.Answer{
		"1-allow":             {Effect: engine.Allow, Text: "not to be said"},
		"1-allow-grant":       {Effect: engine.Allow, Grant: true, Text: "reviewer allows this call."},
		"2-warn":              {Effect: engine.Warn, Text: "This changes <main> & its history."},
		"2-warn-notice":       {Effect: engine.Warn, Text: "This session is stopped.", Notice: "This session is stopped; resume it."},
		"3-modify":            {Effect: engine.Modify, Text: "It runs with --force-with-lease.", Args: json.RawMessage(`{"command":"git push --force-with-lease"}`)},
		"3-modify-surrogate":  {Effect: engine.Modify, Args: json.RawMessage(`{"command":"echo \ud800"}`)},
		"3-modify-no-args":    {Effect: engine.Modify, Text: "It runs in another form."},
		"3-modify-unreadable": {Effect: engine.Modify, Args: json.RawMessage(`{"command":"git push"`)},
		"4-ask":               {Effect: engine.Ask, Text: "Is this meant?"},
		"4-ask-silent":        {Effect: engine.Ask},
		"5-block":             {Effect: engine.Block, Text: "Not in this folder."},
		"5-block-silent":      {Effect: engine.Block},
		"5-unknown-verdict":   {Effect: "maybe", Text: "Not a verdict."},
		"6-stop":              {Effect: engine.Block, Stop: true, Text: "This session was stopped."},
		"6-stop-silent":       {Effect: engine.Block, Stop: true},
		"7-go-on":             {Effect: engine.Warn, GoOn: true, Text: "The latest check failed."},
	}
}

func TestAgentsEncode(t *testing.T) {
	answers := agentAnswers()
	eachClient(t, func(t *testing.T, c client, h Harness) {
		var a txtar.Archive
		for _, event := range append(append([]string{}, h.Events...), append(c.others, "")...) {
			for _, name := range slices.Sorted(maps.Keys(answers)) {
				stdout, stderr, exit := h.Encode(event, answers[name])
				if len(stdout) == 0 && stderr == "" && exit == 0 {
					continue // silence
				}
				a.Files = append(a.Files, txtar.File{Name: cmp.Or(event, "(none)") + "/" + name,
					Data: []byte(fmt.Sprintf("exit %d\nstdout %s\nstderr %q\n", exit, bytes.TrimSpace(stdout), stderr))})
			}
			stdout, stderr, exit := h.Failure(event, "no policy")
			a.Files = append(a.Files, txtar.File{Name: cmp.Or(event, "(none)") + "/8-failure",
				Data: []byte(fmt.Sprintf("exit %d\nstdout %s\nstderr %q\n", exit, bytes.TrimSpace(stdout), stderr))})
		}
		harnesstest.WantGolden(t, "../../testdata/hooks/golden/"+c.name+"/encode.txtar", string(txtar.Format(&a)))
	})
}

// What only a person may read is never in a text for the model, and no event is denied by it.
func TestNoticeIsForThePerson(t *testing.T) {
	a := engine.Answer{Effect: engine.Warn, Text: "stopped", Notice: "resume it"}
	for _, h := range Harnesses() {
		for _, event := range h.Events {
			stdout, stderr, exit := h.Encode(event, a)
			var out map[string]any
			if len(stdout) > 0 {
				if err := json.Unmarshal(stdout, &out); err != nil {
					t.Fatalf("%s, %s: %v", h.Name, event, err)
				}
			}
			delete(out, "systemMessage")
			rest, err := json.Marshal(out)
			if err != nil || strings.Contains(string(rest)+stderr, a.Notice) || exit != 0 {
				t.Errorf("%s, %s: exit %d, %s, %s (%v)", h.Name, event, exit, rest, stderr, err)
			}
		}
	}
}

// Whatever is not to run is blocked by the client's own rules, and what policy has no opinion
// about gets no answer.
func TestAgentsObey(t *testing.T) {
	eachClient(t, func(t *testing.T, c client, h Harness) {
		pre := h.EventAt(engine.PhasePre)
		for _, effect := range []engine.Verdict{engine.Ask, engine.Modify, engine.Block, "maybe"} {
			for _, text := range []string{"", "no", strings.Repeat("é", 20000)} {
				for _, stops := range []bool{false, true} {
					a := engine.Answer{Effect: effect, Text: text, Stop: stops}
					if out, stderr, exit := h.Encode(pre, a); !c.blocks(out, stderr, exit) {
						t.Errorf("%s lets the call run: exit %d, %s", effect, exit, out)
					}
				}
			}
		}
		for _, a := range []engine.Answer{{Effect: engine.Allow}, {Effect: engine.Allow, Grant: true, Text: "yes"}} {
			if out, stderr, exit := h.Encode(pre, a); len(out) > 0 || stderr != "" || exit != 0 {
				t.Errorf("%+v is answered: exit %d, %s", a, exit, out)
			}
		}
		for _, event := range []string{"", pre, "BeforeShell"} {
			if out, stderr, exit := h.Failure(event, ""); !c.blocks(out, stderr, exit) || exit != 2 || strings.TrimSpace(stderr) == "" {
				t.Errorf("a failure at %q lets the call run: exit %d, %q", event, exit, stderr)
			}
		}
		for _, event := range h.Events {
			if out, stderr, exit := h.Failure(event, "x"); event != pre && (len(out) > 0 || stderr != "" || exit != 0) {
				t.Errorf("a failure at %s is answered: exit %d, %s %s", event, exit, out, stderr)
			}
		}
	})
}

// The models of the clients recognise what does not block.
func TestAgentsModels(t *testing.T) {
	silent := map[string]bool{Copilot: true} // any exit status but 0 blocks
	eachClient(t, func(t *testing.T, c client, _ Harness) {
		for name, r := range map[string]reply{
			"nothing": {}, "malformed": {`{"decision":`, "", 0}, "unknown decision": {`{"decision":"zork","permissionDecision":"zork"}`, "", 0},
			"text before": {"hello\n{\"decision\":\"deny\",\"permissionDecision\":\"deny\"}", "", 0},
			"exit 1":      {"", "text", 1}, "silent exit 2": {"", "", 2},
		} {
			if got := c.blocks([]byte(r.stdout), r.stderr, r.exit); got != (silent[c.name] && r.exit != 0) {
				t.Errorf("%s: blocked %v", name, got)
			}
		}
	})
}

type reply struct {
	stdout, stderr string
	exit           int
}

// What cannot be read before a call is refused, in words that say what to change.
func TestAgentsRefuse(t *testing.T) {
	eachClient(t, func(t *testing.T, c client, h Harness) {
		call := fmt.Sprintf(c.object, `{"command":"ls"}`)
		for in, want := range map[string]string{
			``:                                 "empty",
			`[]`:                               "not a JSON object",
			call[:len(call)-1]:                 "",
			call + "{}":                        "",
			strings.Replace(call, "s1", "", 1): "is missing",
			fmt.Sprintf(c.object, `["ls"]`):    "not an object",
			fmt.Sprintf(c.object, `7`):         "not an object",
			fmt.Sprintf(c.object, `null`):      "is missing",
			fmt.Sprintf(c.object, `{"command":"ls","command":"rm -rf /"}`): "",
			strings.Replace(call, "ession", "ESSION", 1):                   "must be spelled",
			strings.Replace(call, `"command"`, `"`+"\xff"+`"`, 1):          "UTF-8",
		} {
			e, err := h.Decode(h.EventAt(engine.PhasePre), []byte(in), "")
			if err == nil || !strings.Contains(err.Error(), want) || e.Harness != c.name {
				t.Errorf("%s: %v by %s, want %s", in, err, e.Harness, want)
				continue
			}
			if out, stderr, exit := h.Failure(e.Name, err.Error()); exit != 2 || !c.blocks(out, stderr, exit) {
				t.Errorf("%s: exit %d, %q", in, exit, stderr)
			}
		}
		if _, err := h.Decode(h.EventAt(engine.PhasePre), []byte(call), ""); err != nil {
			t.Errorf("the call itself: %v", err)
		}
		if e, err := h.Decode("BeforeShellCommand", []byte(call), ""); err == nil || e.Phase != engine.PhasePre {
			t.Errorf("an event of a newer client with a call is accepted: %+v", e)
		}
		for _, event := range []string{"Telemetry", "SessionPaused"} {
			doc := strings.NewReplacer("BeforeTool", event, "PreToolUse", event, "tool", "x", "Tool", "X").Replace(call)
			if e, err := h.Decode(event, []byte(doc), ""); err != nil || e.Phase != engine.PhaseOther {
				t.Errorf("an event of a newer client without a call: %+v, %v", e, err)
			}
		}
	})
}

// reviewer's own deadline is 2 s before the client's, and the number in the client's settings
// is read as it is meant.
func TestAgentsTimeouts(t *testing.T) {
	for _, h := range Harnesses() {
		for _, event := range h.Events {
			limit := h.Timeout(event)
			if written := limit / h.Unit; limit <= 2*time.Second || limit > time.Minute || limit%h.Unit != 0 ||
				h.Unit == time.Second && written >= 1000 || h.Unit == time.Millisecond && written < 1000 {
				t.Errorf("%s gives %s %d of %s", h.Name, event, written, h.Unit)
			}
		}
	}
}

// A string that contains the arguments is read as strictly as a document.
func TestCopilotStrings(t *testing.T) {
	const doc = `{"sessionId":"s1","toolName":"bash","toolArgs":%q}`
	e, err := decodeCopilot(copilotPre, []byte(fmt.Sprintf(doc, `{"command":"ls"}`)), "")
	if err != nil || string(e.Args) != `{"command":"ls"}` {
		t.Errorf("%s, %v", e.Args, err)
	}
	for _, args := range []string{"", "ls", "[1]", `{"a":1,"a":2}`, `{"a":`, `{"a":1} x`} {
		if e, err := decodeCopilot(copilotPre, []byte(fmt.Sprintf(doc, args)), ""); err == nil {
			t.Errorf("%q is accepted: %s", args, e.Args)
		}
	}
}

// A document in both forms of the client is refused, whichever event it is for.
func TestCopilotMixed(t *testing.T) {
	raw := []byte(`{"sessionId":"s1","session_id":"s1","hook_event_name":"PreToolUse","toolName":"view","tool_name":"Bash",` +
		`"toolArgs":{"path":"a"},"tool_input":{"command":"ls"}}`)
	for _, event := range []string{"", copilotPre, PreToolUse} {
		if e, err := decodeCopilot(event, raw, ""); err == nil || e.Phase != engine.PhasePre {
			t.Errorf("%q: %+v, %v", event, e, err)
		}
	}
}

// The names of tools of servers are the same in each agent.
func TestAgentsServerTools(t *testing.T) {
	for name, want := range map[string]string{"stock-count": "mcp__stock__count", "context7-get-library-docs": "mcp__context7__get-library-docs",
		"github-mcp-server-list_issues": "mcp__github-mcp-server__list_issues", "bash": "bash", "read_bash": "read_bash", "-a": "-a", "a-": "a-"} {
		if got := copilotTool(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	raw := []byte(`{"hook_event_name":"BeforeTool","session_id":"s1","tool_name":"mcp_a_b_c","tool_input":{},"mcp_context":{"server_name":"a_b","tool_name":"c"}}`)
	if e, err := gemini().decode("", raw, ""); err != nil || e.Tool != "mcp__a_b__c" {
		t.Errorf("%s, %v", e.Tool, err)
	}
}

// FuzzDecodeAgents: what cannot be read before a call is denied; what is accepted has the
// arguments of the document.
func FuzzDecodeAgents(f *testing.F) {
	for i, c := range clients() {
		for _, name := range inputsOf(f, c.name) {
			raw, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), eventOf(filepath.Base(name)), raw)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, event string, raw []byte) {
		c := clients()[int(which)%len(clients())]
		h, _ := Find(c.name)
		e, err := h.Decode(event, raw, "")
		if err != nil {
			if e.Tool != "" || e.Args != nil || e.Session != "" || e.Harness != c.name {
				t.Errorf("an error and half an event: %+v", e)
			}
			if out, stderr, exit := h.Failure(e.Name, err.Error()); strings.EqualFold(e.Name, h.EventAt(engine.PhasePre)) && !c.blocks(out, stderr, exit) {
				t.Errorf("not denied: %v", err)
			}
			return
		}
		if e.Session == "" || e.Harness != c.name || !json.Valid(raw) {
			t.Fatalf("accepted: %+v", e)
		}
		if e.Phase == engine.PhasePre && (e.Tool == "" || !bytes.HasPrefix(e.Args, []byte("{")) || !json.Valid(e.Args)) {
			t.Errorf("a call without a tool or arguments: %+v", e)
		}
	})
}
