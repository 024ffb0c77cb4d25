package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness/harnesstest"
)

// six are the agents whose tests are alike.
func six() []string { return []string{Droid, Kimi, Cline, OpenCode, Pi, Cursor} }

func agentNamed(t testing.TB, name string) Harness {
	h, ok := Find(name)
	if !ok {
		t.Fatalf("no agent %s", name)
	}
	return h
}

// Each kind of input of the clients: invented contents in the client's structure.
func TestSixDecode(t *testing.T) {
	for _, agent := range six() {
		h := agentNamed(t, agent)
		var a txtar.Archive
		for _, name := range inputsOf(t, agent) {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			base := filepath.Base(name)
			e, err := h.Decode(eventOf(base), raw, "")
			if err != nil {
				t.Fatalf("%s, %s: %v", agent, base, err)
			}
			if named, err := h.Decode("", raw, ""); err != nil || named.Name != e.Name {
				t.Errorf("%s, %s: without an argument it is %q (%v)", agent, base, named.Name, err)
			}
			a.Files = append(a.Files, txtar.File{Name: base, Data: []byte(harnesstest.Describe(e))})
		}
		if len(a.Files) < 8 {
			t.Errorf("%s has %d inputs", agent, len(a.Files))
		}
		harnesstest.WantGolden(t, "../../testdata/hooks/golden/"+agent+"/decode.txtar", string(txtar.Format(&a)))
	}
}

// sixAnswers are answers of each kind.
func sixAnswers() map[string]engine.Answer {
	return map[string]engine.Answer{
		"allow":           {Effect: engine.Allow, Text: "not to be said"},
		"allow-grant":     {Effect: engine.Allow, Grant: true, Text: "reviewer allows this call."},
		"warn":            {Effect: engine.Warn, Text: "This changes <main> & its history."},
		"warn-notice":     {Effect: engine.Warn, Text: "This session is stopped.", Notice: "This session is stopped; resume it."},
		"modify":          {Effect: engine.Modify, Text: "It runs with --force-with-lease.", Args: json.RawMessage(`{"command":"git push --force-with-lease"}`)},
		"modify-no-json":  {Effect: engine.Modify, Args: json.RawMessage(`{"command":"git push"`)},
		"ask":             {Effect: engine.Ask, Text: "Is this meant?"},
		"block":           {Effect: engine.Block, Text: "Not in this folder."},
		"block-silent":    {Effect: engine.Block},
		"block-shell":     {Effect: engine.Block, Tool: clineShell, Text: "Not in `/srv`:\n%PATH% & \"it's\" $(rm -rf /) | a\\b"},
		"unknown-verdict": {Effect: "maybe", Text: "Not a verdict."},
		"stop":            {Effect: engine.Block, Stop: true, Text: "This session was stopped."},
		"stop-allowed":    {Effect: engine.Allow, Stop: true},
		"go-on":           {Effect: engine.Warn, GoOn: true, Text: "The latest check failed."},
	}
}

func TestSixEncode(t *testing.T) {
	answers := sixAnswers()
	for _, agent := range six() {
		h := agentNamed(t, agent)
		var a txtar.Archive
		for _, event := range append(slices.Clone(h.Events), "SomethingNew", "") {
			for _, name := range sortedKeys(answers) {
				stdout, stderr, exit := h.Encode(event, answers[name])
				if len(stdout) > 0 && !json.Valid(stdout) {
					t.Errorf("%s, %s at %s: not JSON: %s", agent, name, event, stdout)
				}
				a.Files = append(a.Files, txtar.File{Name: cmp.Or(event, "(none)") + "/" + name,
					Data: []byte(fmt.Sprintf("exit %d\nstdout %s\nstderr %q\n", exit, bytes.TrimSpace(stdout), stderr))})
			}
			stdout, stderr, exit := h.Failure(event, "x")
			a.Files = append(a.Files, txtar.File{Name: cmp.Or(event, "(none)") + "/failure",
				Data: []byte(fmt.Sprintf("exit %d\nstdout %s\nstderr %q\n", exit, bytes.TrimSpace(stdout), stderr))})
		}
		harnesstest.WantGolden(t, "../../testdata/hooks/golden/"+agent+"/encode.txtar", string(txtar.Format(&a)))
	}
}

func sortedKeys(m map[string]engine.Answer) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// said is what a hook leaves behind.
type said struct {
	stdout, stderr string
	exit           int
}

