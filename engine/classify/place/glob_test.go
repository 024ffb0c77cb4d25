package place

import (
	"io/fs"
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
func TestSearch(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"a/b/shop.DB", "c.db", ".git/x.db", "node_modules/p/y.db", ".cfg/z.db", "notes.txt"} {
		files["shop/"+name] = ""
	}
	for i := range maxFolders + 10 {
		files["many/"+strconv.Itoa(i)+"/n.txt"] = ""
	}
	for i := range maxWalk {
		files["wide/"+strconv.Itoa(i)] = ""
	}
	files["wide/folder/n.txt"] = ""
	root := filepath.ToSlash(tree(t, files))
	world := LocalWorld(root, "", nil)
	var read []string
	world.ReadDir = func(name string, limit int) ([]fs.DirEntry, error) {
		read = append(read, strings.TrimPrefix(name, root+"/"))
		return readNames(name, limit)
	}
	r := NewResolver(world, root, classifytest.Rows())
	got := r.search(root+"/shop", "*.db")
	slices.Sort(got)
	if want := []string{root + "/shop/.cfg/z.db", root + "/shop/a/b/shop.DB", root + "/shop/c.db"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	slices.Sort(read)
	if want := []string{"shop", "shop/.cfg", "shop/a", "shop/a/b"}; !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
	}
	for dir, want := range map[string]int{"many": maxFolders, "wide": 1} {
		read = nil
		if r.search(root+"/"+dir, "n.txt"); len(read) != want {
			t.Errorf("%s: read %d folders, want %d", dir, len(read), want)
		}
	}
	world.ReadDir = nil
	if got := NewResolver(world, root, classifytest.Rows()).search(root+"/shop", "*.db"); got != nil {
		t.Errorf("without a disk: %q", got)
	}
}
