package classify

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// mkdir -p makes the folders above its target too, as far as they are missing.
func TestFoldersAboveAreMade(t *testing.T) {
	w := diskWorld(map[string]string{"/srv/shop/src/a.go": "x", "/tmp/keep": "x"}, nil)
	for command, want := range map[string][]string{
		"mkdir -p lib/a/b":         {"create ./lib", "create ./lib/a", "create ./lib/a/b"},
		"mkdir --parents src/new":  {"create ./src/new"},
		"mkdir lib/a":              {"create ./lib/a"},
		"mkdir -p src":             {"create ./src"},
		"mkdir -p lib/a lib/b":     {"create ./lib", "create ./lib/a", "create ./lib/b"},
		"touch lib/a":              {"create ./lib/a"},
		"mkdir -p /tmp/x/y":        {"create /tmp/x", "create /tmp/x/y"},
		"mkdir -p src/../lib/deep": {"create ./lib", "create ./lib/deep"},
	} {
		got := changesOf(filesAction(t, w, command))
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// A world says itself which files are one; the workspace is recognised by its
// other name.
func TestSameByTheWorld(t *testing.T) {
	w := diskWorld(map[string]string{"/srv/shop/a": "x", "/srv/Shop/a": "x", "/srv/other/a": "x"}, nil)
	w.Same = func(a, b fs.FileInfo) bool {
		return a.Name() == "shop" && b.Name() == "Shop" || a.Name() == "Shop" && b.Name() == "shop"
	}
	for command, want := range map[string]engine.Location{"rm -r /srv/Shop": engine.LocationSelf, "rm -r /srv/Shop/a": engine.LocationInside, "rm -r /srv/other": engine.LocationOutside} {
		if got := filesAction(t, w, command).Effects[0].Location; got != want {
			t.Errorf("%s is %s, want %s", command, got, want)
		}
	}
}
