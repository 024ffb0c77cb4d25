package settings

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/harnesstest"
)

func linux() Places { return Places{OS: "linux", Home: "/home/kim", Project: "/srv/shop"} }

func layerNames() []string { return []string{LayerManaged, LayerProject, LayerUser} }

// What is written for each agent, in each of its files.
func TestEveryAgent(t *testing.T) {
	for _, a := range Agents() {
		t.Run(a.Name, func(t *testing.T) {
			var b strings.Builder
			for _, name := range layerNames() {
				for _, l := range a.Targets(linux(), name) {
					fmt.Fprintf(&b, "-- %s %s --\n%s", name, filepath.ToSlash(l.Path), installed(t, l))
				}
				wantAllEvents(t, a, name)
			}
			harnesstest.WantGolden(t, filepath.Join("testdata", "agents", a.Name+".txt"), b.String())
		})
	}
}

// installed returns the text that is written to a file that is not there, and checks that a second
// installation changes nothing and that the removal leaves nothing.
func installed(t *testing.T, l Layer) []byte {
	t.Helper()
	once, err := l.Format.Install(nil, command(""))
	if err != nil {
		t.Fatal(err)
	}
	twice, err := l.Format.Install(once, command(""))
	if err != nil || !bytes.Equal(once, twice) {
		t.Errorf("%s: installed twice (%v):\n%s", l.Path, err, twice)
	}
	gone, err := l.Format.Uninstall(once)
	if text := strings.TrimSpace(string(gone)); err != nil || text != "" && text != "{}" {
		t.Errorf("%s: after uninstalling (%v):\n%s", l.Path, err, gone)
	}
	return once
}

// wantAllEvents checks that the files of a layer together call reviewer at each event, without a
// problem.
func wantAllEvents(t *testing.T, a Agent, layer string) {
	t.Helper()
	var own []OwnHook
	for _, l := range a.Targets(linux(), layer) {
		text := installed(t, l)
		if l.Format.Inspect == nil {
			l = inFolder(a, l)
		}
		if l.Format.Inspect == nil {
			continue // a file that names no hook
		}
		f := l.Format.Inspect(text, "")
		if f.Problem != "" || len(f.Off) > 0 || len(f.Foreign) > 0 || layer == LayerManaged && !f.Pinned {
			t.Errorf("%s: %+v", l.Path, f)
		}
		own = append(own, f.Own...)
	}
	if len(a.Targets(linux(), layer)) == 0 {
		return
	}
	var events []string
	for _, o := range own {
		events = append(events, o.Event)
		if len(o.Problems) > 0 || o.Program != command("").Program || o.Home != command("").Home {
			t.Errorf("%s settings: %+v", layer, o)
		}
	}
	slices.Sort(events)
	if want := slices.Sorted(slices.Values(a.Events)); !slices.Equal(events, want) {
		t.Errorf("%s settings: installed at %q, want %q", layer, events, want)
	}
}

// inFolder returns the layer in which a file is inspected.
func inFolder(a Agent, file Layer) Layer {
	for _, l := range a.Layers(linux()) {
		if l.Dir && filepath.Clean(l.Path) == filepath.Dir(file.Path) && matches(l, file) {
			return l
		}
	}
	return file
}

func matches(folder, file Layer) bool {
	return strings.TrimPrefix(cmp.Or(folder.Files, "*.json"), "*") == filepath.Ext(file.Path)
}

// A file of somebody else keeps all that is not reviewer's.
func TestForeignHooksStay(t *testing.T) {
	for _, c := range []struct{ agent, file, before string }{
		{harness.Codex, "hooks.json", `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"./mine.sh"}]}]}}`},
		{harness.Codex, "requirements.toml", "# ours\nallowed_approval_policies = [\"on-request\"] # never \"never\"\n"},
		{"gemini", "settings.json", `{"theme":"dark","hooks":{"BeforeTool":[{"hooks":[{"type":"command","name":"mine","command":"./mine.sh"}]}]}}`},
		{"qwen", "settings.json", `{"ui":{},"hooks":{"Stop":[{"hooks":[{"type":"http","url":"http://127.0.0.1:1"}]}]}}`},
		{"copilot", "reviewer.json", `{"version":1,"hooks":{"preToolUse":[{"type":"command","bash":"./mine.sh","timeoutSec":5}]}}`},
		{"droid", "hooks.json", `{"hooksDisabled":false,"PreToolUse":[{"matcher":"Execute","hooks":[{"type":"command","command":"./mine.sh"}]}]}`},
		{"cursor", "hooks.json", `{"version":1,"hooks":{"stop":[{"command":"./mine.sh","loop_limit":null}]}}`},
		{"kimi", "config.toml", "default_model = \"m\" # mine\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"say done\"\n"},
	} {
		a, known := Find(c.agent)
		if !known {
			continue // its wire format is not here yet
		}
		for _, name := range layerNames() {
			for _, l := range a.Targets(linux(), name) {
				if filepath.Base(l.Path) == c.file && (name != LayerManaged || c.file == "requirements.toml") {
					wantBack(t, l, c.before)
				}
			}
		}
	}
}

