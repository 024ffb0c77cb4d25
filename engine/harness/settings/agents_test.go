package settings

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
