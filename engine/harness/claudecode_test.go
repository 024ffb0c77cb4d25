package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness/harnesstest"
)

// recorded returns what the real client gave its hooks, by file name.
func recorded(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("../../testdata/hooks/claude-code/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recorded hook inputs (%v)", err)
	}
	inputs := map[string][]byte{}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		inputs[filepath.Base(name)] = raw
	}
	return inputs
}

func eventOf(file string) string {
	event, _, _ := strings.Cut(strings.TrimSuffix(file, ".json"), "-")
	return event
}

// Each input of the real client, as it was recorded.
func TestDecodeRecorded(t *testing.T) {
	names, _ := filepath.Glob("../../testdata/hooks/claude-code/*.json")
	var a txtar.Archive
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		e, err := DecodeClaudeCode(eventOf(base), raw, "/srv/shop")
		if err != nil {
			t.Fatalf("%s: %v", base, err)
		}
		unnamed, err := DecodeClaudeCode("", raw, "/srv/shop")
		if err != nil || harnesstest.Describe(unnamed) != harnesstest.Describe(e) {
			t.Errorf("%s: without the event's name in the arguments: %v\n%s", base, err, harnesstest.Describe(unnamed))
		}
		a.Files = append(a.Files, txtar.File{Name: base, Data: []byte(harnesstest.Describe(e))})
	}
	harnesstest.WantGolden(t, "../../testdata/hooks/golden/claude-code/decode.txtar", string(txtar.Format(&a)))
}

func TestDecodeRecordedSession(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/hooks/claude-code/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	pre, post := map[string]string{}, 0
	for i, line := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
		e, err := DecodeClaudeCode("", line, "")
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		switch e.Phase {
		case engine.PhasePre:
			pre[e.Call] = e.Tool
		case engine.PhasePost:
			post++
			if pre[e.Call] != e.Tool {
				t.Errorf("line %d: result of %s (%s), which no call before it is", i+1, e.Call, e.Tool)
			}
		}
	}
	if len(pre) == 0 || post == 0 {
		t.Errorf("%d calls and %d results, want some", len(pre), post)
	}
}

