package place

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// TestUnsaved lets git itself make the repository: what is looked at is what
// git leaves on the disk.
func TestUnsaved(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	reset := abstract.Discard{Changes: true, Staged: true}
	other := abstract.Discard{Changes: true, Staged: true, Untracked: true}
	clean, cleanX := abstract.Discard{Untracked: true}, abstract.Discard{Untracked: true, Ignored: true}
	restore, stash := abstract.Discard{Changes: true}, abstract.Discard{Stash: true}
	for name, c := range map[string]struct {
		do   []string // commands of git, or "write FILE TEXT", "remove FILE"
		at   string
		what abstract.Discard
		want string
	}{
		"as committed":            {nil, ".", other, "clean"},
		"a file of it":            {nil, "d/b", restore, "clean"},
		"changed":                 {[]string{"write a 2"}, ".", reset, "dirty"},
		"changed elsewhere":       {[]string{"write a 2"}, "d", restore, "clean"},
		"a name with that prefix": {[]string{"write d2 2", "add d2", "commit -qm y", "write d2 3"}, "d", restore, "clean"},
		"staged":                  {[]string{"write a 2", "add a"}, ".", reset, ""},
		"staged, of the index":    {[]string{"write a 2", "add a"}, "a", restore, "clean"},
		"staged and written":      {[]string{"write a 2", "add a", "write-tree"}, ".", reset, "dirty"},
		"committed again":         {[]string{"write a 2", "add a", "commit -qm y"}, ".", reset, "clean"},
		"saved":                   {[]string{"write a 2", "stash -q"}, ".", reset, "clean"},
		"missing":                 {[]string{"remove a"}, ".", reset, "clean"},
		"untracked, of a reset":   {[]string{"write n 1"}, ".", reset, "clean"},
		"untracked, in the way":   {[]string{"write n 1"}, ".", other, "untracked"},
		"untracked, and changes":  {[]string{"write n 1", "write a 2"}, ".", clean, "untracked"},
		"untracked elsewhere":     {[]string{"write n 1"}, "d", clean, "clean"},
		"untracked, by its name":  {[]string{"write n 1"}, "n", clean, "untracked"},
		"ignored, by its name":    {[]string{"write x.tmp 1"}, "x.tmp", cleanX, "ignored"},
		"tracked, by its name":    {nil, "a", clean, "clean"},
		"nothing by that name":    {nil, "n", clean, "clean"},
		"a folder":                {[]string{"write e/f 1"}, ".", clean, "untracked"},
		"a repository in it":      {[]string{"init -q sub"}, ".", clean, "untracked"},
		"ignored":                 {[]string{"write x.tmp 1"}, ".", clean, "clean"},
		"ignored, too":            {[]string{"write x.tmp 1"}, ".", cleanX, "ignored"},
		"nothing stashed":         {nil, ".", stash, "clean"},
		"stashed":                 {[]string{"write a 2", "stash -q"}, ".", stash, "dirty"},
		"stashed and packed":      {[]string{"write a 2", "stash -q", "pack-refs --all"}, ".", stash, "dirty"},
		"all in a pack":           {[]string{"gc -q"}, ".", reset, "clean"},
		"no branch":               {[]string{"checkout -q --detach"}, ".", reset, "clean"},
		"a damaged HEAD":          {[]string{"write .git/HEAD nonsense"}, ".", reset, ""},
		"git's own":               {nil, ".git/hooks", restore, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{".gitignore": "*.tmp\n", "a": "1", "d/b": "2"})
			g := gitIn{t, root}
			g.run("init -q", "add -A", "commit -qm x")
			g.run(c.do...)
			if got := LocalWorld("", "", nil).Unsaved(filepath.Clean(filepath.Join(root, c.at)), c.what); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if got := LocalWorld("", "", nil).Unsaved(t.TempDir(), reset); got != "" {
		t.Errorf("no repository: %q", got)
	}
}

func TestUnsavedElsewhere(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	root := tree(t, map[string]string{"main/a": "1"})
	g := gitIn{t, filepath.Join(root, "main")}
	g.run("init -q", "add -A", "commit -qm x", "worktree add -q ../wt", "clone -q . ../copy")
	for _, dir := range []string{"wt", "copy"} {
		at := filepath.Join(root, dir)
		if got := LocalWorld("", "", nil).Unsaved(at, abstract.Discard{Changes: true, Staged: true}); got != "clean" {
			t.Errorf("%s: %q, want clean", dir, got)
		}
		gitIn{t, at}.run("write a 2")
		if got := LocalWorld("", "", nil).Unsaved(at, abstract.Discard{Changes: true, Staged: true}); got != "dirty" {
			t.Errorf("%s, changed: %q, want dirty", dir, got)
		}
	}
}

// gitIn runs git in a folder, with no settings but its own.
type gitIn struct {
	t   *testing.T
	dir string
}

func (g gitIn) run(lines ...string) {
	g.t.Helper()
	for _, line := range lines {
		words := strings.Fields(line)
		switch words[0] {
		case "write":
			name := filepath.Join(g.dir, words[1])
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				g.t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(words[2]), 0o644); err != nil {
				g.t.Fatal(err)
			}
			continue
		case "remove":
			if err := os.Remove(filepath.Join(g.dir, words[1])); err != nil {
				g.t.Fatal(err)
			}
			continue
		}
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, words...)...)
		cmd.Dir = g.dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+g.dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			g.t.Fatalf("git %s: %v\n%s", line, err, out)
		}
	}
}