// blocks are what the clients do with the answer of a hook before a call, as it was observed, or
// read in the code of Cursor. Anything else lets the call run.
var blocks = map[string]func(said) bool{
	Droid: func(s said) bool {
		out, ok := alone(s.stdout)
		return s.exit == 2 || ok && (specific(out)["permissionDecision"] == "deny" || out["continue"] == false)
	},
	Kimi: func(s said) bool {
		out, ok := alone(s.stdout)
		return s.exit == 2 || s.exit == 0 && ok && specific(out)["permissionDecision"] == "deny"
	},
	Cline: func(s said) bool {
		out, ok := alone(s.stdout)
		input, _ := json.Marshal(out["overrideInput"])
		return ok && (out["cancel"] == true || isDenial(input))
	},
	OpenCode: pluginBlocks,
	Pi:       pluginBlocks,
	Cursor: func(s said) bool { // with failClosed
		out, ok := alone(s.stdout)
		p, given := out["permission"]
		return s.exit != 0 || !ok || given && p != "allow"
	},
}

func pluginBlocks(s said) bool {
	out, ok := alone(s.stdout)
	of := specific(out)
	return s.exit != 0 || !ok || of["hookEventName"] != PreToolUse || of["permissionDecision"] != nil
}

func alone(stdout string) (out map[string]any, ok bool) {
	return out, json.Unmarshal([]byte(stdout), &out) == nil
}

func specific(out map[string]any) map[string]any {
	of, _ := out["hookSpecificOutput"].(map[string]any)
	return of
}

// Whatever is not to run is blocked by the client's own rules; what is allowed is not.
func TestSixAnswersAreObeyed(t *testing.T) {
	for _, agent := range six() {
		h, blocked := agentNamed(t, agent), blocks[agent]
		pre := h.EventAt(engine.PhasePre)
		for _, effect := range []engine.Verdict{engine.Ask, engine.Modify, engine.Block, "maybe"} {
			for _, text := range []string{"", "no", strings.Repeat("é'", 20000)} {
				for _, tool := range []string{"", clineShell} {
					out, stderr, exit := h.Encode(pre, engine.Answer{Effect: effect, Text: text, Tool: tool})
					if !blocked(said{string(out), stderr, exit}) {
						t.Errorf("%s: %s lets the call run: exit %d, %.200s", agent, effect, exit, out)
					}
				}
			}
		}
		for _, a := range []engine.Answer{{Effect: engine.Allow}, {Effect: engine.Warn, Text: "note"}, {Effect: engine.Warn},
			{Effect: engine.Allow, Grant: true}} {
			if out, stderr, exit := h.Encode(pre, a); blocked(said{string(out), stderr, exit}) || bytes.Contains(out, []byte("allow")) {
				t.Errorf("%s: %+v blocks or grants the call: exit %d, %s", agent, a, exit, out)
			}
		}
	}
}

// A failure before a call is a denial with a string; anywhere else it is silent, or the prompt would
// be lost and the loop never end.
func TestSixFailures(t *testing.T) {
	for _, agent := range six() {
		h := agentNamed(t, agent)
		for _, event := range []string{"", h.EventAt(engine.PhasePre), "BeforeShell"} {
			out, stderr, exit := h.Failure(event, "")
			if !blocks[agent](said{string(out), stderr, exit}) || len(out) == 0 && (exit != 2 || strings.TrimSpace(stderr) == "") {
				t.Errorf("%s: a failure at %q lets the call run: exit %d, %q", agent, event, exit, stderr)
			}
		}
		for _, event := range h.Events {
			out, stderr, exit := h.Failure(event, "x")
			if h.Phase(event) != engine.PhasePre && (len(out) > 0 || stderr != "" || exit != 0) {
				t.Errorf("%s: a failure at %s is answered: exit %d, %s %s", agent, event, exit, out, stderr)
			}
		}
	}
}

