package settings

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

func kimiLayers(h harness.Harness, p Places) []Layer {
	e := entry{agent: h.Name, command: "command", timeout: "timeout", unit: h.Unit, guarded: true}
	f := blockFormat(func(c HookCommand) (string, error) { return kimiBlock(e, hooksOf(h), c), nil },
		func(raw []byte, _ string) Findings { return kimiFindings(e, hooksOf(h), raw) })
	return []Layer{{Name: LayerUser, Path: filepath.Join(p.folder("KIMI_CODE_HOME", ".kimi-code"), "config.toml"), Format: f}}
}

func kimiBlock(e entry, hooks []Hook, c HookCommand) string {
	var b strings.Builder
	for _, h := range c.given(hooks) {
		fmt.Fprintf(&b, "[[hooks]]\nevent = %s\n", quoteTOML(h.Event))
		if h.aboutTool() {
			b.WriteString("matcher = \".*\"\n")
		}
		fmt.Fprintf(&b, "command = %s\ntimeout = %d\n\n", quoteTOML(e.line(c, h)), e.limit(h))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func kimiFindings(e entry, hooks []Hook, raw []byte) Findings {
	doc, err := parseTOML(raw)
	if err != nil {
		return Findings{Problem: err.Error()}
	}
	var found Findings
	for n, h := range tables(doc["hooks"]) {
		for _, key := range slices.Sorted(maps.Keys(h)) {
			if !slices.Contains([]string{"command", "event", "matcher", "timeout"}, key) {
				found.Problem = fmt.Sprintf("hook %d has the key %q, which Kimi Code does not know, so it ignores all hooks", n+1, key)
			}
		}
		event, _ := h["event"].(string)
		e.inspectTable(&found, hooks, event, h, h)
	}
	return found
}
