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

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness/harnesstest"
)

const codexInputs = "../../testdata/hooks/codex/*.json"

// Each kind of input of the client: invented contents in the client's structure.
func TestCodexDecode(t *testing.T) {
	names, _ := filepath.Glob(codexInputs)
	var a txtar.Archive
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		e, err := codex().decode(eventOf(base), raw, "")
		if err != nil {
			t.Fatalf("%s: %v", base, err)
		}
		a.Files = append(a.Files, txtar.File{Name: base, Data: []byte(harnesstest.Describe(e))})
	}
	harnesstest.WantGolden(t, "../../testdata/hooks/golden/codex/decode.txtar", string(txtar.Format(&a)))
}

func TestCodexEncode(t *testing.T) {
	answers := []struct {
		name string
		a    engine.Answer
	}{
		{"allow", engine.Answer{Effect: engine.Allow, Text: "not to be said"}},
		{"allow-grant", engine.Answer{Effect: engine.Allow, Grant: true, Text: "reviewer allows this call."}},
		{"warn", engine.Answer{Effect: engine.Warn, Text: "This changes <main> & its history."}},
		{"warn-notice", engine.Answer{Effect: engine.Warn, Text: "This session is stopped.", Notice: "This session is stopped; resume it."}},
		{"modify-input", engine.Answer{Effect: engine.Modify, Text: "It runs with --force-with-lease.", Args: json.RawMessage(`{"command":"git push --force-with-lease"}`)}},
		{"modify-unreadable", engine.Answer{Effect: engine.Modify, Args: json.RawMessage(leased)}},
		{"modify-surrogate", engine.Answer{Effect: engine.Modify, Args: json.RawMessage(`{"command":"echo \ud800"}`)}},
		{"modify-no-command", engine.Answer{Effect: engine.Modify, Args: json.RawMessage(`{"path":"a"}`)}},
		{"modify-other-command", engine.Answer{Effect: engine.Modify, Args: json.RawMessage(`{"command":["ls"]}`)}},
		{"modify-no-json", engine.Answer{Effect: engine.Modify, Args: json.RawMessage(`{"command":"git push"`)}},
		{"ask", engine.Answer{Effect: engine.Ask, Text: "Is this meant?"}},
		{"block", engine.Answer{Effect: engine.Block, Text: "Not in this folder."}},
		{"block-silent", engine.Answer{Effect: engine.Block}},
		{"unknown-verdict", engine.Answer{Effect: "maybe", Text: "Not a verdict."}},
		{"stop", engine.Answer{Effect: engine.Block, Stop: true, Text: "This session was stopped."}},
		{"stop-allowed", engine.Answer{Effect: engine.Allow, Stop: true}},
		{"go-on", engine.Answer{Effect: engine.Warn, GoOn: true, Text: "The latest check failed."}},
	}
	var a txtar.Archive
	for _, event := range append(eventNames(codex().events), permissionRequest, "Interrupt", "") {
		for _, c := range answers {
			stdout, stderr, exit := encodeCodex(event, c.a)
			a.Files = append(a.Files, txtar.File{Name: cmp.Or(event, "(none)") + "/" + c.name,
				Data: []byte(fmt.Sprintf("exit %d\nstdout %s\nstderr %q\n", exit, bytes.TrimSpace(stdout), stderr))})
		}
	}
	harnesstest.WantGolden(t, "../../testdata/hooks/golden/codex/encode.txtar", string(txtar.Format(&a)))
}

