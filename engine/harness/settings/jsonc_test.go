package settings

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

func TestPlainJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1}`:                               `{"a":1}`,
		"{// a note\n\"a\": 1, /* b */ }":        `{"a":1}`,
		`{"a": "// no /* note */", "b": [1, ],}`: `{"a":"// no /* note */","b":[1]}`,
		`{"a": "\" // still", "b": 2}`:           `{"a":"\" // still","b":2}`,
	} {
		var doc any
		if err := json.Unmarshal(plainJSON([]byte(text), true), &doc); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, _ := json.Marshal(doc); string(got) != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, broken := range []string{`"`, `/*`, `//`, `{"a`, `\`, ``} {
		if json.Valid(plainJSON([]byte(broken), true)) {
			t.Errorf("%q became JSON", broken)
		}
	}
}

// The other plugins of OpenCode are found in each of its configuration files, with comments or not.
func TestOpenCodeConfigurations(t *testing.T) {
	agent, _ := Find(harness.OpenCode)
	paths := map[string]bool{}
	for _, l := range agent.Layers(Places{OS: "linux", Home: "/h", Project: "/p"}) {
		if l.Format.Inspect == nil || l.Dir {
			continue
		}
		paths[filepath.ToSlash(l.Path)] = true
	}
	for _, path := range []string{"/p/opencode.json", "/p/opencode.jsonc", "/p/.opencode/opencode.json", "/p/.opencode/opencode.jsonc",
		"/h/.config/opencode/opencode.json", "/h/.config/opencode/opencode.jsonc", "/etc/opencode/opencode.jsonc"} {
		if !paths[path] {
			t.Errorf("%s is not read", path)
		}
	}
	found := openCodePlugins(agent.Harness, []byte("{\n  // mine\n  \"plugin\": [\"other-plugin\",],\n}"), "")
	if len(found.Foreign) != 1 || found.Foreign[0].What != "other-plugin" {
		t.Errorf("plugins %+v", found.Foreign)
	}
}

// Gemini and Qwen read settings with comments, so they are edited without losing any; commas before a closing
// bracket are an error for them.
func TestSettingsWithComments(t *testing.T) {
	command := HookCommand{Program: "/usr/bin/reviewer-hook", Home: "/h/state", System: "linux"}
	for name, text := range map[string]string{
		"a member":      "{\n  // my theme\n  \"theme\": \"dark\", // keep\n  /* none yet */\n  \"mcpServers\": {}\n}\n",
		"one line":      "{\"theme\": \"dark\" /* keep */}",
		"only a note":   "{\n  // my theme\n}\n",
		"tabs":          "// first\n{\n\t\"theme\": \"dark\" // my theme keep\n}\n// last\n",
		"other hooks":   "{\n  // my theme\n  \"hooks\": {\n    // keep\n    \"BeforeTool\": [\n      // mine\n      {\"matcher\": \"x\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]} // end\n    ]\n  }\n}\n",
		"other systems": "{\r\n  // my theme\r\n  \"theme\": \"dark\" // keep\r\n}\r\n",
	} {
		for _, agent := range []string{harness.Gemini, harness.Qwen} {
			a, _ := Find(agent)
			format := a.Targets(Places{OS: "linux", Home: "/h", Project: "/p"}, LayerUser)[0].Format
			installed, err := format.Install([]byte(text), command)
			if err != nil {
				t.Errorf("%s, %s: %v", agent, name, err)
				continue
			}
			plain, err := format.Install(plainJSON([]byte(text), false), command)
			if err != nil || !sameJSON(plainJSON(installed, false), plain) {
				t.Errorf("%s, %s: %v: not the same hooks as without comments:\n%s", agent, name, err, installed)
			}
			if found := format.Inspect(installed, ""); found.Problem != "" || !found.Installed(a.Events[0]) {
				t.Errorf("%s, %s: %+v", agent, name, found)
			}
			again, err := format.Install(installed, command)
			if err != nil || string(again) != string(installed) {
				t.Errorf("%s, %s: installed again (%v):\n%s", agent, name, err, again)
			}
			rest, err := format.Uninstall(installed)
			if err != nil || !sameJSON(plainJSON(rest, false), plainJSON([]byte(text), false)) {
				t.Errorf("%s, %s: uninstalled (%v):\n%s", agent, name, err, rest)
			}
			for _, note := range []string{"my theme", "keep", "none yet", "first", "last", "mine", "end"} {
				if n := strings.Count(text, note); strings.Count(string(installed), note) != n || strings.Count(string(rest), note) != n {
					t.Errorf("%s, %s: %q is lost:\n%s\n%s", agent, name, note, installed, rest)
				}
			}
			if name == "a member" && agent == harness.Gemini {
				t.Logf("%s\n%s", installed, rest)
			}
		}
	}
	a, _ := Find(harness.Gemini)
	format := a.Targets(Places{OS: "linux", Home: "/h", Project: "/p"}, LayerUser)[0].Format
	for _, broken := range []string{"{\"a\": 1,}", "{ // no end", "{\"a\": [1,] /* b */}"} {
		if out, err := format.Install([]byte(broken), command); err == nil {
			t.Errorf("%s was edited:\n%s", broken, out)
		}
	}
}
