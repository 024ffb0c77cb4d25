package checkpoint

import (
	"os"
	"strings"
	"testing"
)

// TestRepositoriesWithin: nested repositories, submodules and worktrees are left
// alone, and their files are covered, with the .git file that names a repository elsewhere.
func TestRepositoriesWithin(t *testing.T) {
	w := newWorkspace(t, map[string]string{".git/HEAD": "ref: refs/heads/main\n", "sub/.git": "gitdir: ../.git/modules/sub\n", "sub/a": "1",
		".git/modules/sub/HEAD": "0123\n", "nested/.git/HEAD": "ref: refs/heads/x\n", "nested/.gitignore": "*.o\n", "nested/a.o": "1", "nested/b": "1"})
	first := w.take(ByOthers)
	var dirs []string
	for _, g := range first.Git {
		dirs = append(dirs, g.Dir+" "+g.Head)
	}
	if got := strings.Join(dirs, ", "); got != ". refs/heads/main, nested refs/heads/x, sub 0123" {
		t.Errorf("repositories: %s", got)
	}
	w.write(".git/HEAD", "ref: refs/heads/other\n")
	w.write("sub/a", "2")
	w.write("nested/b", "2")
	w.take(BySession)
	r := w.restore(first.ID)
	if r.Then[0].Head == r.Now[0].Head {
		t.Errorf("the report does not say that HEAD differs: %+v, %+v", r.Then, r.Now)
	}
	for name, want := range map[string]string{".git/HEAD": "ref: refs/heads/other\n", "sub/a": "1", "nested/b": "1"} {
		if b, _ := os.ReadFile(w.path(name)); string(b) != want {
			t.Errorf("%s: %q, want %q", name, b, want)
		}
	}
	for _, name := range []string{"sub", "nested"} {
		if err := os.RemoveAll(w.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	w.take(BySession)
	r = w.restore(first.ID)
	if b, _ := os.ReadFile(w.path("sub/.git")); string(b) != "gitdir: ../.git/modules/sub\n" {
		t.Errorf("sub/.git is %q: git in it would act on the repository around it", b)
	}
	if len(r.Then) != 3 || len(r.Now) != 2 {
		t.Errorf("the report does not say that the nested repository is gone: %+v, %+v", r.Then, r.Now)
	}
}

// TestWorktree: a workspace that is a worktree has its own HEAD and index, and the branches of
// the repository.
func TestWorktree(t *testing.T) {
	main := newWorkspace(t, map[string]string{".git/refs/heads/topic": "abcd\n", ".git/worktrees/w/HEAD": "ref: refs/heads/topic\n",
		".git/worktrees/w/commondir": "../..\n", ".git/worktrees/w/index": "index", ".git/refs/stash": "ef01\n"})
	w := newWorkspace(t, map[string]string{".git": "gitdir: " + main.path(".git/worktrees/w") + "\n", "a": "1"})
	first := w.take(ByOthers)
	if len(first.Git) != 1 || first.Git[0].Index == "" {
		t.Fatalf("%+v", first.Git)
	}
	if g := first.Git[0]; g.Head != "refs/heads/topic" || g.Commit != "abcd" || g.Stash != "ef01" {
		t.Errorf("%+v", first.Git)
	}
	w.write("a", "2")
	w.take(BySession)
	own := &workspace{T: t, root: main.path(".git/worktrees/w")}
	want := own.snapshot()
	w.restore(first.ID)
	own.same(want)
	if b, _ := os.ReadFile(w.path("a")); string(b) != "1" {
		t.Errorf("contents: %q", b)
	}
}
