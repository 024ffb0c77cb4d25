package classify

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// TestLoads: what is said about the files that a call may run.
func TestLoads(t *testing.T) {
	token := "ghp_" + "Zq8T1xv4LmR2bN6sYw0EaJc7UdHfKg3PiQ5t"
	for command, want := range map[string][]string{
		"python3 -u notes.md x":      {engine.ScriptMark + "notes.md", engine.CodeNamed, "python"},
		"deno run -A page.html":      {engine.ScriptMark + "page.html", engine.CodeNamed, "node"},
		"awk -f rules.csv data.txt":  {engine.ScriptMark + "rules.csv", "awk"},
		"source prices.csv":          {engine.ScriptMark + "prices.csv", engine.CodeNamed},
		"npm run test":               nil,
		"npm run test -w web":        {engine.CodeAny},
		"npm run test && npm ci":     {engine.CodeAny},
		"python3 -c 'print(1)' a.md": {engine.CodeNamed},
		"cat notes.md":               nil,
		"cat notes.md | sh":          {engine.ScriptMark + "notes.md", engine.CodeNamed},
		"head -5 /opt/a.csv | bash":  {engine.ScriptMark + "/opt/a.csv", engine.CodeNamed},
		"cat day.log | python3 -":    {engine.ScriptMark + "day.log", engine.CodeNamed},
		"cat notes.md | wc -l":       nil,
		"cat notes.md | sh -c 'ls'":  {engine.CodeNamed},
	} {
		w := diskWorld(map[string]string{"/srv/shop/package.json": `{"scripts": {"test": "echo a"}}`}, nil)
		if got := filesAction(t, w, command).Loads; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
	}
	if got := filesAction(t, diskWorld(nil, nil), "python3 "+token).Loads; strings.Contains(strings.Join(got, " "), token) {
		t.Errorf("a token shows: %v", got)
	}
}
