package classify

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// patternWorld is a workspace with files, folders, links and a repository.
func patternWorld(t *testing.T) (*Classifier, string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "shop")
	for _, name := range []string{"shop/a.txt", "shop/b.txt", "shop/.hidden.txt", "shop/only/x.key", "shop/mixed/f", "shop/mixed/d/g", "shop/lib/.git/HEAD", ".ssh/id_rsa"} {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../.ssh", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	return &Classifier{World: place.LocalWorld(home, "", nil), MAC: classifytest.MAC, Rows: classifytest.Rows(), Program: classifytest.Program}, dir
}

// TestPatterns: a pattern has the facts of what it stands for, the worst of each.
func TestPatterns(t *testing.T) {
	c, dir := patternWorld(t)
	info, err := os.Lstat(filepath.Join(dir, "link"))
	linked := err == nil && info.Mode()&os.ModeSymlink != 0 // wine makes no links, and says that it did
	for _, row := range []struct {
		command string
		want    engine.Effect // Exists, Entry, Class, Location, Recursive
	}{
		{"rm *.txt", engine.Effect{Exists: "yes", Entry: "file", Location: "inside"}},
		{"rm -r *.txt", engine.Effect{Exists: "yes", Entry: "file", Location: "inside", Recursive: true}},
		{"rm mixed/*", engine.Effect{Exists: "yes", Entry: "file", Location: "inside"}},
		{"rm -r mixed/*", engine.Effect{Exists: "yes", Entry: "dir", Location: "inside", Recursive: true}},
		{"reviewer trash *.txt", engine.Effect{Exists: "yes", Entry: "file", Location: "inside"}},
		{"reviewer trash mixed/*", engine.Effect{Exists: "yes", Entry: "dir", Location: "inside", Recursive: true}},
		{"rm none*", engine.Effect{Location: "inside"}},
		{"rm none/*", engine.Effect{Exists: "no", Location: "inside"}},
		{"rm -r m*/d", engine.Effect{Exists: "yes", Entry: "dir", Location: "inside", Recursive: true}},
		{"rm -rf li?", engine.Effect{Exists: "yes", Entry: "dir", Class: engine.ClassGitData, Location: "inside", Recursive: true}},
		{"rm -rf onl*", engine.Effect{Exists: "yes", Entry: "dir", Location: "inside", Recursive: true}},
		{"rm lin*", engine.Effect{Exists: "yes", Entry: "link", Location: "inside"}},
		{"cat lin*", engine.Effect{Exists: "yes", Entry: "dir", Class: engine.ClassCredential, Location: "home"}},
		{"cat on*/*", engine.Effect{Exists: "yes", Entry: "file", Class: engine.ClassCredential, Location: "inside"}},
		{"cat **/*.nothing", engine.Effect{Location: "inside"}},
	} {
		if !linked && strings.Contains(row.command, "lin*") {
			continue
		}
		args, err := json.Marshal(map[string]string{"command": row.command})
		if err != nil {
			t.Fatal(err)
		}
		facts, err := c.Classify(context.Background(), engine.Event{Phase: engine.PhasePre, Tool: "Bash", Args: args, CWD: dir}, dir)
		if err != nil || len(facts.Action.Effects) != 1 {
			t.Errorf("%s: %+v, %v", row.command, facts.Action, err)
			continue
		}
		e := facts.Action.Effects[0]
		got := engine.Effect{Exists: e.Exists, Entry: e.Entry, Class: e.Class, Location: e.Location, Recursive: e.Recursive}
		if got != row.want {
			t.Errorf("%s:\n got %+v\nwant %+v", row.command, got, row.want)
		}
	}
}
