//go:build e2e && linux

package agents

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/live"
)

// A driver is how one client is started, and what the tests change in its files.
type driver struct {
	live.Driver
	pre  string // the name of the event before a call, as in the hook's command
	file string // in the home, with the time-out of the hook before a call; empty: there is none

	prepare func(s *stage) // before each run; nil: nothing
	hooks   func(s *stage) // writes the hooks in another way than `reviewer install`
	more    []string       // further arguments, before those of the driver's last one
}

// driverOf returns the driver of a client.
func driverOf(name string) driver {
	d := map[string]driver{
		"claude-code": {pre: "PreToolUse", file: ".claude/settings.json"},
		"codex":       {pre: "PreToolUse", file: ".codex/hooks.json", more: []string{"--dangerously-bypass-hook-trust"}},
		"gemini":      {pre: "BeforeTool", file: ".gemini/settings.json"},
		"copilot":     {pre: "preToolUse", file: ".copilot/hooks/reviewer.json", prepare: shareUnpacked},
		"opencode": {pre: "PreToolUse", file: ".config/opencode/plugins/reviewer.js",
			prepare: func(s *stage) { s.giveModules(".config/opencode", "@opencode-ai/plugin", s.client.Version) }},
		"qwen":  {pre: "PreToolUse", file: ".qwen/settings.json"},
		"kimi":  {pre: "PreToolUse", file: ".kimi-code/config.toml"},
		"droid": {pre: "PreToolUse", file: ".factory/hooks.json"},
		"cline": {pre: "PreToolUse"}, // there is no time-out
		"pi":    {pre: "PreToolUse", file: ".pi/agent/extensions/reviewer.ts"},
	}[name]
	d.Driver, _ = live.Find(name)
	n := len(d.Args) - 1
	d.Args = append(append(append([]string{}, d.Args[:n]...), d.more...), d.Args[n])
	return d
}

// shareUnpacked gives Copilot the folder into which it unpacks itself: once for all runs, not once
// for each.
func shareUnpacked(s *stage) {
	shared := filepath.Join(s.client.Dir, "unpacked")
	s.must(os.MkdirAll(shared, 0o755))
	s.must(os.MkdirAll(filepath.Join(s.home, ".cache"), 0o755))
	s.must(os.Symlink(shared, filepath.Join(s.home, ".cache/copilot")))
}

// giveModules puts a package from the cache into a folder of the home. The client would fetch
// it at each start, and wait for it.
func (s *stage) giveModules(folder, pkg, version string) {
	s.Helper()
	modules, err := fetch(s.Context(), strings.ReplaceAll(strings.TrimPrefix(pkg, "@"), "/", "-"), pkg, version)
	s.must(err)
	s.must(os.MkdirAll(filepath.Join(s.home, folder), 0o755))
	s.must(os.Symlink(modules, filepath.Join(s.home, folder, "node_modules")))
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(modules), name))
		s.must(err)
		s.write(filepath.Join(s.home, folder, name), string(text))
	}
}
