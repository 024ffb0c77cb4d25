package settings

import (
	"encoding/json"
	"path/filepath"
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
		if err := json.Unmarshal(plainJSON([]byte(text)), &doc); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, _ := json.Marshal(doc); string(got) != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, broken := range []string{`"`, `/*`, `//`, `{"a`, `\`, ``} {
		if json.Valid(plainJSON([]byte(broken))) {
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
