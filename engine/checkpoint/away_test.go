package checkpoint

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// elsewhere returns a folder outside the workspace, and a workspace that describes it.
func elsewhere(t *testing.T, w *workspace) (dir string, seen *workspace) {
	t.Helper()
	real, err := filepath.EvalSymlinks(t.TempDir())
	w.must(err)
	seen = &workspace{T: t, root: filepath.Join(real, "data")}
	for name, text := range map[string]string{"a.txt": "one", "sub/deep/b.txt": "two", "sub/c.sh": "three", "empty/": "", "key.env": "K=1"} {
		seen.write(name, text)
	}
	w.must(os.Chmod(seen.path("sub/c.sh"), 0o750))
	w.must(os.Chmod(seen.path("sub/deep"), 0o700))
	return filepath.ToSlash(seen.root), seen
}

// Folders outside the workspace that a command deletes are stored with what they
// contain, and come back; so does what an undo of that deletes again.
func TestFolderOutside(t *testing.T) {
	w := newWorkspace(t, map[string]string{"x": "1"})
	dir, seen := elsewhere(t, w)
	want := seen.snapshot()
	first, err := w.store.Take(context.Background(), Request{First: []string{dir}, Within: []string{dir}, Session: "s1"})
	w.must(err)
	if first.LeftAll > 0 || first.Files != 5 {
		t.Fatalf("%+v", first)
	}
	w.must(os.RemoveAll(dir))
	if after := w.take(BySession); len(after.Changes) != 8 {
		t.Errorf("%d changes", len(after.Changes))
	}
	done := w.restore(first.ID)
	seen.same(want)
	w.restore(done.Undo)
	if _, err := os.Lstat(dir); err == nil {
		t.Error("the undo did not delete the folder again")
	}
	w.must(os.Remove(filepath.Join(w.store.dir, "index")))
	w.restore(first.ID)
	seen.same(want)
}

// What changed under such a folder is seen, also if no call names it.
func TestChangesBelowAFolderOutside(t *testing.T) {
	w := newWorkspace(t, nil)
	dir, seen := elsewhere(t, w)
	want := seen.snapshot()
	first, err := w.store.Take(context.Background(), Request{Within: []string{dir}, Session: "s1"})
	w.must(err)
	seen.write("a.txt", "other")
	seen.write("new/file", "x")
	w.must(os.Remove(seen.path("sub/c.sh")))
	w.must(os.RemoveAll(seen.path("sub/deep")))
	seen.write("sub/deep", "a file")
	w.take(BySession)
	w.restore(first.ID)
	seen.same(want)
}

// The bounds apply outside the workspace, too, and what they leave out is named.
func TestBoundsOutside(t *testing.T) {
	w := newWorkspace(t, nil)
	dir, seen := elsewhere(t, w)
	seen.write("large", strings.Repeat("x", 5000))
	seen.write(".git/config", "x")
	b := testBounds()
	b.MaxFileBytes = 1000
	w.open(t.TempDir(), b)
	first, err := w.store.Take(context.Background(), Request{Within: []string{dir}, Session: "s1"})
	w.must(err)
	if len(first.Left) != 2 || first.Left[0] != (Left{Path: dir + "/.git", Why: whyGit}) || first.Left[1] != (Left{dir + "/large", whyTooBig, 5000}) {
		t.Fatalf("%+v", first.Left)
	}
	w.must(os.RemoveAll(dir))
	w.take(BySession)
	done := w.restore(first.ID)
	if len(done.Kept) != 2 || !strings.Contains(done.Kept[1].Why, whyTooBig) {
		t.Errorf("%+v", done.Kept)
	}
}

// A folder outside the workspace that was replaced by a link is not followed.
func TestLinkOutside(t *testing.T) {
	w := newWorkspace(t, nil)
	dir, seen := elsewhere(t, w)
	want := seen.snapshot()
	first, err := w.store.Take(context.Background(), Request{Within: []string{dir}, Session: "s1"})
	w.must(err)
	victim := filepath.Join(t.TempDir(), "victim")
	w.must(os.Rename(dir, victim))
	(&workspace{T: t, root: victim}).write("a.txt", "of the victim")
	if err := os.Symlink(victim, dir); err != nil {
		t.Skip(err)
	}
	w.take(BySession)
	w.restore(first.ID)
	seen.same(want)
	if b, err := os.ReadFile(filepath.Join(victim, "a.txt")); err != nil || string(b) != "of the victim" {
		t.Errorf("%s, %v", b, err)
	}
}

// Of a workspace that is too large to look at as a whole, a folder that is deleted is stored.
func TestFolderOfATargetedWorkspace(t *testing.T) {
	w := newWorkspace(t, map[string]string{"src/a": "1", "src/b/c": "2", "x": "3"})
	b := testBounds()
	b.Targeted = true
	w.open(t.TempDir(), b)
	r := Request{First: []string{"src"}, Within: []string{"src"}, Session: "s1", By: BySession}
	first, err := w.store.Take(context.Background(), r)
	w.must(err)
	want := w.snapshot()
	w.must(os.RemoveAll(w.path("src")))
	_, err = w.store.Take(context.Background(), r)
	w.must(err)
	w.restore(first.ID)
	w.same(want)
}
