package snapshots

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// bounded is a policy with bounds for checkpoints.
func bounded() *review.Policy {
	p := &review.Policy{}
	p.Settings.Checkpoints = settings.Checkpoints{MaxFileBytes: 100, MaxBytes: 1000, MaxFiles: 20, Generated: []string{"node_modules"}, BudgetMS: 5000,
		Ignored: settings.CheckpointsIgnored{MaxFileBytes: 10, MaxBytes: 50, MaxFiles: 2}}
	return p
}

// Each setting is a bound of the store.
func TestBounds(t *testing.T) {
	got := Bounds(&bounded().Settings.Checkpoints, "/srv/shop", "/home/anna")
	if got.MaxFileBytes != 100 || got.MaxBytes != 1000 || got.MaxFiles != 20 || got.IgnoredFileBytes != 10 || got.IgnoredBytes != 50 ||
		got.IgnoredFiles != 2 || !slices.Equal(got.Generated, []string{"node_modules"}) || got.Budget != 5*time.Second || got.Targeted {
		t.Errorf("%+v", got)
	}
}

// A workspace that contains the home directory is too large to look at as a whole.
func TestTargeted(t *testing.T) {
	home := filepath.Join(t.TempDir(), "users", "anna")
	if err := os.MkdirAll(filepath.Join(home, "shop"), 0o700); err != nil {
		t.Fatal(err)
	}
	root := filepath.VolumeName(home) + string(filepath.Separator)
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{root: true, filepath.Dir(real): true, real: true, filepath.Join(real, "shop"): false,
		real + "s": false} {
		got := Bounds(&bounded().Settings.Checkpoints, dir, home)
		if got.Targeted != want {
			t.Errorf("%s: %v", dir, got.Targeted)
		}
	}
}

func taker(t *testing.T) (*Taker, string) {
	t.Helper()
	dir := t.TempDir()
	workspace := filepath.Join(dir, "shop")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "state")
	return &Taker{Log: &audit.Store{Dir: home}, World: classify.LocalWorld(filepath.Join(dir, "anna"), "", nil)}, workspace
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What a call changes is what differs from the checkpoint before it.
func TestTaker(t *testing.T) {
	taker, workspace := taker(t)
	file := filepath.Join(workspace, "a.txt")
	write(t, file, "one")
	before, err := taker.Checkpoint(context.Background(), act.CheckpointOf{Policy: bounded(), Workspace: workspace, Session: "s", Call: "c", Time: 1})
	if err != nil || before.Result != engine.CheckpointTaken || before.Facts.ID == "" || before.Facts.Files != 1 {
		t.Fatalf("%+v, %v", before, err)
	}
	again, err := taker.Checkpoint(context.Background(), act.CheckpointOf{Policy: bounded(), Workspace: workspace, Session: "s", Call: "d", Time: 2})
	if err != nil || again.Result != engine.CheckpointUnchanged || again.Facts.ID != before.Facts.ID {
		t.Fatalf("%+v, %v", again, err)
	}
	write(t, file, "two, and longer")
	after, err := taker.Checkpoint(context.Background(), act.CheckpointOf{Policy: bounded(), Workspace: workspace, After: true, Own: true, Time: 3})
	if err != nil || len(after.Changes) != 1 || !strings.HasSuffix(after.Changes[0].Path, "/shop/a.txt") || after.Facts.By != string(checkpoint.BySession) {
		t.Fatalf("%+v, %v", after, err)
	}
}

// There is nothing to store of a folder that does not exist.
func TestNoWorkspace(t *testing.T) {
	taker, workspace := taker(t)
	got, err := taker.Checkpoint(context.Background(), act.CheckpointOf{Policy: bounded(), Workspace: workspace + "/gone"})
	if err != nil || got.Result != engine.CheckpointNothing || got.Facts.ID != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Files with credentials are stored encrypted.
func TestSealed(t *testing.T) {
	taker, workspace := taker(t)
	write(t, filepath.Join(workspace, ".env"), "A=b")
	write(t, filepath.Join(workspace, "a.txt"), "A=b")
	p := bounded()
	p.Rows = bundles.BuiltInRows()
	if _, err := taker.Checkpoint(context.Background(), act.CheckpointOf{Policy: p, Workspace: workspace}); err != nil {
		t.Fatal(err)
	}
	store, err := taker.open(context.Background(), workspace, p)
	if err != nil {
		t.Fatal(err)
	}
	list, err := store.List()
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	entries, err := store.Entries(list[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Sealed != (e.Path == ".env") {
			t.Errorf("%s: sealed %v", e.Path, e.Sealed)
		}
	}
}

// A path through a link is followed by what it leads to.
func TestRelative(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "a.txt"), "a")
	if err := os.Symlink("a.txt", filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	outside := filepath.Join(filepath.Dir(root), "other", "b.txt")
	got := relative(root, root, []string{filepath.Join(root, "link"), "new/c.txt", outside, root})
	want := []string{"link", "a.txt", "new/c.txt", filepath.ToSlash(outside)}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
