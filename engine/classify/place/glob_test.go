package place

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// A pattern that no name on the way matches does not mean a path.
func TestMayMatch(t *testing.T) {
	for short, want := range map[string]bool{
		"/opt/**/shop-*": false, "/opt/*.pyc": false,
		"/opt/**/guard": true, "/opt/gu*": true, "/opt/**/G?ARD": true, "/opt/*": true, "/opt/[f-h]*": true, "/opt/**/key*": true, "/opt/**": true,
	} {
		e := engine.Effect{Target: "/opt", Short: short, Certainty: engine.CertaintyGlob}
		if got := mayMatch(&e, "/opt/guard/keys"); got != want {
			t.Errorf("%s: got %v, want %v", short, got, want)
		}
	}
	if e := (engine.Effect{Target: "/opt", Short: "/opt", Certainty: engine.CertaintyExact}); !mayMatch(&e, "/opt/guard/keys") {
		t.Error("a directory by its name does not hold what is in it")
	}
}

// A search in all folders reads a limited number of them, and neither the repository's own
// folder nor what a tool generates again.
func TestBelow(t *testing.T) {
	shop := filepath.ToSlash(t.TempDir())
	for _, name := range []string{"a/b/shop.DB", "c.db", ".git/x.db", "node_modules/p/y.db", ".cfg/z.db", "notes.txt"} {
		writeFile(t, filepath.Join(shop, name))
	}
	world := LocalWorld(shop, "", nil)
	var read []string
	world.ReadDir = func(name string, limit int) ([]fs.DirEntry, error) {
		read = append(read, strings.TrimPrefix(strings.TrimPrefix(name, shop), "/"))
		return readNames(name, limit)
	}
	r := NewResolver(world, shop, classifytest.Rows())
	got := r.below(shop, "*.db")
	slices.Sort(got)
	if want := []string{shop + "/.cfg/z.db", shop + "/a/b/shop.DB", shop + "/c.db"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	slices.Sort(read)
	if want := []string{"", ".cfg", "a", "a/b"}; !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
	}
	for i := range maxFolders + 10 {
		writeFile(t, filepath.Join(shop, "many", strconv.Itoa(i), "n.txt"))
	}
	read = nil
	if r.below(shop, "n.txt"); len(read) != maxFolders {
		t.Errorf("read %d folders, want %d", len(read), maxFolders)
	}
	world.ReadDir = nil
	if got := NewResolver(world, shop, classifytest.Rows()).below(shop, "*.db"); got != nil {
		t.Errorf("without a disk: %q", got)
	}
}

func writeFile(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
}
