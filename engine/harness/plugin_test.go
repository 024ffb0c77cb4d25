package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// outcome is the outcome of a call.
type outcome struct {
	Blocked *string         `json:"blocked"`
	Wrong   string          `json:"wrong"`
	Ran     map[string]any  `json:"ran"`
	Result  json.RawMessage `json:"result"`
}

// heard is what a hook was told.
type heard struct {
	Name     string         `json:"name"`
	Args     []string       `json:"args"`
	CWD      string         `json:"cwd"`
	Document map[string]any `json:"document"`
}

// plugins are the texts under test, with the program that stands for the client.
var plugins = map[string]func(command ...string) string{OpenCode: OpenCodePlugin, Pi: PiExtension}

// drive runs the client's stand-in with a plugin. command is the hook's; none: the stand-in of
// reviewer, which answers as fake says.
func drive(t *testing.T, agent, fake string, command ...string) ([]outcome, []heard) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the plugins of OpenCode and pi are not run")
	}
	dir := t.TempDir()
	stands, err := filepath.Abs("testdata/plugin")
	if err != nil {
		t.Fatal(err)
	}
	if len(command) == 0 {
		command = []string{os.Args[0], "hook", agent}
	}
	text := plugins[agent](command...)
	if fake == "slow" {
		text = strings.ReplaceAll(strings.ReplaceAll(text, ":60000", ":300"), ":30000", ":300")
	}
	file, log := filepath.Join(dir, "plugin.mjs"), filepath.Join(dir, "log")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, filepath.Join(stands, agent+".mjs"), "file://"+filepath.ToSlash(file))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "FAKE="+fake, "FAKE_LOG="+log)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s, %s: %v\n%s", agent, fake, err, stderr.String())
	}
	var out []outcome
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("%s, %s: %v: %s", agent, fake, err, stdout.String())
	}
	return out, hooksHeard(t, log)
}

func hooksHeard(t *testing.T, log string) []heard {
	raw, _ := os.ReadFile(log) // absent: no hook ran
	var list []heard
	for line := range bytes.Lines(raw) {
		var h heard
		if err := json.Unmarshal(line, &h); err != nil {
			t.Fatal(err)
		}
		list = append(list, h)
	}
	return list
}

// A call runs only after an answer that says nothing against it: each failure blocks each call.
func TestPluginsFailClosed(t *testing.T) {
	for agent := range plugins {
		for fake, want := range map[string]string{
			"killed": "ended by SIGKILL", "malformed": "not JSON", "before": "not JSON", "text": "not JSON", "null": "not one to PreToolUse",
			"other": "not one to PreToolUse", "allow": "is unknown", "list": "not an object", "slow": "no answer within", "silent": "did not answer",
			"exit1": "status 1 and without a text", "exit2": "reviewer could not review this call.", "exit2silent": "status 2 and without a text",
		} {
			t.Run(agent+"/"+fake, func(t *testing.T) {
				t.Parallel()
				out, _ := drive(t, agent, fake)
				wantBlocked(t, out, want)
			})
		}
		t.Run(agent+"/missing", func(t *testing.T) {
			out, _ := drive(t, agent, "", filepath.Join(t.TempDir(), "reviewer"), "hook", agent)
			wantBlocked(t, out, "could not be started")
		})
	}
}

func wantBlocked(t *testing.T, out []outcome, want string) {
	t.Helper()
	if len(out) != 3 {
		t.Fatalf("%d calls", len(out))
	}
	for i, o := range out {
		if o.Blocked == nil || !strings.Contains(*o.Blocked, want) || !strings.HasPrefix(*o.Blocked, "reviewer") {
			t.Errorf("call %d: %+v, want a denial with %q", i+1, o, want)
		}
	}
}

func TestPluginsDeny(t *testing.T) {
	for agent := range plugins {
		out, _ := drive(t, agent, "deny")
		for i, o := range out {
			if o.Blocked == nil || *o.Blocked != "Not in this folder (rule shop)." {
				t.Errorf("%s, call %d: %+v", agent, i+1, o)
			}
		}
	}
}