const call = `"session_id":"s1","cwd":"/srv/shop","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"`

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ name, event, in, want string }{
		{"empty", "PreToolUse", "", "empty"},
		{"white space", "PreToolUse", " \n", "empty"},
		{"truncated", "PreToolUse", `{"session_id":"s1","tool_in`, "unexpected EOF"},
		{"binary", "PreToolUse", "\x00\x01\x02\xff", "UTF-8"},
		{"not an object", "PreToolUse", `["PreToolUse"]`, "not a JSON object"},
		{"null", "PreToolUse", `null`, "not a JSON object"},
		{"two documents", "PreToolUse", `{` + call + `} {}`, "after the document"},
		{"trailing comma", "PreToolUse", `{` + call + `,}`, "invalid character"},
		{"invalid UTF-8", "PreToolUse", "{" + call + ",\"x\":\"\xc3\x28\"}", "UTF-8"},
		{"key twice", "PreToolUse", `{` + call + `,"tool_name":"Read"}`, `duplicate key "tool_name"`},
		{"key twice, escaped", "PreToolUse", `{` + call + `,"tool\u005fname":"Read"}`, `duplicate key "tool_name"`},
		{"key twice, deep", "PreToolUse", `{"session_id":"s1","tool_name":"X","tool_use_id":"t1","tool_input":{"a":[{"b":1,"b":2}]}}`, `duplicate key "b"`},
		{"wrong case", "PreToolUse", `{` + call + `,"Tool_Name":"Read"}`, `"Tool_Name" must be spelled "tool_name"`},
		{"wrong case, twice", "PreToolUse", `{` + call + `,"Tool_Name":"Read","TOOL_NAME":"Read"}`, `"TOOL_NAME" must be spelled "tool_name"`},
		{"folded letter", "PreToolUse", `{` + call + `,"ſession_id":"s2"}`, `must be spelled "session_id"`},
		{"deep", "PreToolUse", `{` + call + `,"x":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, "deeper"},
		{"huge", "PreToolUse", `{` + call + `,"x":"` + strings.Repeat("a", MaxInput) + `"}`, "longer than"},
		{"no session", "PreToolUse", `{"tool_name":"Bash","tool_input":{},"tool_use_id":"t1"}`, "session_id is missing"},
		{"empty session", "PreToolUse", `{"session_id":"","tool_name":"Bash","tool_input":{},"tool_use_id":"t1"}`, "session_id is missing"},
		{"no tool", "PreToolUse", `{"session_id":"s1","tool_input":{},"tool_use_id":"t1"}`, "tool_name is missing"},
		{"no call", "PreToolUse", `{"session_id":"s1","tool_name":"Bash","tool_input":{}}`, "tool_use_id is missing"},
		{"no input", "PreToolUse", `{"session_id":"s1","tool_name":"Bash","tool_use_id":"t1"}`, "tool_input is missing"},
		{"null input", "PreToolUse", `{"session_id":"s1","tool_name":"Bash","tool_use_id":"t1","tool_input":null}`, "tool_input is missing"},
		{"input is a string", "PreToolUse", `{"session_id":"s1","tool_name":"Bash","tool_use_id":"t1","tool_input":"ls"}`, "tool_input is not an object"},
		{"tool is a number", "PreToolUse", `{"session_id":"s1","tool_name":7,"tool_use_id":"t1","tool_input":{}}`, "tool_name is not a string"},
		{"tool is empty", "PreToolUse", `{"session_id":"s1","tool_name":"","tool_use_id":"t1","tool_input":{}}`, "tool_name is empty"},
		{"session is a list", "PreToolUse", `{"session_id":["s1"],"tool_name":"Bash","tool_use_id":"t1","tool_input":{}}`, "session_id is not a string"},
		{"agent is a number", "PreToolUse", `{` + call + `,"agent_id":7}`, "agent_id is not a string"},
		{"no event anywhere", "", `{` + call + `}`, "names no event"},
		{"unreadable, no event", "", `{`, "unexpected EOF"},
		{"events disagree", "PreToolUse", `{` + call + `,"hook_event_name":"Stop"}`, `names the event "PreToolUse"`},
		{"events disagree, strict one inside", "Stop", `{` + call + `,"hook_event_name":"PreToolUse"}`, `names the event "Stop"`},
		{"wrong case of the event", "pretooluse", `{` + call + `,"hook_event_name":"PreToolUse"}`, `names the event "pretooluse"`},
		{"event is a number", "PreToolUse", `{` + call + `,"hook_event_name":7}`, "hook_event_name is not a string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := DecodeClaudeCode(c.event, []byte(c.in), "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error is %v, want one that says %q", err, c.want)
			}
			wantDenial(t, e.Name, err.Error())
		})
	}
}

// wantDenial asserts that a failure is answered with a denial in both ways.
func wantDenial(t *testing.T, event, text string) {
	t.Helper()
	stdout, stderr, exit := failClaudeCode(event, text)
	var out struct {
		Specific struct{ HookEventName, PermissionDecision, PermissionDecisionReason string } `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(stdout, &out); err != nil {
		t.Fatalf("stdout of event %q: %v: %q", event, err, stdout)
	}
	s := out.Specific
	if s.HookEventName != "PreToolUse" || s.PermissionDecision != "deny" || s.PermissionDecisionReason == "" || exit != 2 {
		t.Errorf("event %q: exit %d, %s; want exit 2 and a denial", event, exit, stdout)
	}
	if strings.TrimSuffix(stderr, "\n") != s.PermissionDecisionReason {
		t.Errorf("event %q: stderr %q and reason %q differ", event, stderr, s.PermissionDecisionReason)
	}
}

// On other events an unreadable input gets no answer: exit 2 would erase a
// prompt.
func TestDecodeRefusesSilentlyElsewhere(t *testing.T) {
	for _, event := range append(ClaudeCodeEvents(), "Notification", "SomethingNew") {
		if event == PreToolUse { // a denial there
			continue
		}
		e, err := DecodeClaudeCode(event, []byte(`{"session_id":`), "")
		if err == nil {
			t.Fatalf("%s: no error", event)
		}
		stdout, stderr, exit := failClaudeCode(e.Name, err.Error())
		if len(stdout) != 0 || stderr != "" || exit != 0 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want silence", event, exit, stdout, stderr)
		}
	}
}

func TestDecodeAccepts(t *testing.T) {
	for _, c := range []struct {
		name, event, in string
		want            func(engine.Event) bool
	}{
		{"unknown keys", "PreToolUse", `{` + call + `,"new":{"a":1},"NEW":null}`, func(e engine.Event) bool { return e.Call == "t1" }},
		{"lone surrogate", "PreToolUse", `{"session_id":"s1","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"\ud800"}}`, func(e engine.Event) bool { return string(e.Args) == `{"command":"\ud800"}` }},
		{"spaces kept", "PreToolUse", `{"session_id":"s1","tool_name":"Bash","tool_use_id":"t1","tool_input": { "command" : "ls" } }`, func(e engine.Event) bool { return string(e.Args) == `{ "command" : "ls" }` }},
		{"null is absent", "PreToolUse", `{` + call + `,"agent_id":null,"permission_mode":null}`, func(e engine.Event) bool { return e.Agent == "" }},
		{"wrong case inside the input is the tool's business", "PreToolUse", `{"session_id":"s1","tool_name":"Bash","tool_use_id":"t1","tool_input":{"Command":"ls"}}`, func(e engine.Event) bool { return e.Phase == engine.PhasePre }},
		{"unknown event", "Notification", `{"session_id":"s1","hook_event_name":"Notification"}`, func(e engine.Event) bool { return e.Phase == engine.PhaseOther && e.Name == "Notification" }},
		{"result without id", "PostToolUse", `{"session_id":"s1","tool_name":"Bash","tool_response":"x"}`, func(e engine.Event) bool { return string(e.Result.Output) == `"x"` }},
		{"failure", "PostToolUseFailure", `{` + call + `,"error":"Exit code 2\nno","is_interrupt":true,"duration_ms":12.7}`, func(e engine.Event) bool {
			return e.Result.Failed && e.Result.Interrupted && e.Result.Error == "Exit code 2\nno" && e.Result.DurationMS == 12
		}},
		{"duration out of range", "PostToolUse", `{` + call + `,"duration_ms":1e300}`, func(e engine.Event) bool { return e.Result.DurationMS == 1<<53-1 }},
		{"prompt of a person", "UserPromptSubmit", `{"session_id":"s1","prompt":"Fix it.","source":"user"}`, func(e engine.Event) bool { return e.Phase == engine.PhasePrompt && e.Prompt == "Fix it." && e.Typed }},
		{"last message", "Stop", `{"session_id":"s1","last_assistant_message":"All tests pass.","stop_hook_active":true}`, func(e engine.Event) bool { return e.LastMessage == "All tests pass." && e.Again }},
		{"last message of another type", "Stop", `{"session_id":"s1","last_assistant_message":{"a":1},"stop_hook_active":"no"}`, func(e engine.Event) bool { return e.LastMessage == "" && !e.Again }},
		{"message of a run", "UserPromptSubmit", `{"session_id":"s1","prompt":"[reviewer run] Continue."}`, func(e engine.Event) bool { return e.Phase == engine.PhaseOther && e.Prompt == "" }},
		{"prompt of a timer", "UserPromptSubmit", `{"session_id":"s1","prompt":"Go on.","source":"schedule_wakeup"}`, func(e engine.Event) bool {
			return e.Phase == engine.PhaseOther && e.Prompt == "Go on." && strings.Contains(e.Unverified, "nobody typed this prompt")
		}},
		{"prompt with an unknown source", "UserPromptSubmit", `{"session_id":"s1","prompt":"Go on.","source":"peer_v2"}`, func(e engine.Event) bool { return e.Phase == engine.PhaseOther && e.Unverified != "" && !e.Typed }},
		{"prompt with an empty source", "UserPromptSubmit", `{"session_id":"s1","prompt":"Go on.","source":""}`, func(e engine.Event) bool { return e.Phase == engine.PhaseOther && e.Unverified != "" }},
		{"prompt with a source of another type", "UserPromptSubmit", `{"session_id":"s1","prompt":"Go on.","source":["user"]}`, func(e engine.Event) bool { return e.Phase == engine.PhaseOther && e.Unverified != "" }},
		{"prompt with two sources", "UserPromptSubmit", `{"session_id":"s1","prompt":"Go on.","source":"user sdk"}`, func(e engine.Event) bool { return e.Phase == engine.PhaseOther && e.Unverified != "" }},
		{"prompt of an SDK", "UserPromptSubmit", `{"session_id":"s1","prompt":"Go on.","source":"sdk"}`, func(e engine.Event) bool { return e.Phase == engine.PhasePrompt && !e.Typed }},
		{"prompt of a sub-agent", "UserPromptSubmit", `{"session_id":"s1","prompt":"Go on.","source":"user","agent_id":"a1"}`, func(e engine.Event) bool { return e.Phase == engine.PhaseOther && e.Unverified != "" && !e.Typed }},
		{"prompt without a source", "UserPromptSubmit", `{"session_id":"s1","prompt":"Go on."}`, func(e engine.Event) bool { return e.Phase == engine.PhasePrompt && !e.Typed }},
	} {
		e, err := DecodeClaudeCode(c.event, []byte(c.in), "")
		if err != nil || !c.want(e) {
			t.Errorf("%s: %v\n%s", c.name, err, harnesstest.Describe(e))
		}
	}
}

// Each answer on each event, as the client gets it. leased is an input that decoding
// and encoding would change.
const leased = `{"command":"git push --force-with-lease origin topic && echo '<ok> & \u00e9 \ud800'","timeout":1e400,"n":12345678901234567890}`

func TestEncode(t *testing.T) {
	answers := []struct {
		name string
		a    engine.Answer
	}{
		{"allow", engine.Answer{Effect: engine.Allow, Text: "not to be said"}},
		{"allow-grant", engine.Answer{Effect: engine.Allow, Grant: true, Text: "reviewer allows this call."}},
		{"warn", engine.Answer{Effect: engine.Warn, Text: "This changes <main> & its history."}},
		{"warn-notice", engine.Answer{Effect: engine.Warn, Text: "This session is stopped.", Notice: "This session is stopped; resume it."}},
		{"warn-grant", engine.Answer{Effect: engine.Warn, Grant: true, Text: "Mind the history."}},
		{"modify", engine.Answer{Effect: engine.Modify, Text: "With --force-with-lease this would be safe."}},
		{"modify-input", engine.Answer{Effect: engine.Modify, Text: "It runs with --force-with-lease.", Args: json.RawMessage(leased)}},
		{"modify-grant", engine.Answer{Effect: engine.Modify, Grant: true, Args: json.RawMessage(leased)}},
		{"modify-no-object", engine.Answer{Effect: engine.Modify, Args: json.RawMessage(`"git push"`)}},
		{"modify-no-json", engine.Answer{Effect: engine.Modify, Args: json.RawMessage(`{"command":"git push"`)}},
		{"ask", engine.Answer{Effect: engine.Ask, Text: "Is this meant?"}},
		{"ask-silent", engine.Answer{Effect: engine.Ask}},
		{"block", engine.Answer{Effect: engine.Block, Text: "Not in this folder.\nid: 0123abcd-7"}},
		{"block-silent", engine.Answer{Effect: engine.Block}},
		{"unknown-verdict", engine.Answer{Effect: "maybe", Text: "Not a verdict."}},
		{"stop", engine.Answer{Effect: engine.Block, Stop: true, Text: "This session was stopped."}},
		{"stop-allowed", engine.Answer{Effect: engine.Allow, Stop: true}},
		{"go-on", engine.Answer{Effect: engine.Warn, GoOn: true, Text: "The latest check failed."}},
	}
	var a txtar.Archive
	for _, event := range append(ClaudeCodeEvents(), permissionRequest, "Notification", "") {
		for _, c := range answers {
			stdout, stderr, exit := encodeClaudeCode(event, c.a)
			text := fmt.Sprintf("exit %d\n", exit)
			if len(stdout) > 0 {
				text += "stdout " + string(stdout)
			}
			if stderr != "" {
				text += fmt.Sprintf("stderr %q\n", stderr)
			}
			a.Files = append(a.Files, txtar.File{Name: cmp.Or(event, "(none)") + "/" + c.name, Data: []byte(text)})
		}
	}
	harnesstest.WantGolden(t, "../../testdata/hooks/golden/claude-code/encode.txtar", string(txtar.Format(&a)))
}

// A call's other form is sent with the bytes of its strings and numbers, and
// without a decision, which would be a person's to make.
func TestEncodeModify(t *testing.T) {
	spaced := " {\n \"a\" : \"<\u2028> \", \"b\": [1.0, 1E5 ] }"
	for args, want := range map[string]string{leased: leased, spaced: "{\"a\":\"<\u2028> \",\"b\":[1.0,1E5]}"} {
		stdout, stderr, exit := encodeClaudeCode(PreToolUse, engine.Answer{Effect: engine.Modify, Text: "t", Args: json.RawMessage(args)})
		head := `{"systemMessage":"t","hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":`
		if got := string(stdout); got != head+want+`,"additionalContext":"t"}}`+"\n" || stderr != "" || exit != 0 {
			t.Errorf("exit %d, %q, %s", exit, stderr, got)
		}
	}
}

func TestEncodeShortensLongTexts(t *testing.T) {
	for _, fill := range []string{"a", "ä", "…", "𝄞"} {
		for extra := range 3 {
			text := "What is wrong. " + strings.Repeat("x", extra) + strings.Repeat(fill, 30000) + " id: 0123abcd-7"
			stdout, _, _ := encodeClaudeCode(PreToolUse, engine.Answer{Effect: engine.Block, Text: text})
			var out claudeCodeOutput
			if err := json.Unmarshal(stdout, &out); err != nil {
				t.Fatal(err)
			}
			got := out.Specific.Reason
			units := len(utf16.Encode([]rune(got)))
			if units > 10000 || units < 9000 {
				t.Errorf("%q: %d UTF-16 units, want at most 10,000 and not much less", fill, units)
			}
			if !strings.HasPrefix(got, "What is wrong. ") || !strings.HasSuffix(got, fill+" id: 0123abcd-7") || strings.ContainsRune(got, '\uFFFD') {
				t.Errorf("%q: shortened to %.30q … %q", fill, got, got[len(got)-30:])
			}
		}
	}
}

func TestHarnesses(t *testing.T) {
	for _, name := range Names() {
		h, ok := Find(name)
		if !ok || h.Decode == nil || h.Encode == nil || h.Failure == nil || h.Timeout == nil || len(h.Events) == 0 {
			t.Errorf("%s: a part is missing: %+v", name, h)
		}
	}
	if _, ok := Find("nobody"); ok {
		t.Error("an agent that is not in the table was found")
	}
}

// FuzzDecode: whatever cannot be read before a tool call is denied; whatever is
// accepted has the arguments of the document, byte for byte.
func FuzzDecode(f *testing.F) {
	for name, raw := range recorded(f) {
		f.Add(eventOf(name), raw)
	}
	f.Add("", []byte(`{"hook_event_name":"PreToolUse",`+call+`}`))
	f.Add("PreToolUse", []byte(`{`+call+`,"tool_name":"Read"}`))
	f.Add("Stop", []byte(`{"hook_event_name":"PreToolUse"}`))
	f.Fuzz(func(t *testing.T, event string, raw []byte) {
		e, err := DecodeClaudeCode(event, raw, "/srv/shop")
		if err != nil {
			if e.Tool != "" || e.Args != nil || e.Session != "" {
				t.Errorf("an error and half an event: %+v", e)
			}
			if event == PreToolUse || event == "" && e.Phase == engine.PhasePre {
				wantDenial(t, e.Name, err.Error())
			}
			return
		}
		if event != "" && e.Name != event || e.Session == "" {
			t.Fatalf("event %q is read as %+v", event, e)
		}
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(raw, &doc); err != nil {
			t.Fatalf("accepted, but not JSON: %v", err)
		}
		if e.Phase != engine.PhasePre {
			return
		}
		if !bytes.Equal(e.Args, doc["tool_input"]) {
			t.Errorf("args are %s, the document says %s", e.Args, doc["tool_input"])
		}
		doc["tool_input"] = e.Args
		again, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := DecodeClaudeCode(event, again, "/srv/shop")
		if err != nil || harnesstest.Describe(twice) != harnesstest.Describe(e) {
			t.Errorf("encoded and decoded again: %v\n%s\nwant\n%s", err, harnesstest.Describe(twice), harnesstest.Describe(e))
		}
	})
}

// An event that is not known may come before a tool call: then it is denied. Events
// after a call and notifications are ignored.
func TestUnknownEvents(t *testing.T) {
	const call = `"session_id":"s1","cwd":"/srv/shop","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"`
	for _, c := range []struct {
		event, rest string
		denied      bool
	}{
		{"pretooluse", "", true},
		{"PreTooUse", "", true},
		{"Pre_Tool_Use", "", true},
		{"BeforeToolCall", "", true},
		{"permissionrequest", "", true},
		{"PreShellExec", "", true},
		{"ToolUse", "", true},
		{"Sandbox", "," + call[len(`"session_id":"s1",`):], true},
		{"PreCompact", "", false},
		{"PermissionDenied", "", false},
		{"Notification", "", false},
		{"PostSandbox", "", false},
		{"AfterToolCall", "", false},
		{"TeamChanged", "", false},
		{"Sandbox", `,"tool_name":"Bash","tool_input":{},"tool_response":{}`, false},
	} {
		raw := `{"session_id":"s1","cwd":"/srv/shop","hook_event_name":"` + c.event + `"` + strings.TrimPrefix(c.rest, `,"cwd":"/srv/shop"`) + `}`
		for _, argument := range []string{c.event, ""} {
			e, err := DecodeClaudeCode(argument, []byte(raw), "")
			if denied := err != nil; denied != c.denied {
				t.Errorf("%s: error %v, want one: %t", raw, err, c.denied)
			} else if _, _, exit := failClaudeCode(e.Name, "x"); err != nil && exit != 2 {
				t.Errorf("%s: exit %d, want 2", raw, exit)
			}
		}
	}
	if _, _, exit := failClaudeCode("PostSandbox", "x"); exit != 0 {
		t.Errorf("PostSandbox: exit %d, want 0", exit)
	}
}
