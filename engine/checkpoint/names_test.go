package checkpoint

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// folding is a file system that treats upper and lower case alike. Only what looks names up
// is replaced: names are written as they are given.
func folding() system {
	return system{folds: func(string) bool { return true }, lstat: func(root *os.Root, name string) (fs.FileInfo, error) {
		at := "."
		for _, part := range strings.Split(filepath.ToSlash(name), "/") {
			names, _ := fs.ReadDir(root.FS(), at)
			found := part
			for _, other := range names {
				if strings.EqualFold(other.Name(), part) {
					found = other.Name()
				}
			}
			at = path.Join(at, found)
		}
		return root.Lstat(filepath.FromSlash(at))
	}}
}

func TestCollision(t *testing.T) {
	list := []Change{{Path: "a/B", After: &Entry{}}, {Path: "a/c", After: &Entry{}}, {Path: "A/b", After: &Entry{}}}
	if a, b := collision(list, nil); a != "a/B" || b != "A/b" {
		t.Errorf("%q, %q", a, b)
	}
	if a, _ := collision(list[:2], nil); a != "" {
		t.Errorf("%q", a)
	}
	now := tree{"A": {{Entry: Entry{Path: "A/b"}, name: "b"}}}
	if a, b := collision(list[:2], now); a != "A/b" || b != "a/B" {
		t.Errorf("%q, %q", a, b)
	}
	if a, _ := collision(append(list[:2:2], Change{Path: "A/b"}), now); a != "" {
		t.Errorf("%q, which is deleted", a)
	}
}

// Two files of a checkpoint that the file system cannot tell apart are named, and neither is
// overwritten.
func TestCollisionInARestore(t *testing.T) {
	w := newWorkspace(t, map[string]string{"A.txt": "large", "a.txt": "small"})
	if len(w.snapshot()) < 3 {
		t.Skip("this file system cannot hold both")
	}
	first := w.take(ByOthers)
	for name, left := range map[string]string{"both are gone": "", "one is there": "A.txt", "one was changed": "a.txt"} {
		w.must(os.RemoveAll(w.path("A.txt")))
		w.must(os.RemoveAll(w.path("a.txt")))
		if left != "" {
			w.write(left, "large")
		}
		w.take(BySession)
		before := w.snapshot()
		w.store.system = folding()
		_, err := w.store.Restore(context.Background(), RestoreRequest{To: first.ID, Session: "s1", Time: 2})
		if err == nil || !strings.Contains(err.Error(), "A.txt and a.txt are one file on this file system") {
			t.Errorf("%s: %v", name, err)
		}
		w.same(before)
		w.store.system = localSystem()
	}
	w.restore(first.ID)
}

// A file whose name only changed between upper and lower case gets its former name back.
func TestRenamedCase(t *testing.T) {
	w := newWorkspace(t, map[string]string{"src/a.txt": "one", "b.txt": "two"})
	w.store.system = folding()
	first, want := w.take(ByOthers), w.snapshot()
	w.must(os.Rename(w.path("src"), w.path("SRC")))
	w.must(os.Rename(w.path("SRC/a.txt"), w.path("SRC/A.txt")))
	w.must(os.Rename(w.path("b.txt"), w.path("B.TXT")))
	w.take(BySession)
	w.restore(first.ID)
	w.same(want)
}

// A call that names a file with other upper and lower case letters changes the file that
// the folder lists.
func TestNamedInAnotherCase(t *testing.T) {
	w := newWorkspace(t, map[string]string{"Src/A.txt": "one"})
	w.store.system = folding()
	w.take(ByOthers)
	w.write("Src/A.txt", "two")
	taken, err := w.store.Take(context.Background(), Request{First: []string{"src/a.TXT"}, Only: true, By: BySession})
	w.must(err)
	if len(taken.Changes) != 1 || taken.Changes[0].Path != "Src/A.txt" {
		t.Errorf("%+v", taken.Changes)
	}
}