// What replaces the arguments are exactly those of the answer, in the client's own object.
func TestPluginsRewrite(t *testing.T) {
	for agent := range plugins {
		out, _ := drive(t, agent, "rewrite")
		for i, o := range out {
			if len(o.Ran) != 1 || o.Ran["command"] != "git push --force-with-lease" || o.Wrong != "" {
				t.Errorf("%s, call %d: %+v", agent, i+1, o)
			}
		}
		if !bytes.Contains(out[0].Result, []byte("It runs with --force-with-lease.")) {
			t.Errorf("%s: the model is not told: %s", agent, out[0].Result)
		}
	}
}

// What the model is to read comes with the next result: also what an event without a call said.
func TestPluginsAddContext(t *testing.T) {
	for agent := range plugins {
		out, _ := drive(t, agent, "told")
		for _, want := range []string{"Read after SessionStart.", "Read after UserPromptSubmit.", "Read after PostToolUse."} {
			if n := bytes.Count(out[0].Result, []byte(want)); n != 1 {
				t.Errorf("%s: %d times %q in %s", agent, n, want, out[0].Result)
			}
		}
		if out, _ := drive(t, agent, "note"); !bytes.Contains(out[0].Result, []byte("Mind the tests.")) {
			t.Errorf("%s: the note is missing: %s", agent, out[0].Result)
		}
	}
}

// What the plugins send is what the decoders read.
func TestPluginsReport(t *testing.T) {
	want := map[string]string{
		OpenCode: `SessionStart ses_1; SubagentStart ses_1 ses_2; UserPromptSubmit ses_1; PreToolUse ses_1 bash call_1; ` +
			`PostToolUse ses_1 bash call_1; PreToolUse ses_1 ses_2 mcp__my_stock__count call_2; PostToolUse ses_1 ses_2 mcp__my_stock__count call_2; ` +
			`PreToolUse ses_1 ses_old read call_3; PostToolUse ses_1 ses_old read call_3; SubagentStop ses_1 ses_2; Stop ses_1`,
		Pi: `SessionStart session-1; UserPromptSubmit session-1; PreToolUse session-1 bash call_1; PostToolUse session-1 bash call_1; ` +
			`PreToolUse session-1 bash call_2; PostToolUseFailure session-1 bash call_2; PreToolUse pi- read call_3; PostToolUse pi- read call_3; ` +
			`Stop session-1; SessionEnd session-1`,
	}
	for agent := range plugins {
		h := agentNamed(t, agent)
		_, told := drive(t, agent, "")
		var list []string
		for _, d := range told {
			raw, _ := json.Marshal(d.Document)
			e, err := h.Decode(d.Name, raw, "")
			if err != nil || !slices.Equal(d.Args, []string{"hook", agent}) {
				t.Errorf("%s, %s with %q: %v: %s", agent, d.Name, d.Args, err, raw)
			}
			words := []string{e.Name, strings.TrimRight(e.Session, "-0123456789"), e.Agent, e.Tool, e.Call}
			if strings.HasPrefix(e.Session, "ses") {
				words[1] = e.Session
			}
			list = append(list, strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " "))
		}
		if got := strings.ReplaceAll(strings.Join(list, "; "), " pi ", " pi- "); got != want[agent] {
			t.Errorf("%s:\n got %s\nwant %s", agent, got, want[agent])
		}
	}
}

// A program's path keeps its characters, whatever they are.
func TestPluginsQuote(t *testing.T) {
	for agent, text := range plugins {
		program := "/srv/o\"ne\\two\n'three' ${x} \u2028</script>/reviewer"
		out := text(program, "hook", agent)
		line, _, _ := strings.Cut(out[strings.Index(out, "const command = ")+len("const command = "):], ";\nconst deadlines")
		var back []string
		if err := json.Unmarshal([]byte(line), &back); err != nil || back[0] != program || strings.Contains(line, "\n") {
			t.Errorf("%s: %q (%v)", agent, line, err)
		}
	}
}