// The ways in which a hook can fail, by what the clients were seen to do: true is blocked.
func TestSixWrongAnswers(t *testing.T) {
	deny := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`
	for _, c := range []struct {
		agent, about string
		said         said
		blocked      bool
	}{
		{Droid, "deny with exit 1", said{deny, "", 1}, true}, {Droid, "silent exit 2", said{"", "", 2}, true},
		{Droid, "ask", said{strings.Replace(deny, `"deny"`, `"ask"`, 1), "", 0}, false}, {Droid, "text before", said{"x\n" + deny, "", 0}, false},
		{Droid, "missing program", said{"", "not found", 127}, false}, {Droid, "malformed", said{`{"hook`, "", 0}, false},
		{Kimi, "deny with exit 1", said{deny, "", 1}, false}, {Kimi, "silent exit 2", said{"", "", 2}, true},
		{Kimi, "text before", said{"x\n" + deny, "", 0}, false}, {Kimi, "exit 1", said{"", "x", 1}, false},
		{Cline, "exit 2", said{"", "no", 2}, false}, {Cline, "a text", said{`{"cancel":"yes"}`, "", 0}, false},
		{Cline, "Claude's denial", said{deny, "", 0}, false}, {Cline, "cancel with exit 1", said{`{"cancel":true}`, "", 1}, true},
		{OpenCode, "silence", said{"", "", 0}, true}, {OpenCode, "malformed", said{"{", "", 0}, true}, {OpenCode, "exit 1", said{deny, "", 1}, true},
		{Pi, "silence", said{"", "", 0}, true}, {Pi, "another event", said{strings.Replace(deny, "PreToolUse", "Stop", 1), "", 0}, true},
		{Cursor, "silence", said{"", "", 0}, true}, {Cursor, "unknown permission", said{`{"permission":"maybe"}`, "", 0}, true},
	} {
		if got := blocks[c.agent](c.said); got != c.blocked {
			t.Errorf("%s, %s: blocked %v", c.agent, c.about, got)
		}
	}
}

// Documents that cannot be read are refused, under the agent's own name.
func TestSixRefuse(t *testing.T) {
	for _, c := range []struct{ agent, in, want string }{
		{Droid, ``, "empty"},
		{Droid, `{"session_id":"s1"}`, "run `reviewer install droid` again"},
		{Droid, `{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Execute","tool_input":"ls"}`, "not an object"},
		{Droid, `{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Execute"}`, "tool_input is missing"},
		{Droid, `{"hook_event_name":"PreExecute","session_id":"s1"}`, "unknown event"},
		{Kimi, `{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Bash","tool_input":{}}`, "tool_call_id is missing"},
		{Kimi, `{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Bash","tool_input":{},"Tool_call_id":"c"}`, `must be spelled "tool_call_id"`},
		{Kimi, `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_call_id":"c"}`, "session_id is missing"},
		{Cline, `{"hookName":"tool_call","taskId":"t","tool_call":{"name":"run_commands","input":{}}}`, "tool_call.id is missing"},
		{Cline, `{"hookName":"tool_call","taskId":"t","preToolUse":{"toolName":"run_commands","parameters":{}}}`, "tool_call.name is missing"},
		{Cline, `{"hookName":"tool_call","taskId":"t","tool_call":{"id":"c","name":"run_commands","input":"ls"}}`, "not an object"},
		{Cline, `{"hookName":"tool_call","taskId":"t","tool_call":{"id":"c","name":"editor","input":{},"Input":{}}}`, `must be spelled "input"`},
		{Cline, `{"hookName":"tool_call","taskId":"t","workspaceRoots":"/srv","tool_call":{"id":"c","name":"editor","input":{}}}`, "not a list"},
		{Cline, `{"hookName":"tool_batch","taskId":"t","tool_call":{"id":"c","name":"editor","input":{}}}`, "unknown event"},
		{OpenCode, `{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"bash","tool_input":{}}`, "tool_use_id is missing"},
		{Pi, `{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"","tool_input":{},"tool_use_id":"c"}`, "tool_name is empty"},
		{Cursor, `{"hook_event_name":"preToolUse","conversation_id":"c","tool_name":"Shell","tool_input":"ls"}`, "not an object"},
		{Cursor, `{"hook_event_name":"beforeShellExecution","conversation_id":"c"}`, "tool_name is missing"},
		{Cursor, `{"hook_event_name":"beforeBrowserAction","conversation_id":"c"}`, "unknown event"},
		{Cursor, `{"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{}}`, "conversation_id is missing"},
	} {
		h := agentNamed(t, c.agent)
		e, err := h.Decode("", []byte(c.in), "")
		if err == nil || !strings.Contains(err.Error(), c.want) || e.Harness != c.agent {
			t.Errorf("%s, %s: %v by %s, want %s", c.agent, c.in, err, e.Harness, c.want)
			continue
		}
		if out, stderr, exit := h.Failure(e.Name, err.Error()); !blocks[c.agent](said{string(out), stderr, exit}) {
			t.Errorf("%s, %s: exit %d, %q", c.agent, c.in, exit, stderr)
		}
	}
}

