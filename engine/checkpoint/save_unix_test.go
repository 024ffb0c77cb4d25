//go:build unix

package checkpoint

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
)

// of returns a request for a save with generous bounds.
func saveOf(targets ...Target) *Save {
	return &Save{Targets: targets, MaxFiles: 50, MaxBytes: 4 << 20, DayFiles: 100, DayBytes: 8 << 20, Until: 99}
}

func (w *workspace) save(s *Save) *Taken {
	w.Helper()
	taken, err := w.store.Take(context.Background(), Request{When: BeforeCall, By: ByOthers, Session: "s1", Call: "c1", Time: 1, Save: s})
	w.must(err)
	return taken
}

// What is saved comes back, also where bounds of checkpoints leave it out.
func TestSave(t *testing.T) {
	large := strings.Repeat("x", 2<<20) // more than a checkpoint stores of one file
	for name, c := range map[string]struct {
		target  Target
		files   int
		destroy func(w *workspace)
	}{
		"a file":                        {Target{Path: "notes.md"}, 1, func(w *workspace) { w.must(os.Remove(w.path("notes.md"))) }},
		"a file that is overwritten":    {Target{Path: "notes.md"}, 1, func(w *workspace) { w.write("notes.md", "lost") }},
		"a large file":                  {Target{Path: "large.bin"}, 1, func(w *workspace) { w.must(os.Remove(w.path("large.bin"))) }},
		"a large file that git ignores": {Target{Path: "ignored/large.bin"}, 1, func(w *workspace) { w.must(os.RemoveAll(w.path("ignored"))) }},
		"a folder":                      {Target{Path: "data", Below: true}, 4, func(w *workspace) { w.must(os.RemoveAll(w.path("data"))) }},
		"a folder with the name of a generated one": {Target{Path: "node_modules", Below: true}, 2, func(w *workspace) {
			w.must(os.RemoveAll(w.path("node_modules")))
		}},
		"what a pattern matches": {Target{Path: "data", Pattern: "*.csv"}, 1, func(w *workspace) { w.must(os.Remove(w.path("data/a.csv"))) }},
		"what a pattern matches anywhere": {Target{Pattern: "**/*.csv"}, 2, func(w *workspace) {
			w.must(os.Remove(w.path("data/a.csv")))
			w.must(os.Remove(w.path("data/more/b.csv")))
		}},
		"folders that a pattern matches": {Target{Pattern: "dat*", Below: true}, 4, func(w *workspace) { w.must(os.RemoveAll(w.path("data"))) }},
		"changes that git would discard": {Target{Below: true, Unignored: true}, 0, func(w *workspace) {
			w.write("notes.md", "as committed")
			w.must(os.RemoveAll(w.path("data")))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t, map[string]string{
				".gitignore": "ignored/\nnode_modules/\nlarge.bin\n", ".git/HEAD": "ref: refs/heads/main\n",
				"notes.md": "by hand", "data/a.csv": "1,2", "data/more/b.csv": "3", "data/.hidden": "h", "large.bin": large,
				"ignored/large.bin": large, "node_modules/x/index.js": "edited by hand", "node_modules/y.js": "y",
			})
			w.must(os.Symlink("a.csv", w.path("data/link")))
			w.must(os.Chmod(w.path("data/a.csv"), 0o750))
			w.take(ByOthers)
			before := w.snapshot()
			taken := w.save(saveOf(c.target))
			if taken.Unsaved != "" || taken.Save == nil || taken.Save.Files != c.files || taken.Save.Until != 99 || !taken.New {
				t.Fatalf("%+v, %q", taken.Save, taken.Unsaved)
			}
			c.destroy(w)
			w.take(BySession)
			if kept := w.restore(taken.ID).Kept; len(kept) > 0 {
				t.Errorf("not restored: %+v", kept)
			}
			w.same(before)
		})
	}
}

