package place

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// What a call deletes or changes is counted, within a limit.
func TestHeld(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"a.csv": 3, "data/b.csv": 4, "data/more/c.csv": 5} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return Slashes(filepath.Join(dir, name)) }
	for name, c := range map[string]struct {
		e            engine.Effect
		targets      []string
		files, bytes int64
	}{
		"a file":                     {engine.Effect{Kind: engine.EffectFileDelete}, []string{"a.csv"}, 1, 3},
		"a file that is overwritten": {engine.Effect{Kind: engine.EffectFileWrite}, []string{"a.csv"}, 1, 3},
		"a folder":                   {engine.Effect{Kind: engine.EffectFileDelete, Recursive: true}, []string{"data"}, 2, 9},
		"an empty folder's name":     {engine.Effect{Kind: engine.EffectFileDelete}, []string{"data"}, 0, 0},
		"several":                    {engine.Effect{Kind: engine.EffectFileDelete, Recursive: true}, []string{"a.csv", "data"}, 3, 12},
		"a file that is read":        {engine.Effect{Kind: engine.EffectFileRead}, []string{"a.csv"}, 0, 0},
		"what git discards":          {engine.Effect{Kind: engine.EffectFileWrite, Verb: "discard"}, []string{"a.csv"}, 0, 0},
		"nothing":                    {engine.Effect{Kind: engine.EffectFileDelete}, []string{"no.csv"}, 0, 0},
	} {
		r := &Resolver{World: World{Lstat: os.Lstat, ReadDir: readNames}}
		r.infos, r.hidden = map[string]os.FileInfo{}, map[string]bool{}
		var targets []string
		for _, n := range c.targets {
			targets = append(targets, at(n))
		}
		e := c.e
		if r.held(&e, targets...); e.HeldFiles != c.files || e.HeldBytes != c.bytes {
			t.Errorf("%s: %d files and %d bytes, want %d and %d", name, e.HeldFiles, e.HeldBytes, c.files, c.bytes)
		}
	}
}