func FuzzDecodeDroid(f *testing.F)    { fuzzDecode(f, Droid) }
func FuzzDecodeKimi(f *testing.F)     { fuzzDecode(f, Kimi) }
func FuzzDecodeCline(f *testing.F)    { fuzzDecode(f, Cline) }
func FuzzDecodeOpenCode(f *testing.F) { fuzzDecode(f, OpenCode) }
func FuzzDecodePi(f *testing.F)       { fuzzDecode(f, Pi) }
func FuzzDecodeCursor(f *testing.F)   { fuzzDecode(f, Cursor) }

// fuzzDecode: what cannot be read before a call is denied; what is accepted has a session, and
// before a call a tool and an object that the document contains.
func fuzzDecode(f *testing.F, agent string) {
	h := agentNamed(f, agent)
	for _, name := range inputsOf(f, agent) {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(eventOf(filepath.Base(name)), raw)
	}
	f.Fuzz(func(t *testing.T, event string, raw []byte) {
		e, err := h.Decode(event, raw, "")
		if err != nil {
			out, stderr, exit := h.Failure(e.Name, err.Error())
			if e.Phase == engine.PhasePre && !blocks[agent](said{string(out), stderr, exit}) {
				t.Errorf("not denied: %v", err)
			}
			if e.Tool != "" || e.Args != nil || e.Session != "" {
				t.Errorf("an error and half an event: %+v", e)
			}
			return
		}
		if e.Session == "" || e.Harness != agent {
			t.Fatalf("accepted: %+v", e)
		}
		if e.Phase == engine.PhasePre && (e.Tool == "" || !json.Valid(e.Args) || e.Args[0] != '{') {
			t.Errorf("a call of %q with %s", e.Tool, e.Args)
		}
		if agent != Cursor && e.Phase == engine.PhasePre && !bytes.Contains(raw, e.Args) {
			t.Errorf("args are %s, the document says %s", e.Args, raw)
		}
	})
}

// A session of Cursor works in the folder that is open, wherever its shell is; of several in the one with the shell.
func TestRootsOfCursor(t *testing.T) {
	for name, c := range map[string]struct{ cwd, roots, cwdWant, project string }{
		"a subfolder":   {"/srv/shop/web", `["/srv/shop"]`, "/srv/shop/web", "/srv/shop"},
		"two folders":   {"/srv/till/a", `["/srv/shop", "/srv/till/"]`, "/srv/till/a", "/srv/till/"},
		"a longer name": {"/srv/shop-old", `["/srv/till", "/srv/shop"]`, "/srv/shop-old", "/srv/till"},
		"no folder":     {"/srv/shop", `[]`, "/srv/shop", ""},
		"only roots":    {"", `["/srv/shop"]`, "/srv/shop", "/srv/shop"},
		"Windows":       {`C:\\shop\\web`, `["C:\\shop"]`, `C:\shop\web`, `C:\shop`},
	} {
		raw := fmt.Sprintf(`{"hook_event_name":"preToolUse","conversation_id":"c","tool_use_id":"t","workspace_roots":%s,"cwd":"%s",`+
			`"tool_name":"Shell","tool_input":{"command":"rm notes.txt"}}`, c.roots, c.cwd)
		agent, _ := Find(Cursor)
		e, err := agent.Decode("preToolUse", []byte(raw), "")
		if err != nil || e.CWD != c.cwdWant || e.Project != c.project {
			t.Errorf("%s: %q in %q (%v), want %q in %q", name, e.CWD, e.Project, err, c.cwdWant, c.project)
		}
	}
	for name, c := range map[string]struct{ agent, raw, want string }{
		"a prompt in Cursor":           {Cursor, `{"hook_event_name":"beforeSubmitPrompt","conversation_id":"c","workspace_roots":["/srv/shop","/srv/till"],"prompt":"go"}`, "[/srv/till]"},
		"one folder":                   {Cursor, `{"hook_event_name":"beforeSubmitPrompt","conversation_id":"c","workspace_roots":["/srv/shop"],"prompt":"go"}`, "[]"},
		"a call: a prompt has said it": {Cursor, `{"hook_event_name":"preToolUse","conversation_id":"c","tool_use_id":"t","workspace_roots":["/srv/shop","/srv/till"],"tool_name":"Shell","tool_input":{"command":"ls"}}`, "[]"},
	} {
		agent, _ := Find(c.agent)
		if e, err := agent.Decode("", []byte(c.raw), ""); err != nil || fmt.Sprint(e.Roots) != c.want {
			t.Errorf("%s: %q (%v), want %s", name, e.Roots, err, c.want)
		}
	}
}
