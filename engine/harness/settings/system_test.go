package settings

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

func windowsHook(program, client string) HookCommand {
	return HookCommand{Program: program, Home: `C:\Users\kim\AppData\Local\reviewer`, Client: client, System: "windows"}
}

// TestWindowsHook: a client that knows the exec form starts the program by its own
// path, without a shell; an older one is given a line of Git Bash, whose words are
// the same to PowerShell and cmd where they need no quotes.
func TestWindowsHook(t *testing.T) {
	const tail = " hook claude-code PreToolUse --home C:/Users/kim/AppData/Local/reviewer || exit 2"
	for _, c := range []struct {
		program, client, command, shell string
		args                            int
	}{
		{`C:\Tools\reviewer.exe`, "2.1.329", `C:\Tools\reviewer.exe`, "", 5},
		{`C:\Program Files\reviewer\reviewer.exe`, "2.1.329", `C:\Program Files\reviewer\reviewer.exe`, "", 5},
		{`C:\Tools\reviewer.exe`, "2.1.100", "C:/Tools/reviewer.exe" + tail, "bash", 0},
		{`C:\Program Files\reviewer\reviewer.exe`, "", "'C:/Program Files/reviewer/reviewer.exe'" + tail, "bash", 0},
		{`C:\it's\reviewer.exe`, "", `'C:/it'\''s/reviewer.exe'` + tail, "bash", 0},
	} {
		h := windowsHook(c.program, c.client).claudeCode(claudeCode().hook(harness.PreToolUse))
		if h.Command != c.command || h.Shell != c.shell || len(h.Args) != c.args {
			t.Errorf("%s for client %q: %+v", c.program, c.client, h)
		}
	}
}

// TestWindowsSettings: an installed hook is recognised, and removed completely.
func TestWindowsSettings(t *testing.T) {
	for _, client := range []string{"2.1.329", ""} {
		c := windowsHook(`C:\Program Files\reviewer\reviewer.exe`, client)
		before := []byte("{\r\n  \"model\": \"opus\"\r\n}\r\n")
		once, err := claudeCode().install(before, c)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := claudeCode().install(once, c)
		if err != nil || string(twice) != string(once) {
			t.Errorf("client %q: installed twice: %v", client, err)
		}
		f := claudeCode().inspect(once, client)
		if len(f.Own) != len(harness.ClaudeCodeEvents()) || f.Problem != "" {
			t.Errorf("client %q: %+v", client, f)
		}
		for _, own := range f.Own {
			if len(own.Problems) > 0 || filepath.ToSlash(own.Home) == "" {
				t.Errorf("client %q: %+v", client, own)
			}
		}
		gone, err := claudeCode().uninstall(once)
		var v map[string]any
		if err != nil || json.Unmarshal(gone, &v) != nil || len(v) != 1 || v["model"] != "opus" {
			t.Errorf("client %q: what is left is %s, %v", client, gone, err)
		}
	}
}

// TestWindowsByHand: a line that someone wrote for PowerShell is recognised too.
func TestWindowsByHand(t *testing.T) {
	const settings = `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","shell":"powershell",` +
		`"command":"& 'C:\\Program Files\\reviewer\\reviewer.exe' hook claude-code PreToolUse --home C:/state"}]}]}}`
	f := claudeCode().inspect([]byte(settings), "2.1.100")
	if len(f.Own) != 1 || f.Own[0].Program != `C:\Program Files\reviewer\reviewer.exe` || f.Own[0].Home != "C:/state" {
		t.Fatalf("%+v", f)
	}
	if len(f.Own[0].Problems) == 0 {
		t.Error("a hook in PowerShell that lets calls run when it fails has no problem")
	}
}

func TestWindowsLayers(t *testing.T) {
	layers := claudeCodeLayers(harness.Harness{}, Places{OS: "windows", Home: `C:\Users\kim`, Project: "C:/srv/shop"})
	if got := filepath.ToSlash(layers[0].Path); got != "C:/Program Files/ClaudeCode/managed-settings.json" {
		t.Errorf("managed settings are %s", got)
	}
	for _, name := range []string{"Path", "path", "UserProfile", "LOCALAPPDATA", "ComSpec", "Xdg_State_Home"} {
		if envReason(name) == "" {
			t.Errorf("%s bends a hook, and nothing says so", name)
		}
	}
}

// TestWindowsAgents: doctor finds no problem in the hooks that install writes there, although their
// lines have no guard; it reports that they are open.
func TestWindowsAgents(t *testing.T) {
	open := map[string]bool{harness.Codex: true, harness.Gemini: true, harness.Qwen: true, harness.Kimi: true, harness.Droid: true}
	for _, name := range []string{harness.Codex, harness.Gemini, harness.Copilot, harness.Qwen, harness.Kimi, harness.Droid, harness.Cursor} {
		a, known := Find(name)
		if !known {
			t.Fatal(name)
		}
		l := a.Targets(linux(), LayerUser)[0]
		text, err := l.Format.Install(nil, windowsHook(`C:\Program Files\reviewer\reviewer.exe`, ""))
		if err != nil {
			t.Fatal(name, err)
		}
		if l.Format.Inspect == nil {
			l = inFolder(a, l)
		}
		f := l.Format.Inspect(text, "")
		if len(f.Own) == 0 {
			t.Errorf("%s: no hook found in %s", name, text)
		}
		for _, own := range f.Own {
			if want := open[name] && a.Phase(own.Event) == engine.PhasePre; len(own.Problems) > 0 || own.Open != want {
				t.Errorf("%s: %+v, want open: %v", name, own, want)
			}
		}
	}
}
