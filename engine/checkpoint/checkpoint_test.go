package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// workspace is a folder with a store of checkpoints.
type workspace struct {
	*testing.T
	root  string
	store *Store
}

func testBounds() Bounds {
	return Bounds{MaxFileBytes: 1 << 20, MaxBytes: 1 << 30, MaxFiles: 10000, IgnoredFileBytes: 1 << 16, IgnoredBytes: 1 << 20, IgnoredFiles: 100,
		Generated: []string{"node_modules"}}
}

func newWorkspace(t *testing.T, files map[string]string) *workspace {
	t.Helper()
	root := t.TempDir()
	w := &workspace{T: t, root: root}
	w.open(t.TempDir(), testBounds())
	for name, text := range files {
		w.write(name, text)
	}
	return w
}

func (w *workspace) open(stores string, b Bounds) {
	w.Helper()
	s, err := Open(stores, w.root, Options{Bounds: b, Secret: []byte("a secret of this test, and nothing else"),
		Sealed: func(p string) bool { return strings.HasSuffix(p, ".env") }})
	w.must(err)
	w.store = s
}

func (w *workspace) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *workspace) path(name string) string { return filepath.Join(w.root, filepath.FromSlash(name)) }

// write writes a file; a name that ends in / is a folder.
func (w *workspace) write(name, text string) {
	w.Helper()
	if strings.HasSuffix(name, "/") {
		w.must(os.MkdirAll(w.path(name), 0o755))
		return
	}
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	w.must(os.WriteFile(w.path(name), []byte(text), 0o644))
}

func (w *workspace) take(by By) *Taken {
	w.Helper()
	taken, err := w.store.Take(context.Background(), Request{When: BeforeCall, By: by, Session: "s1", Call: "c1", Time: 1})
	w.must(err)
	return taken
}

func (w *workspace) restore(to string) *Restored {
	w.Helper()
	r, err := w.store.Restore(context.Background(), RestoreRequest{To: to, Session: "s1", Time: 2})
	w.must(err)
	return r
}

// snapshot describes everything in the workspace that a restore brings back.
func (w *workspace) snapshot() []string {
	w.Helper()
	var list []string
	inodes := map[osfile.ID]string{}
	err := filepath.WalkDir(w.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		rel, _ := filepath.Rel(w.root, name)
		info, err := os.Lstat(name)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%q %s", rel, info.Mode())
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", b)
			if id, ok := osfile.IdentifyInfo(info); ok && osfile.Links(info) > 1 {
				if inodes[id] == "" {
					inodes[id] = rel
				}
				line += " link of " + inodes[id]
			}
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			if err != nil {
				return err
			}
			line += " -> " + to
		}
		list = append(list, line)
		return nil
	})
	w.must(err)
	return list
}