// A save is whole or is none, and says why. The checkpoint is taken anyway.
func TestNotSaved(t *testing.T) {
	for name, c := range map[string]struct {
		save *Save
		want string
	}{
		"nothing there":            {saveOf(Target{Path: "no.md"}), "no.md was not found"},
		"nothing that matches":     {saveOf(Target{Path: "data", Pattern: "*.md"}), "nothing of that name"},
		"too many files":           {&Save{Targets: []Target{{Path: "data", Below: true}}, MaxFiles: 1, MaxBytes: 1 << 20, DayFiles: 9, DayBytes: 1 << 20}, "the number of files is 2"},
		"too many bytes":           {&Save{Targets: []Target{{Path: "data", Below: true}}, MaxFiles: 9, MaxBytes: 1, DayFiles: 9, DayBytes: 1 << 20}, "their size in bytes"},
		"the last 24 hours":        {&Save{Targets: []Target{{Path: "data", Below: true}}, MaxFiles: 9, MaxBytes: 1 << 20, DayFiles: 2, DayBytes: 1 << 20}, "24 hours"},
		"a pipe":                   {saveOf(Target{Path: "pipe"}), "not a file"},
		"a folder with a pipe":     {saveOf(Target{Path: "pipes", Below: true}), "not a file"},
		"a repository in a folder": {saveOf(Target{Path: "clone", Below: true}), "git repository"},
		"one of two":               {saveOf(Target{Path: "data/a"}, Target{Path: "no.md"}), "no.md"},
		"more than git discards":   {saveOf(Target{Below: true, Unignored: true}), "larger than the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t, map[string]string{"data/a": "1", "data/b": "2", "pipes/a": "3", "clone/.git/HEAD": "ref", "clone/a": "4"})
			for _, pipe := range []string{"pipe", "pipes/pipe"} {
				w.must(syscall.Mkfifo(w.path(pipe), 0o600))
			}
			if first := w.save(saveOf(Target{Path: "data/a"})); first.Unsaved != "" {
				t.Fatal(first.Unsaved)
			}
			if c.save.Targets[0].Unignored {
				w.write("data/large", strings.Repeat("x", 2<<20))
			}
			if taken := w.save(c.save); !strings.Contains(taken.Unsaved, c.want) || taken.ID == "" {
				t.Errorf("%q, want %q", taken.Unsaved, c.want)
			}
		})
	}
}

// Contents that are stored already need no more room, and count anyway.
func TestSavedTwice(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1"})
	first, second := w.save(saveOf(Target{Path: "a"})), w.save(saveOf(Target{Path: "a"}))
	if !second.New || second.Stored != 0 || second.Save.Files != 1 || first.ID == second.ID {
		t.Errorf("%+v after %+v", second.Checkpoint, first.Checkpoint)
	}
}

// A folder whose contents belong to the state keeps them when the call did not run after all.
func TestSavedAndStillThere(t *testing.T) {
	w := newWorkspace(t, map[string]string{".gitignore": "node_modules/\n", ".git/HEAD": "ref: refs/heads/main\n", "node_modules/a.js": "1"})
	taken := w.save(saveOf(Target{Path: "node_modules", Below: true}))
	before := w.snapshot()
	w.take(BySession)
	w.write("node_modules/a.js", "changed")
	w.take(BySession)
	w.restore(taken.ID)
	w.same(before)
}

// A large file that was changed in place comes back, although bounds leave it out now.
func TestSavedLargeFileIsRestored(t *testing.T) {
	w := newWorkspace(t, map[string]string{"large.bin": strings.Repeat("x", 2<<20)})
	before := w.snapshot()
	taken := w.save(saveOf(Target{Path: "large.bin"}))
	w.write("large.bin", strings.Repeat("y", 2<<20))
	w.take(BySession)
	if kept := w.restore(taken.ID).Kept; len(kept) > 0 {
		t.Errorf("not restored: %+v", kept)
	}
	w.same(before)
}

// A file outside the workspace that nobody looked at before a call is not deleted by a restore: it may have been there.
func TestUnseenOutsideStays(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a": "1"})
	dir, seen := elsewhere(t, w)
	seen.write("unseen.txt", "of somebody")
	first := w.take(ByOthers)
	w.write("a", "2")
	if _, err := w.store.Take(context.Background(), Request{When: AfterCall, By: BySession, Session: "s1", Call: "c1", Time: 1,
		First: []string{dir + "/unseen.txt"}}); err != nil {
		t.Fatal(err)
	}
	r := w.restore(first.ID)
	if b, err := os.ReadFile(dir + "/unseen.txt"); err != nil || string(b) != "of somebody" {
		t.Errorf("%q, %v; restored %+v", b, err, r.Changes)
	}
	if len(r.Kept) != 1 || !strings.Contains(r.Kept[0].Why, "nobody looked") {
		t.Errorf("%+v", r.Kept)
	}
}