// codexBlocks is what the client does with the answer of a hook before a call, as it was
// observed with version 0.171.0. Anything else lets the call run.
func codexBlocks(stdout []byte, stderr string, exit int) bool {
	if exit == 2 {
		return strings.TrimSpace(stderr) != ""
	}
	var out struct {
		SystemMessage string `json:"systemMessage"`
		Specific      struct {
			Event    string          `json:"hookEventName"`
			Decision string          `json:"permissionDecision"`
			Reason   string          `json:"permissionDecisionReason"`
			Context  string          `json:"additionalContext"`
			Input    json.RawMessage `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	d := json.NewDecoder(bytes.NewReader(stdout))
	d.DisallowUnknownFields()
	return exit == 0 && d.Decode(&out) == nil && out.Specific.Event != "" && out.Specific.Decision == "deny" && out.Specific.Reason != ""
}

// Whatever is not to run is blocked by the client's own rules, and each way to get that wrong
// is recognised by this test.
func TestCodexAnswersAreObeyed(t *testing.T) {
	for _, effect := range []engine.Verdict{engine.Ask, engine.Modify, engine.Block, "maybe"} {
		for _, text := range []string{"", "no", strings.Repeat("é", 20000)} {
			if out, stderr, exit := encodeCodex(PreToolUse, engine.Answer{Effect: effect, Text: text}); !codexBlocks(out, stderr, exit) {
				t.Errorf("%s lets the call run: exit %d, %s", effect, exit, out)
			}
		}
	}
	for _, event := range []string{"", PreToolUse, "BeforeShell"} {
		if out, stderr, exit := codex().fail(event, ""); !codexBlocks(out, stderr, exit) || exit != 2 {
			t.Errorf("a failure at %q lets the call run: exit %d, %q", event, exit, stderr)
		}
	}
	for _, event := range append(eventNames(codex().events), permissionRequest, "Interrupt") {
		if out, stderr, exit := codex().fail(event, "x"); event != PreToolUse && (len(out) > 0 || stderr != "" || exit != 0) {
			t.Errorf("a failure at %s is answered: exit %d, %s %s", event, exit, out, stderr)
		}
	}
	deny := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`
	for name, c := range map[string]struct {
		stdout, stderr string
		exit           int
	}{
		"no reason":           {strings.Replace(deny, `"no"`, `""`, 1), "", 0},
		"no event":            {strings.Replace(deny, `"hookEventName":"PreToolUse",`, "", 1), "", 0},
		"unknown field":       {strings.Replace(deny, `{"hook`, `{"zork":1,"hook`, 1), "", 0},
		"continue: false":     {strings.Replace(deny, `{"hook`, `{"continue":false,"hook`, 1), "", 0},
		"text before":         {"hello\n" + deny, "", 0},
		"exit 1":              {deny, "text", 1},
		"silent exit 2":       {"", "", 2},
		"exit 2, only stdout": {"no", "", 2},
		"ask":                 {strings.Replace(deny, "deny", "ask", 1), "", 0},
		"unknown decision":    {strings.Replace(deny, `"deny"`, `"block"`, 1), "", 0},
		"malformed":           {`{"hookSpecificOutput":`, "", 0},
		"missing program":     {"", "not found", 127},
		"empty":               {"", "", 0},
	} {
		if codexBlocks([]byte(c.stdout), c.stderr, c.exit) {
			t.Errorf("%s: the client lets this call run", name)
		}
	}
	if !codexBlocks([]byte(deny), "", 0) {
		t.Error("the client blocks a denial")
	}
}

// A document that Claude Code's reader refuses is refused here too, under this agent's name.
func TestCodexDecodeRefuses(t *testing.T) {
	for in, want := range map[string]string{
		``:                    "empty",
		`{"session_id":"s1"}`: "run `reviewer install codex` again",
		`{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Bash","tool_input":"{\"command\":\"ls\"}","tool_use_id":"c"}`: "not an object",
		`{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Bash","tool_input":{}}`:                                       "tool_use_id is missing",
		`{"hook_event_name":"PreToolUse","session_id":"s1","Turn_ID":"t"}`:                                                            `must be spelled "turn_id"`,
		`{"hook_event_name":"PreShellUse","session_id":"s1"}`:                                                                         "unknown event",
	} {
		e, err := codex().decode("", []byte(in), "")
		if err == nil || !strings.Contains(err.Error(), want) || e.Harness != Codex {
			t.Errorf("%s: %v by %s, want %s", in, err, e.Harness, want)
		}
		if _, stderr, exit := codex().fail(e.Name, err.Error()); exit != 2 || stderr == "" {
			t.Errorf("%s: exit %d, %q", in, exit, stderr)
		}
	}
}

// FuzzDecodeCodex: what cannot be read before a call is denied; what is accepted has the
// arguments of the document.
func FuzzDecodeCodex(f *testing.F) {
	names, _ := filepath.Glob(codexInputs)
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(eventOf(filepath.Base(name)), raw)
	}
	f.Fuzz(func(t *testing.T, event string, raw []byte) {
		e, err := codex().decode(event, raw, "")
		if err != nil {
			if _, stderr, exit := codex().fail(e.Name, err.Error()); e.Phase == engine.PhasePre && e.Name != permissionRequest && (exit != 2 || stderr == "") {
				t.Errorf("not denied: %v", err)
			}
			if e.Tool != "" || e.Args != nil || e.Session != "" {
				t.Errorf("an error and half an event: %+v", e)
			}
			return
		}
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(raw, &doc); err != nil || e.Session == "" || e.Harness != Codex {
			t.Fatalf("accepted: %+v, %v", e, err)
		}
		if e.Phase == engine.PhasePre && !bytes.Equal(e.Args, doc["tool_input"]) {
			t.Errorf("args are %s, the document says %s", e.Args, doc["tool_input"])
		}
	})
}
