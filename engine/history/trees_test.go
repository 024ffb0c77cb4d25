package history

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

func TestTreesOfTheSession(t *testing.T) {
	long := "/srv/" + strings.Repeat("long/", 30) + "tree"
	h := New()
	h.addTree(truncateKey("/srv/fix"))
	h.addTree(truncateKey(long))
	h.addTree("")
	for _, c := range []struct {
		short     string
		certainty engine.Certainty
		host      string
		want      engine.Location
	}{
		{"/srv/fix/a.go", engine.CertaintyExact, "", engine.LocationWorktree},
		{long + "/a/b.go", engine.CertaintyExact, "", engine.LocationWorktree},
		{"/srv/fix/a/*.go", engine.CertaintyGlob, "", engine.LocationWorktree},
		{"/srv/fix/*", engine.CertaintyGlob, "", engine.LocationOutside},
		{"/srv/fix", engine.CertaintyExact, "", engine.LocationOutside},
		{"/srv/fixes/a.go", engine.CertaintyExact, "", engine.LocationOutside},
		{"/srv/fix/a?", engine.CertaintyPrefix, "", engine.LocationOutside},
		{"/srv/fix/a.go", engine.CertaintyExact, "ssh:web1", engine.LocationOutside},
	} {
		e := &engine.Effect{Short: c.short, Certainty: c.certainty, Host: c.host, Location: engine.LocationOutside}
		if got := h.location(e); got != c.want {
			t.Errorf("%s %s %s: %s, want %s", c.host, c.short, c.certainty, got, c.want)
		}
	}
	h.dropTree(&engine.Effect{Short: "/srv", Recursive: true, Certainty: engine.CertaintyExact})
	if len(h.Trees) != 0 {
		t.Errorf("%v after all is gone", h.Trees)
	}
	for i := range 2 * maxTrees {
		h.addTree("/srv/" + strings.Repeat("x", i+1))
	}
	if len(h.Trees) != maxTrees {
		t.Errorf("%d trees", len(h.Trees))
	}
}

func TestTreesThatGitMakes(t *testing.T) {
	made := engine.Effect{Kind: engine.EffectFileWrite, Verb: "create", Object: engine.ObjectWorktree, Short: "/srv/fix",
		Certainty: engine.CertaintyExact, Location: engine.LocationWorktree}
	change := func(f func(*engine.Effect)) engine.Effect {
		e := made
		f(&e)
		return e
	}
	for name, c := range map[string]struct {
		e    engine.Effect
		want string
	}{
		"one":                      {made, "/srv/fix"},
		"far away, and it ran":     {change(func(e *engine.Effect) { e.Location = engine.LocationHome }), "/srv/fix"},
		"a folder that is there":   {change(func(e *engine.Effect) { e.Exists = "yes" }), ""},
		"in the system":            {change(func(e *engine.Effect) { e.Location = engine.LocationSystem }), ""},
		"a home":                   {change(func(e *engine.Effect) { e.Location = engine.LocationHomeRoot }), ""},
		"where keys lie":           {change(func(e *engine.Effect) { e.Class = engine.ClassCredential }), ""},
		"elsewhere":                {change(func(e *engine.Effect) { e.Host = "container:a" }), ""},
		"of which the rest varies": {change(func(e *engine.Effect) { e.Certainty = engine.CertaintyPrefix }), ""},
		"a clone":                  {change(func(e *engine.Effect) { e.Object = "" }), ""},
	} {
		if got := madeTree(&engine.Action{Effects: []engine.Effect{c.e}}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestGivenPaths(t *testing.T) {
	h := New()
	h.Workspace = "/srv/shop"
	long := "/srv/" + strings.Repeat("long/", 20) + "blog"
	h.foldGoal(&engine.Goal{Names: []string{"../blog", "~/notes", "docs", "/data", "/data/in/", long}})
	for short, want := range map[string]bool{
		"/srv/blog/a.go": true, "/srv/blog": true, "/srv/blogs": false, "~/notes/a": true, "~/a": false,
		"/srv/docs/a": false, "~/docs/a": false, "/data/x": false, "/data/in/x": true, long + "/a": true,
	} {
		e := engine.Effect{Short: short, Target: strings.Replace(short, "~", "/home/kim", 1), Certainty: engine.CertaintyExact}
		if got := h.Goals.given(&e); got != want {
			t.Errorf("%s: %v", short, got)
		}
	}
}