func (w *workspace) same(want []string) {
	w.Helper()
	got := w.snapshot()
	for _, line := range got {
		if !slices.Contains(want, line) {
			w.Errorf("after the restore: %.200s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			w.Errorf("not restored: %.200s", line)
		}
	}
}

func TestRestore(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.txt": "one\n", "dir/b.txt": "two\n", "empty/": "", "run.sh": "#!/bin/sh\n", "key.env": "TOKEN=x\n"})
	w.must(os.Chmod(w.path("run.sh"), 0o755))
	if runtime.GOOS != "windows" {
		w.must(os.Symlink("a.txt", w.path("link")))
		w.must(os.Link(w.path("a.txt"), w.path("twin")))
	}
	want := w.snapshot()
	first := w.take(ByOthers)
	if !first.New || first.N != 1 || first.LeftAll != 0 {
		t.Fatalf("first checkpoint: %+v", first)
	}
	w.write("a.txt", "changed\n")
	w.must(os.RemoveAll(w.path("dir")))
	w.must(os.Remove(w.path("empty")))
	w.write("empty", "now a file\n")
	w.write("new/deep/c.txt", "three\n")
	w.must(os.Chmod(w.path("run.sh"), 0o600))
	changed := w.snapshot()
	after := w.take(BySession)
	if got := len(after.Changes); got < 7 {
		t.Errorf("%d changes: %+v", got, after.Changes)
	}
	r := w.restore(first.ID)
	w.same(want)
	if again := w.restore(first.ID); len(again.Changes) != 0 {
		t.Errorf("a second restore changes %d paths: %+v", len(again.Changes), again.Changes[0])
	}
	w.restore(r.Undo)
	w.same(changed)
	if v, err := w.store.Verify(context.Background()); err != nil || len(v.Damage) != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

func TestNothingChanged(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1"})
	first := w.take(ByOthers)
	if again := w.take(ByOthers); again.New || again.ID != first.ID {
		t.Errorf("a checkpoint of nothing: %+v", again)
	}
}

// TestSameSizeAndTime: a change that keeps size and modification time is found.
func TestSameSizeAndTime(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1111"})
	w.take(ByOthers)
	info, err := os.Stat(w.path("a"))
	w.must(err)
	w.write("a", "2222")
	w.must(os.Chtimes(w.path("a"), info.ModTime(), info.ModTime()))
	if taken := w.take(BySession); len(taken.Changes) != 1 {
		t.Errorf("changes: %+v", taken.Changes)
	}
}

func TestConflict(t *testing.T) {
	w := newWorkspace(t, map[string]string{"mine": "1", "shared": "1"})
	first := w.take(ByOthers)
	w.write("mine", "by the agent")
	w.write("shared", "by the agent")
	w.take(BySession)
	w.write("shared", "by a person")
	_, planned := w.store.Plan(context.Background(), RestoreRequest{To: first.ID, Session: "s1"})
	_, err := w.store.Restore(context.Background(), RestoreRequest{To: first.ID, Session: "s1"})
	if planned == nil || err == nil || planned.Error() != err.Error() {
		t.Errorf("planned: %v; restored: %v", planned, err)
	}
	var conflict *ConflictError
	if !errors.As(err, &conflict) || !slices.Equal(conflict.Paths, []string{"shared"}) {
		t.Fatalf("error: %v", err)
	}
	if b, _ := os.ReadFile(w.path("mine")); string(b) != "by the agent" {
		t.Errorf("a refused restore changed a file to %q", b)
	}
	if _, err := w.store.Restore(context.Background(), RestoreRequest{To: first.ID, Session: "s1", Paths: []string{"mine"}}); err != nil {
		t.Errorf("another path: %v", err)
	}
	if _, err := w.store.Restore(context.Background(), RestoreRequest{To: first.ID, Session: "s1", Force: true}); err != nil {
		t.Errorf("with force: %v", err)
	}
	if b, _ := os.ReadFile(w.path("shared")); string(b) != "1" {
		t.Errorf("with force: %q", b)
	}
}

// TestChangesOfARestore: what a restore did is not taken for the change of
// somebody else.
func TestChangesOfARestore(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1"})
	first := w.take(ByOthers)
	w.write("a", "2")
	second := w.take(BySession)
	w.restore(first.ID)
	w.restore(second.ID)
	if b, _ := os.ReadFile(w.path("a")); string(b) != "2" {
		t.Errorf("contents: %q", b)
	}
}

func TestBounds(t *testing.T) {
	big := strings.Repeat("x", 1<<20+1)
	w := newWorkspace(t, map[string]string{"big": big, ".git/HEAD": "ref: refs/heads/main\n", ".gitignore": "/ignored*\nnode_modules/\n",
		"ignored.small": "kept", "ignored.large": strings.Repeat("y", 1<<16+1), "node_modules/x/index.js": "generated", "src/node_modules.txt": "kept"})
	first := w.take(ByOthers)
	var left []string
	for _, l := range first.Left {
		left = append(left, l.Path+": "+l.Why)
	}
	want := []string{"big: " + whyTooBig, "ignored.large: " + whyIgnored, "node_modules: " + whyGenerated}
	if !slices.Equal(left, want) {
		t.Errorf("left out: %q\nwant %q", left, want)
	}
	w.write("big", "small now")
	w.write("ignored.small", "changed")
	w.take(BySession)
	r := w.restore(first.ID)
	if len(r.Kept) != 1 || r.Kept[0].Path != "big" {
		t.Errorf("kept: %+v", r.Kept)
	}
	if b, _ := os.ReadFile(w.path("ignored.small")); string(b) != "kept" {
		t.Errorf("an ignored file: %q", b)
	}
	if len(first.Git) != 1 || first.Git[0].Head != "refs/heads/main" {
		t.Errorf("repositories: %+v", first.Git)
	}
}

func TestFirst(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1", "z": "26"})
	b := testBounds()
	b.MaxFiles = 1
	w.open(t.TempDir(), b)
	taken, err := w.store.Take(context.Background(), Request{First: []string{"z"}})
	w.must(err)
	if len(taken.Left) != 1 || taken.Left[0].Path != "a" {
		t.Errorf("left out: %+v", taken.Left)
	}
}

// TestOutside: a file outside the workspace that a call names is stored too.
func TestOutside(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1"})
	away := filepath.ToSlash(filepath.Join(t.TempDir(), "rc"))
	w.must(os.WriteFile(away, []byte("before"), 0o600))
	first, err := w.store.Take(context.Background(), Request{First: []string{away}})
	w.must(err)
	w.must(os.WriteFile(away, []byte("after"), 0o644))
	w.take(BySession)
	w.restore(first.ID)
	if b, _ := os.ReadFile(away); string(b) != "before" {
		t.Errorf("contents: %q", b)
	}
}

func TestOnly(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1", "b": "1"})
	w.take(ByOthers)
	w.write("a", "2")
	w.write("b", "2")
	taken, err := w.store.Take(context.Background(), Request{First: []string{"a", "new/file"}, Only: true, By: BySession})
	w.must(err)
	if len(taken.Changes) != 1 || taken.Changes[0].Path != "a" {
		t.Errorf("changes: %+v", taken.Changes)
	}
	if rest := w.take(ByOthers); len(rest.Changes) != 1 || rest.Changes[0].Path != "b" {
		t.Errorf("changes of the next: %+v", rest.Changes)
	}
}

// TestTargeted: of a home folder only what is named is stored.
func TestTargeted(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1", "b": "1"})
	b := testBounds()
	b.Targeted = true
	w.open(t.TempDir(), b)
	taken, err := w.store.Take(context.Background(), Request{First: []string{"a"}})
	w.must(err)
	if taken.Files != 1 {
		t.Errorf("%d files", taken.Files)
	}
}

// TestSkip: a folder of reviewer's own in the workspace is not part of it.
func TestSkip(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1", "state/log": "1"})
	s, err := Open(t.TempDir(), w.root, Options{Bounds: testBounds(), Secret: []byte("secret"), Skip: []string{w.path("state")}})
	w.must(err)
	w.store = s
	if taken := w.take(ByOthers); taken.Files != 1 {
		t.Errorf("%d files", taken.Files)
	}
}

func TestSealed(t *testing.T) {
	w := newWorkspace(t, map[string]string{"key.env": "TOKEN=hunter2-hunter2-hunter2\n"})
	first := w.take(ByOthers)
	err := w.store.objects.each(func(id Digest, where string, frame []byte, err error) error {
		if strings.Contains(string(frame), "hunter2") {
			t.Errorf("%s has the secret", where)
		}
		return err
	})
	w.must(err)
	w.write("key.env", "TOKEN=other\n")
	w.take(BySession)
	w.restore(first.ID)
	if b, _ := os.ReadFile(w.path("key.env")); !strings.Contains(string(b), "hunter2") {
		t.Errorf("contents: %q", b)
	}
}

func TestCollect(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1", "keep": "the same all the time"})
	var all []*Taken
	for n := range 5 {
		w.write("a", fmt.Sprint("version ", n))
		all = append(all, w.take(BySession))
	}
	r, err := w.store.Collect(context.Background(), all[3].Checkpoint)
	w.must(err)
	if r.Expired != 3-0 || r.Freed == 0 {
		t.Errorf("collected: %+v", r)
	}
	if v, err := w.store.Verify(context.Background()); err != nil || len(v.Damage) != 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	_, err = w.store.Restore(context.Background(), RestoreRequest{To: all[1].ID, Session: "s1"})
	var expired *Expired
	if !errors.As(err, &expired) {
		t.Errorf("a checkpoint that is gone: %v", err)
	}
	w.restore(all[3].ID)
	if b, _ := os.ReadFile(w.path("a")); string(b) != "version 3" {
		t.Errorf("contents: %q", b)
	}
}