func wantBack(t *testing.T, l Layer, before string) {
	t.Helper()
	once, err := l.Format.Install([]byte(before), command(""))
	if err != nil {
		t.Errorf("%s: %v", l.Path, err)
		return
	}
	twice, err := l.Format.Install(once, command(""))
	if err != nil || !bytes.Equal(once, twice) {
		t.Errorf("%s: installed twice (%v):\n%s", l.Path, err, twice)
	}
	gone, err := l.Format.Uninstall(once)
	if err != nil || squeezed(gone) != squeezed([]byte(before)) {
		t.Errorf("%s: after uninstalling (%v):\n%s\nwant:\n%s", l.Path, err, gone, before)
	}
	moved, err := l.Format.Install(once, HookCommand{Program: "/new/reviewer", Home: "/state"})
	if err != nil || bytes.Contains(moved, []byte("it's here")) || bytes.Count(moved, []byte("/new/reviewer")) != bytes.Count(once, []byte("s here/reviewer")) {
		t.Errorf("%s: installed from another place (%v):\n%s", l.Path, err, moved)
	}
}

func squeezed(raw []byte) string {
	return strings.Join(strings.Fields(strings.NewReplacer("{", " { ", "}", " } ", "[", " [ ", "]", " ] ", ":", " : ", ",", " , ").Replace(string(raw))), " ")
}

// Files that cannot be edited safely are refused, with what is wrong.
func TestBrokenFilesAreRefused(t *testing.T) {
	for _, c := range []struct{ agent, layer, file, text, want string }{
		{harness.Codex, LayerUser, "hooks.json", `{"hooks":{}`, "not valid JSON (line 1, column 12)"},
		{harness.Codex, LayerManaged, "requirements.toml", "a = = 1\n", "not valid TOML"},
		{harness.Codex, LayerManaged, "requirements.toml", "[features]\nhooks = false\n", "[features] must contain `hooks = true`"},
		{harness.Codex, LayerManaged, "requirements.toml", "hooks = 3\n", "cannot be added"},
		{harness.Codex, LayerManaged, "requirements.toml", blockBegin, "is missing after"},
		{"gemini", LayerManaged, "settings.json", `{"hooksConfig":{"enabled":false}}`, "hooksConfig.enabled is false"},
		{"gemini", LayerManaged, "reviewer.toml", "[[rule]]\n", "not written by reviewer"},
		{"qwen", LayerManaged, "settings.json", `{"disableAllHooks":true}`, "disableAllHooks is true"},
		{"kimi", LayerUser, "config.toml", "hooks = [{event = \"Stop\", command = \"x\"}]\n", "cannot be added"},
		{"kimi", LayerUser, "config.toml", "a = [\n", "not valid TOML"},
		{"droid", LayerUser, "hooks.json", `{"hooks":{"PreToolUse":[]}}`, "hooks is not a list"},
		{"copilot", LayerUser, "reviewer.json", `[]`, "is not an object"},
		{"cline", LayerUser, harness.PreToolUse, "#!/bin/sh\necho mine\n", "not written by reviewer"},
	} {
		a, known := Find(c.agent)
		if !known {
			continue // its wire format is not here yet
		}
		tried := false
		for _, l := range a.Targets(linux(), c.layer) {
			if filepath.Base(l.Path) != c.file {
				continue
			}
			tried = true
			if got, err := l.Format.Install([]byte(c.text), command("")); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s with %q: %v, want an error that says %q\n%s", c.agent, c.file, c.text, err, c.want, got)
			}
		}
		if !tried {
			t.Errorf("%s has no %s file %s", c.agent, c.layer, c.file)
		}
	}
}

