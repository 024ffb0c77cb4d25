package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/harnesstest"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

func command(client string) HookCommand {
	return HookCommand{Program: "/opt/it's here/reviewer", Home: "/home/kim/.local/state/reviewer", Client: client,
		Rules: []ClientRule{{Agent: harness.Gemini, Tools: []string{"write_file", "replace"}, Pattern: `"file_path":"[^"]*\.env`, Message: `it's "secret"`}}}
}

// Each case: settings before and after an installation. Installing again
// changes nothing, and uninstalling restores what others had put there.
func TestInstall(t *testing.T) {
	paths, _ := filepath.Glob("testdata/settings/*.txtar")
	if len(paths) == 0 {
		t.Fatal("no cases")
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			client, before, after := string(a.Files[0].Data), a.Files[1].Data, &a.Files[2].Data
			once, err := claudeCode().install(before, command(client))
			if err != nil {
				t.Fatal(err)
			}
			if *harnesstest.Update {
				*after = once
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(*after), string(once)); d != "" {
				t.Errorf("installed (-want +got):\n%s", d)
			}
			twice, err := claudeCode().install(once, command(client))
			if err != nil || string(twice) != string(once) {
				t.Errorf("installed twice (%v):\n%s", err, cmp.Diff(string(once), string(twice)))
			}
			f := claudeCode().inspect(once, client)
			if f.Problem != "" || len(f.Own) != len(harness.ClaudeCodeEvents()) {
				t.Errorf("inspected: %d own entries, problem %q", len(f.Own), f.Problem)
			}
			for _, own := range f.Own {
				if len(own.Problems) > 0 || own.Program != command("").Program || own.Home != command("").Home || !f.Installed(own.Event) {
					t.Errorf("inspected: %+v", own)
				}
			}
			gone, err := claudeCode().uninstall(once)
			if err != nil {
				t.Fatal(err)
			}
			if want := withoutReviewer(t, before); !reflect.DeepEqual(parsed(t, gone), want) {
				t.Errorf("after uninstalling:\n%s\nwant %v", gone, want)
			}
		})
	}
}

