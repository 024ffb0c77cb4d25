package history

import (
	"fmt"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

var (
	labContainer = engine.Made{Object: engine.MadeContainer, Name: "lab", Image: "postgres", Bare: true}
	labDatabase  = engine.Made{Object: engine.MadeDatabase, Name: "postgres:///lab", Server: "5433"}
)

func onContainer(verb, name string) *engine.Action {
	return &engine.Action{Commands: []engine.Command{{Name: "docker"}},
		Effects: []engine.Effect{{Kind: engine.EffectProcess, Verb: verb, Target: name, Certainty: engine.CertaintyExact}}}
}

func onDatabase(e engine.Effect) *engine.Action {
	e.Kind, e.Certainty, e.Reversibility = engine.EffectSystemCall, engine.CertaintyExact, engine.R5
	return &engine.Action{Commands: []engine.Command{{Name: "psql"}}, Effects: []engine.Effect{e}}
}

func TestWhatTheSessionMade(t *testing.T) {
	h := &State{Made: []engine.Made{labContainer, labDatabase}}
	renaming := onContainer("kill", "lab")
	renaming.Effects = append(renaming.Effects, engine.Effect{Kind: engine.EffectProcess, Verb: "rename", Target: "main"})
	opaque := onContainer("kill", "lab")
	opaque.Opaque = []engine.Opaque{{Reason: "code"}}
	other := onContainer("kill", "lab")
	other.Commands[0].Name = "pkill"
	for name, c := range map[string]struct {
		a    *engine.Action
		want string
	}{
		"its container":              {onContainer("kill", "lab"), engine.MadeItself},
		"another container":          {onContainer("kill", "main"), ""},
		"a process of that name":     {other, ""},
		"with a new name":            {renaming, ""},
		"with a part that is opaque": {opaque, ""},
		"its database":               {onDatabase(engine.Effect{Verb: "drop", Object: "database", Target: "postgres:///lab", Server: "5433"}), engine.MadeItself},
		"a table of it":              {onDatabase(engine.Effect{Verb: "drop", Object: "table", Target: "postgres:///lab", Server: "5433"}), engine.MadeItself},
		"a table that is emptied":    {onDatabase(engine.Effect{Verb: "truncate", Object: "table", Target: "postgres:///lab", Server: "5433"}), ""},
		"at another port":            {onDatabase(engine.Effect{Verb: "drop", Object: "database", Target: "postgres:///lab", Server: "5432"}), ""},
		"at the usual port":          {onDatabase(engine.Effect{Verb: "drop", Object: "database", Target: "postgres:///lab"}), ""},
		"on another host":            {onDatabase(engine.Effect{Verb: "drop", Object: "database", Target: "postgres:///lab", Server: "5433", Host: "ssh:db"}), ""},
		"in its container":           {onDatabase(engine.Effect{Verb: "truncate", Object: "table", Target: "postgres:///", Host: "container:lab"}), engine.MadeInside},
		"in another container":       {onDatabase(engine.Effect{Verb: "truncate", Object: "table", Target: "postgres:///", Host: "container:main"}), ""},
		"from there to another host": {onDatabase(engine.Effect{Verb: "truncate", Object: "table", Target: "postgres://db.example/", Host: "container:lab"}), ""},
	} {
		if got := h.made(c.a, &c.a.Effects[0]); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestMadeIsForgotten(t *testing.T) {
	loss := onDatabase(engine.Effect{Verb: "drop", Object: "database", Target: "postgres:///main"})
	again := onContainer("delete", "lab")
	again.Commands = append(again.Commands, engine.Command{Name: "docker"})
	again.Makes = []engine.Made{{Object: engine.MadeContainer, Name: "lab", Command: 1}}
	gone := onContainer("delete", "lab")
	gone.Effects[0].Command = 1
	gone.Commands = append(gone.Commands, engine.Command{Name: "docker"})
	gone.Makes = []engine.Made{{Object: engine.MadeContainer, Name: "lab"}}
	for name, c := range map[string]struct {
		a    *engine.Action
		ran  bool
		want int
	}{
		"removed":                   {onContainer("delete", "lab"), true, 1},
		"perhaps removed":           {onContainer("delete", "lab"), false, 1},
		"stopped":                   {onContainer("stop", "lab"), true, 2},
		"removed and made again":    {again, true, 2},
		"not made again":            {again, false, 1},
		"made and removed":          {gone, true, 1},
		"something gets a new name": {onContainer("rename", "main"), true, 0},
		"data of others is lost":    {loss, true, 0},
		"its own database":          {onDatabase(engine.Effect{Verb: "drop", Object: "database", Target: "postgres:///lab", Server: "5433"}), true, 1},
		"a database in it":          {onDatabase(engine.Effect{Verb: "drop", Object: "database", Target: "postgres:///x", Host: "container:lab"}), true, 2},
		"another engine":            {&engine.Action{Commands: []engine.Command{{Name: "docker", Sub: []string{"context", "use"}}}}, true, 0},
	} {
		h := &State{Made: []engine.Made{labContainer, labDatabase}}
		if h.foldMade(c.a, c.ran); len(h.Made) != c.want {
			t.Errorf("%s: %v", name, h.Made)
		}
	}
	h := &State{}
	for i := range 2 * maxMade {
		h.foldMade(&engine.Action{Makes: []engine.Made{{Object: engine.MadeContainer, Name: fmt.Sprint(i)}}}, true)
	}
	if len(h.Made) != maxMade || h.Made[0].Name != fmt.Sprint(maxMade) {
		t.Errorf("%v", h.Made)
	}
}

// What is inside a container that the session removes is gone with it.
func TestMadeInsideIsForgotten(t *testing.T) {
	h := &State{Made: []engine.Made{labContainer, {Object: engine.MadeDatabase, Name: "postgres:///x", Host: "container:lab"}}}
	if h.foldMade(onContainer("delete", "lab"), true); len(h.Made) != 0 {
		t.Errorf("%v", h.Made)
	}
}