// The managed settings of other systems, where they are known.
func TestManagedElsewhere(t *testing.T) {
	want := map[string]string{
		"darwin": "claude-code /Library/Application Support/ClaudeCode/managed-settings.json\n" +
			"gemini /Library/Application Support/GeminiCli/settings.json\ngemini /Library/Application Support/GeminiCli/policies/reviewer.toml\n" +
			"qwen /Library/Application Support/QwenCode/settings.json\n" + "droid /Library/Application Support/Factory/settings.json\n" +
			"opencode /Library/Application Support/opencode/reviewer.js\nopencode /Library/Application Support/opencode/opencode.json\n" +
			"cursor /Library/Application Support/Cursor/hooks.json\n",
		"windows": "claude-code C:/Program Files/ClaudeCode/managed-settings.json\n" +
			"gemini C:/ProgramData/gemini-cli/settings.json\ngemini C:/ProgramData/gemini-cli/policies/reviewer.toml\n" +
			"qwen C:/ProgramData/qwen-code/settings.json\n" + "droid C:/Program Files/Factory/settings.json\n" +
			"opencode C:/ProgramData/opencode/reviewer.js\nopencode C:/ProgramData/opencode/opencode.json\n" +
			"cursor C:/ProgramData/Cursor/hooks.json\n",
	}
	for system, list := range want {
		p := linux()
		p.OS = system
		got := ""
		for _, a := range Agents() {
			for _, l := range a.Targets(p, LayerManaged) {
				got += a.Name + " " + filepath.ToSlash(l.Path) + "\n"
			}
		}
		if got != list {
			t.Errorf("%s:\n%swant\n%s", system, got, list)
		}
	}
	for path, url := range map[string]string{
		"/Library/Application Support/opencode/reviewer.js": "file:///Library/Application%20Support/opencode/reviewer.js",
		"C:/ProgramData/opencode/reviewer.js":               "file:///C:/ProgramData/opencode/reviewer.js",
	} {
		if got := fileURL(path); got != url {
			t.Errorf("%s: %s, want %s", path, got, url)
		}
	}
}

// A rule that Gemini CLI would leave out is refused, with what is wrong.
func TestRulesThatAreRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		`"command":"(rm`:   "guard.client_rules[0].pattern cannot be used: error parsing regexp: missing closing )",
		`"command":"(a+)+`: "guard.client_rules[0].pattern cannot be used: a group with a repetition in it is repeated: (a+)+",
	} {
		c := command("")
		c.Rules[0].Pattern = pattern
		if got, err := geminiRules().Install(nil, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that says %q\n%s", pattern, err, want, got)
		}
	}
}

// What turns hooks off, or changes a call after the review, is found in each file.
func TestSwitchesAreFound(t *testing.T) {
	for _, c := range []struct{ agent, path, text, want string }{
		{harness.Codex, ".codex/config.toml", "[features]\nhooks = false\n", "[features] hooks = false\n"},
		{harness.Codex, ".codex/config.toml", "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype=\"command\"\ncommand=\"./x\"\n", "foreign PreToolUse [] command: ./x\n"},
		{harness.Codex, ".codex/config.toml", "model = \"m\"\n[features]\nhooks = true\n", ""},
		{harness.Codex, ".codex/config.toml", "model =", "problem: settings are not valid TOML"},
		{"gemini", ".gemini/settings.json", `{"hooksConfig":{"enabled":false}}`, "hooksConfig.enabled = false\n"},
		{"gemini", ".gemini/settings.json", `{"hooksConfig":{"disabled":["other","reviewer"]}}`, "hooksConfig.disabled names reviewer's hook (reviewer)\n"},
		{"gemini", ".gemini/settings.json", `{"hooksConfig":{"disabled":["/x/reviewer hook gemini BeforeTool --home /s"]}}`,
			"hooksConfig.disabled names reviewer's hook (/x/reviewer hook gemini BeforeTool --home /s)\n"},
		{"gemini", ".gemini/settings.json", `{"hooksConfig":{"disabled":["other"]}}`, ""},
		{"copilot", ".github/copilot/settings.local.json", `{"disableAllHooks":true}`, "disableAllHooks\n"},
		{"copilot", ".claude/settings.json", `{"disableAllHooks":true,"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x"}]}]}}`, "disableAllHooks\n"},
		{"qwen", ".qwen/settings.json", `{"disableAllHooks":true}`, "disableAllHooks\n"},
		{"droid", ".factory/hooks.json", `{"hooksDisabled":true}`, "hooksDisabled\n"},
		{"droid", ".factory/settings.json", `{"hooks":{"hooksDisabled":true}}`, "hooks.hooksDisabled\n"},
	} {
		a, known := Find(c.agent)
		if !known {
			continue // its wire format is not here yet
		}
		layers := a.Layers(linux())
		i := slices.IndexFunc(layers, func(l Layer) bool { return filepath.ToSlash(l.Path) == "/srv/shop/"+c.path })
		if i < 0 {
			t.Errorf("%s does not look into %s", c.agent, c.path)
			continue
		}
		if got := printed(layers[i].Format.Inspect([]byte(c.text), "")); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %s %s:\n%s\nwant %s", c.agent, c.path, c.text, got, c.want)
		}
	}
}