func parsed(t *testing.T, raw []byte) any {
	t.Helper()
	if len(strings.TrimSpace(string(raw))) == 0 {
		return map[string]any{}
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}

// withoutReviewer removes reviewer's entries from a case's settings by hand.
func withoutReviewer(t *testing.T, raw []byte) any {
	t.Helper()
	v := parsed(t, raw)
	hooks, ok := v.(map[string]any)["hooks"].(map[string]any)
	if !ok || !strings.Contains(string(raw), "hook claude-code") {
		return v
	}
	delete(hooks, "Notification")
	groups := hooks["PreToolUse"].([]any)
	second := groups[1].(map[string]any)
	second["hooks"] = second["hooks"].([]any)[1:]
	hooks["PreToolUse"] = groups[:2]
	return v
}

func TestInstallRefuses(t *testing.T) {
	for _, c := range []struct{ settings, want string }{
		{`{"hooks":`, "not valid JSON (line 1, column 10)"},
		{"{\n  \"model\": \"opus\",\n}", "not valid JSON (line 3, column 1)"},
		{"// mine\n{}", "not valid JSON (line 1, column 1)"},
		{`[]`, "is not an object"},
		{`{"hooks":[]}`, "hooks is not an object"},
		{`{"hooks":{"Stop":{}}}`, "hooks.Stop is not a list"},
		{`{"env":{},"env":{}}`, `duplicate key "env"`},
	} {
		if got, err := claudeCode().install([]byte(c.settings), command("2.1.329")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error that says %q\n%s", c.settings, err, c.want, got)
		}
		if _, err := claudeCode().uninstall([]byte(c.settings)); err == nil {
			t.Errorf("uninstall from %s: no error", c.settings)
		}
		if got := claudeCode().inspect([]byte(c.settings), "").Problem; !strings.Contains(got, c.want) {
			t.Errorf("inspect %s: problem %q, want one that says %q", c.settings, got, c.want)
		}
	}
	for _, c := range []HookCommand{{Program: "reviewer", Home: "/state"}, {Program: "/bin/reviewer"}, {Program: "/bin/a\nb", Home: "/state"}} {
		if _, err := claudeCode().install(nil, c); err == nil {
			t.Errorf("installed %+v", c)
		}
	}
}

func TestUninstallLeavesOthersAlone(t *testing.T) {
	for _, settings := range []string{"", "{}", `{"hooks":{}}`, `{ "hooks" : {"Stop":[ ]}}`} {
		got, err := claudeCode().uninstall([]byte(settings))
		if err != nil || string(got) != settings {
			t.Errorf("%q became %q (%v)", settings, got, err)
		}
	}
}

func TestExecForm(t *testing.T) {
	for version, want := range map[string]bool{
		"2.1.295": true, "2.1.329 (Claude Code)": true, "2.2.0": true, "3.0": true, "v2.1.300": true, "2.1.400-beta.1": true,
		"2.1.294": false, "2.1.197 (Claude Code)": false, "1.9.999": false, "2.1": false, "": false, "newest": false,
	} {
		if got := ExecForm(version); got != want {
			t.Errorf("ExecForm(%q) = %t, want %t", version, got, want)
		}
	}
}

func TestInspect(t *testing.T) {
	for _, c := range []struct{ name, settings, client, want string }{
		{"nothing", ``, "", ""},
		{"switches", `{"disableAllHooks":true,"allowManagedHooksOnly":true}`, "", "disableAllHooks\nallowManagedHooksOnly\n"},
		{"switches off", `{"disableAllHooks":false,"allowManagedHooksOnly":false}`, "", ""},
		{"invalid counts as managed only", `{"allowManagedHooksOnly":"no"}`, "", "allowManagedHooksOnly\n"},
		{"not a switch", `{"disableAllHooks":"yes","env":{"PATH":"/x"}}`, "", "problem: settings: disableAllHooks is \"yes\", expected true or false\nenv PATH\n"},
		{"group is a string", `{"hooks":{"Stop":["x"]}}`, "", "problem: settings: a group of hooks.Stop is not an object\n"},
		{"group without hooks", `{"hooks":{"Stop":[{"matcher":"*"}]}}`, "", "problem: settings: hooks in a group of hooks.Stop is not a list\n"},
		{"env", `{"env":{"SHOP":"x","GOOGLE_CLOUD_PROJECT":"x","LD_PRELOAD":"x","HOME":"x","GODEBUG":"x","REVIEWER_HOME":"x","XDG_STATE_HOME":"x","BASH_FUNC_ls%%":"x","CLAUDE_CONFIG_DIR":"x"}}`, "",
			"env LD_PRELOAD\nenv HOME\nenv GODEBUG\nenv REVIEWER_HOME\nenv XDG_STATE_HOME\nenv BASH_FUNC_ls%%\nenv CLAUDE_CONFIG_DIR\n"},
		{"foreign", `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"cat answer.json"},{"type":"http","url":"http://127.0.0.1:1/x"},{"type":"command","command":"/bin/x","args":["hook","other"]}]}],"Stop":[{"hooks":[{"type":"command","command":"true"}]}],"PermissionRequest":[{"hooks":[{"type":"prompt","prompt":"Fine?"}]}]}}`, "",
			"foreign PreToolUse [Bash] command: cat answer.json\nforeign PreToolUse [Bash] http: http://127.0.0.1:1/x\nforeign PreToolUse [Bash] command: /bin/x [\"hook\",\"other\"]\nforeign PermissionRequest [] prompt: Fine?\n"},
		{"by hand", `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"reviewer hook claude-code","timeout":3,"if":"Bash(rm *)","async":true}]}]}}`, "2.1.329",
			"own PreToolUse [Bash] shell reviewer \"\" 3s\n- the program is not an absolute path: PATH decides what runs\n- no --home: the environment decides where the state is\n- the arguments do not name the event PreToolUse\n- the shell form loads what LD_PRELOAD names; this client supports the exec form\n- `if` excludes some calls\n- an async hook cannot deny\n- the timeout is shorter than the hook's own deadline\n- the matcher Bash excludes some tools\n- no `|| exit 2`, so a failing hook lets the call run\n"},
		{"exec without onFailure", `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/bin/reviewer","args":["hook","claude-code","PreToolUse","--home=/state"]}]}]}}`, "2.1.200",
			"own PreToolUse [*] exec /bin/reviewer \"/state\" 0s\n- clients older than 2.1.295 run the call when a program in exec form is missing\n- no onFailure: block, so a failing hook lets the call run\n"},
		{"exit 2 elsewhere", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/bin/reviewer hook claude-code Stop --home \"/my state\" || exit 2"}]}]}}`, "",
			"own Stop [] shell /bin/reviewer \"/my state\" 0s\n- `|| exit 2` erases prompts or forces the agent to continue when the hook fails\n"},
	} {
		if d := cmp.Diff(c.want, printed(claudeCode().inspect([]byte(c.settings), c.client))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func printed(f Findings) string {
	var b strings.Builder
	if f.Problem != "" {
		fmt.Fprintf(&b, "problem: %s\n", f.Problem)
	}
	for _, off := range f.Off {
		fmt.Fprintf(&b, "%s\n", off.Name)
	}
	if f.AllowManagedHooksOnly {
		b.WriteString("allowManagedHooksOnly\n")
	}
	for _, e := range f.Env {
		fmt.Fprintf(&b, "env %s\n", e.Name)
	}
	for _, o := range f.Own {
		fmt.Fprintf(&b, "own %s [%s] %s %s %q %ds\n", o.Event, o.Matcher, o.Form, o.Program, o.Home, o.Timeout)
		for _, p := range o.Problems {
			fmt.Fprintf(&b, "- %s\n", p)
		}
	}
	for _, h := range f.Foreign {
		fmt.Fprintf(&b, "foreign %s [%s] %s: %s\n", h.Event, h.Matcher, h.Type, h.What)
	}
	return b.String()
}

func TestSettingsLayers(t *testing.T) {
	var got []string
	for _, l := range claudeCodeLayers(harness.Harness{}, Places{OS: "linux", Home: "/home/kim", Project: "/srv/shop/web", Root: "/srv/shop"}) {
		got = append(got, fmt.Sprintf("%s %s %t", l.Name, filepath.ToSlash(l.Path), l.Dir))
	}
	want := []string{
		"managed /etc/claude-code/managed-settings.json false",
		"managed /etc/claude-code/managed-settings.d true",
		"local /srv/shop/web/.claude/settings.local.json false",
		"local /srv/shop/.claude/settings.local.json false",
		"project /srv/shop/web/.claude/settings.json false",
		"user /home/kim/.claude/settings.json false",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("layers (-want +got):\n%s", d)
	}
	mac := claudeCodeLayers(harness.Harness{}, Places{OS: "darwin", Home: "/Users/kim", Env: func(string) string { return "/Users/kim/claude" }, Project: "/p", Root: "/p"})
	managed, user := filepath.ToSlash(mac[0].Path), filepath.ToSlash(mac[len(mac)-1].Path)
	if len(mac) != 5 || managed != "/Library/Application Support/ClaudeCode/managed-settings.json" || user != "/Users/kim/claude/settings.json" {
		t.Errorf("layers on darwin: %v", mac)
	}
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if runtime.GOOS == "windows" {
		mode = 0o666 // files there have ACLs instead of modes
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != text || info.Mode() != mode {
		t.Errorf("%s is %q with mode %v, want %q with %v", filepath.Base(path), got, info.Mode(), text, mode)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestWriteSettings(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	put(t, path, "one", 0o640)
	for i, step := range []struct{ old, new string }{{"one", "two"}, {"two", "three"}, {"three", "three"}} {
		backup, err := WriteSettings(path, []byte(step.old), []byte(step.new))
		if err != nil {
			t.Fatal(err)
		}
		wantFile(t, path, step.new, 0o640)
		if step.old == step.new {
			if backup != "" {
				t.Errorf("kept %s although nothing changed", backup)
			}
			continue
		}
		if want := fmt.Sprintf("%s.reviewer-backup-%d", path, i+1); backup != want {
			t.Errorf("backup is %s, want %s", backup, want)
		}
		wantFile(t, backup, step.old, 0o640)
	}
	if got, want := names(t, dir), "settings.json settings.json.reviewer-backup-1 settings.json.reviewer-backup-2"; got != want {
		t.Errorf("the folder holds %s, want %s", got, want)
	}
}

func TestWriteSettingsNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".claude", "settings.json")
	backup, err := WriteSettings(path, nil, []byte("{}"))
	if err != nil || backup != "" {
		t.Fatalf("backup %q, error %v", backup, err)
	}
	wantFile(t, path, "{}", 0o644)
}

func TestWriteSettingsChangedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "settings.json")
	put(t, path, "theirs", 0o600)
	for _, old := range [][]byte{nil, {}, []byte("mine")} {
		if _, err := WriteSettings(path, old, []byte("new")); !errors.Is(err, ErrSettingsChanged) {
			t.Errorf("old %q: %v, want ErrSettingsChanged", old, err)
		}
	}
	wantFile(t, path, "theirs", 0o600)
	if _, err := WriteSettings(filepath.Join(dir, "gone.json"), []byte("was there"), []byte("new")); !errors.Is(err, ErrSettingsChanged) {
		t.Errorf("a file that was removed: %v, want ErrSettingsChanged", err)
	}
	if got := names(t, dir); got != "settings.json" {
		t.Errorf("the folder holds %s", got)
	}
}

func TestWriteSettingsFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	err := os.Symlink("nowhere", filepath.Join(t.TempDir(), "link"))
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no symbolic links here:", err) // wine makes none, and says that it did
	}
	dotfiles := filepath.Join(dir, "dotfiles")
	home := filepath.Join(dir, "home")
	for _, d := range []string{dotfiles, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dotfiles, "claude.json"), "one", 0o644)
	link := func(target, name string) string {
		path := filepath.Join(home, name)
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first := link("../dotfiles/claude.json", "first")
	if _, err := WriteSettings(link(first, "second"), []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, filepath.Join(dotfiles, "claude.json"), "two", 0o644)
	if _, err := WriteSettings(link("../dotfiles/new.json", "dangling"), nil, []byte("new")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, filepath.Join(dotfiles, "new.json"), "new", 0o644)
	if got := names(t, home); got != "dangling first second" {
		t.Errorf("the folder with the links holds %s", got)
	}
	if _, err := WriteSettings(link("loop", "loop"), nil, []byte("x")); err == nil {
		t.Error("a link to itself was written")
	}
	if _, err := WriteSettings(dotfiles, nil, []byte("x")); err == nil {
		t.Error("a folder was written")
	}
}
