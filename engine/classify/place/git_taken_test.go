package place

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// TestTaken lets git itself make the repository, and lists what version control would take.
func TestTaken(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	add, force := abstract.Taken{New: true}, abstract.Taken{New: true, Ignored: true}
	for name, c := range map[string]struct {
		do   []string
		at   string
		what abstract.Taken
		want string // names and contents
	}{
		"as committed":               {nil, ".", add, ""},
		"a changed file":             {[]string{"write a 2"}, ".", abstract.Taken{}, "a=2"},
		"a new file":                 {[]string{"write n 3"}, ".", add, "n=3"},
		"a new file in a folder":     {[]string{"write e/f/n 3"}, "e", add, "e/f/n=3"},
		"a new file, commit -a":      {[]string{"write n 3"}, ".", abstract.Taken{}, ""},
		"an ignored file":            {[]string{"write x.tmp 3"}, ".", add, ""},
		"an ignored file, by force":  {[]string{"write x.tmp 3"}, "x.tmp", force, "x.tmp=3"},
		"in an ignored folder":       {[]string{"write out/n 3"}, ".", add, ""},
		"another folder has changed": {[]string{"write d/b 3"}, "a", add, ""},
		"binary":                     {[]string{"write n \x00"}, ".", add, ""},
		"staged, and changed since":  {[]string{"write n 3", "add n", "write n 4"}, ".", abstract.Taken{Staged: true}, "n=3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, map[string]string{".gitignore": "*.tmp\nout/\n", "a": "1", "d/b": "2"})
			g := gitIn{t, root}
			g.run("init -q", "add -A", "commit -qm x")
			g.run(c.do...)
			c.what.Path = abstract.Value{Text: filepath.Join(root, c.at)}
			var got []string
			for _, file := range NewResolver(LocalWorld("", "", nil), root, nil).Taken([]abstract.Taken{c.what}) {
				rel, err := filepath.Rel(root, file.Path)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, filepath.ToSlash(rel)+"="+file.Text)
			}
			if c.what.Staged { // files of the same second as the commit are read too
				got = slices.DeleteFunc(got, func(s string) bool { return !strings.HasPrefix(s, "n") })
			}
			if list := strings.Join(got, " "); list != c.want {
				t.Errorf("%q, want %q", list, c.want)
			}
		})
	}
}