// A file that contains nothing of somebody else is removed, with a backup; one that an agent runs is
// executable.
func TestWriteOwnFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hooks", harness.PreToolUse)
	l := Layer{Path: path, Run: true}
	if _, err := l.Write(nil, []byte("#!/bin/sh\n")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "#!/bin/sh\n", 0o755)
	if _, err := l.Write([]byte("another\n"), nil); !errors.Is(err, ErrSettingsChanged) {
		t.Errorf("a file that was changed meanwhile: %v", err)
	}
	backup, err := l.Write([]byte("#!/bin/sh\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantFile(t, backup, "#!/bin/sh\n", 0o755)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

// Names in a list that are not texts, and settings of other types, do not cause a failure.
func TestOddValuesAreRead(t *testing.T) {
	for _, a := range Agents() {
		for _, l := range a.Layers(linux()) {
			if l.Format.Inspect == nil {
				continue
			}
			for _, raw := range []string{"", "null", "[]", "{}", "{\"hooks\":3}", "\x00", "\xff\xfe", "hooks = 3\n", "[hooks]\nPreToolUse = 3\n",
				"[[hooks]]\nevent = 3\ncommand = []\n", `{"hooks":{"PreToolUse":[{"hooks":[3]}],"BeforeTool":[[]]},"hooksConfig":{"disabled":[3]}}`} {
				if f := l.Format.Inspect([]byte(raw), "x"); len(f.Own) > 0 {
					t.Errorf("%s %s: %q contains hooks of reviewer: %+v", a.Name, l.Path, raw, f.Own)
				}
			}
		}
	}
}

// A client of a POSIX system may pass the document as a here-document after the hook's line. It arrives whole
// where the line is one command; after `||` it belongs to the guard, so the hook reads nothing, and denies.
func TestDocumentByHeredoc(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	program := filepath.Join(t.TempDir(), "reviewer")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ncat > \"$0.got\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const document = "{\"command\": \"echo $HOME 'it''s' \\\"x\\\"\"}\n"
	want := map[string]string{harness.Cursor: document, harness.Copilot: document,
		harness.Codex: "", harness.Gemini: "", harness.Qwen: "", harness.Kimi: "", harness.Droid: ""}
	for name, text := range want {
		a, _ := Find(name)
		line := gateLine(t, a, HookCommand{Program: program, Home: "/srv/state"})
		cmd := exec.Command(sh, "-c", line+" <<'END_OF_DOCUMENT'\n"+document+"END_OF_DOCUMENT\n")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %s: %v\n%s", name, line, err, out)
		}
		if got, err := os.ReadFile(program + ".got"); err != nil || string(got) != text {
			t.Errorf("%s: %s: the hook read %q (%v), want %q", name, line, got, err, text)
		}
	}
}

// gateLine is the line of the hook before a call.
func gateLine(t *testing.T, a Agent, c HookCommand) string {
	t.Helper()
	l := a.Targets(linux(), LayerUser)[0]
	text, err := l.Format.Install(nil, c)
	if err != nil {
		t.Fatal(err)
	}
	if l.Format.Inspect == nil {
		l = inFolder(a, l)
	}
	for _, own := range l.Format.Inspect(text, "").Own {
		if a.Phase(own.Event) == engine.PhasePre {
			return own.Line
		}
	}
	t.Fatalf("%s has no hook before a call:\n%s", a.Name, text)
	return ""
}
