package history

import (
	"reflect"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// milder returns what policy reads from the session about a next call and takes as a reason to be
// milder: the session made or read the file, the host is known, a person agreed, work was checked.
func milder(in *engine.Input) map[string]bool {
	m := map[string]bool{
		"no new host": len(in.Action.Hosts) > 0 && in.History.NewHosts == 0,
		"waited":      in.History.Pauses.Waited > 0,
		"builds on":   reflect.DeepEqual(in.History.Follows, []string{engine.FollowsBuildsOn}),
		"no remote":   len(in.Session.Remotes) == 0,
		"no code":     len(in.Action.Inherits) == 0,
		"started":     len(in.Session.Started) > 0,
	}
	for i := range in.Action.Effects {
		e := &in.Action.Effects[i]
		m["ledger "+e.Ledger] = e.Ledger != ""
		m["agreed "+e.Agreed] = e.Agreed != ""
		m["in a tree"] = m["in a tree"] || e.Location == engine.LocationWorktree
		m["named "+e.Short] = in.Session.Written[engine.LocationNamed] > 0
	}
	return m
}

// Without a result that says that it ran, no call makes policy milder about the next one: not one
// that waits, that was asked about and refused, that failed, or that was denied.
func TestNoResultMakesNothingMilder(t *testing.T) {
	made := func(e *engine.Effect) { e.Exists, e.Verb = "no", "write" }
	move := func(e *engine.Effect) { e.Verb = "move" }
	tree := command("git worktree add", engine.EffectFileWrite, "../side", func(e *engine.Effect) {
		e.Object, e.Exists, e.Location = engine.ObjectWorktree, "no", engine.LocationBeside
	})
	sibling := command("cat", engine.EffectFileRead, "../side/a", func(e *engine.Effect) { e.Location = engine.LocationBeside })
	fetch := request("get", "https://example.org")
	fetch.Hosts = []string{"example.org"}
	sleep := command("sleep", engine.EffectProcess, "")
	sleep.Waits = true
	started := command("serve", engine.EffectProcess, "")
	started.Starts = []engine.Started{{Line: "serve", Programs: []string{"serve"}}}
	look := reads("./z")
	push := request("git push side", "side")
	push.Effects[0].Egress = true
	for name, test := range map[string]struct {
		before func(*tale)
		call   engine.Action
		next   engine.Action
	}{
		"creates":          {nil, edits("./a", made), deletes("./a")},
		"writes":           {nil, edits("./a"), edits("./a")},
		"moves":            {nil, edits("./a", move), deletes("./a")},
		"deletes":          {nil, deletes("./a"), edits("./a")},
		"reads":            {nil, reads("./a"), edits("./a")},
		"makes a tree":     {nil, tree, sibling},
		"fetches":          {nil, fetch, fetch},
		"waits":            {func(s *tale) { s.ran(look, "x") }, sleep, look},
		"starts":           {nil, started, look},
		"pushes to a name": {func(s *tale) { s.h.Remotes = []string{"side"} }, push, look},
	} {
		tell := func(after func(s *tale)) map[string]bool {
			s := newTale()
			if test.before != nil {
				test.before(s)
			}
			after(s)
			in := s.next(test.next)
			return milder(&in)
		}
		none := tell(func(*tale) {})
		for how, after := range map[string]func(*tale){
			"pending": func(s *tale) { s.asked(test.call) },
			"asked":   func(s *tale) { s.answered(test.call, engine.Ask) },
			"refused": func(s *tale) { s.answered(test.call, engine.Ask).end(engine.KindPrompt) },
			"denied":  func(s *tale) { s.answered(test.call, engine.Block) },
			"failed":  func(s *tale) { s.failed(test.call, "e") },
		} {
			if name == "starts" && how == "failed" || name == "waits" && how == "failed" {
				continue // it may have started before it failed, and it took its time
			}
			got := tell(after)
			for fact, is := range got {
				if is && !none[fact] {
					t.Errorf("%s, %s: policy is milder: %s", name, how, fact)
				}
			}
		}
		if ran := tell(func(s *tale) { s.ran(test.call, "done") }); reflect.DeepEqual(ran, none) {
			t.Errorf("%s: the test shows nothing, since a call that ran changes nothing", name)
		}
	}
}

// What a call without a result may have done makes policy stricter at once.
func TestNoResultCountsAsRun(t *testing.T) {
	move := func(e *engine.Effect) { e.Verb = "move" }
	made := func(e *engine.Effect) { e.Exists = "no" }
	own := func() *tale { return newTale().ran(edits("./a", made), "x") }
	ledger := func(s *tale, a engine.Action) string { return s.next(a).Action.Effects[0].Ledger }
	for name, test := range map[string]struct {
		tale *tale
		want string
	}{
		"its own":                  {own(), "created"},
		"perhaps moved into":       {own().asked(edits("./a", move)), ""},
		"perhaps deleted":          {own().asked(deletes("./a")), ""},
		"perhaps deleted, or not":  {own().failed(deletes("./a"), "e"), ""},
		"perhaps written":          {own().asked(edits("./a")), "created"},
		"deleted, and made again":  {own().ran(deletes("./a"), "x").ran(edits("./a", made), "x"), "created"},
		"perhaps moved, then made": {own().asked(edits("./a", move)).ran(edits("./a", made), "x"), ""},
		"perhaps deleted, made":    {own().asked(deletes("./a")).ran(edits("./a", made), "x"), "created"},
		"deleted, perhaps written": {own().ran(deletes("./a"), "x").asked(edits("./a")), ""},
		"deleted, and written":     {own().ran(deletes("./a"), "x").ran(edits("./a"), "x"), "written"},
		"made and deleted at once": {newTale().ran(with(edits("./a", made), deletes("./a")), "x"), "deleted"},
	} {
		if got := ledger(test.tale, deletes("./a")); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	if got := ledger(own().asked(edits("./d/b", move)), deletes(".", func(e *engine.Effect) { e.Recursive = true })); got != "" {
		t.Errorf("a folder into which something was perhaps moved is %q", got)
	}
}

// A line that was typed is there until the result of a call shows that it ran or was discarded.
func TestTypedLines(t *testing.T) {
	typed := func(parts ...string) *engine.Terminals {
		if parts == nil {
			return &engine.Terminals{Lines: []engine.TypedLine{}}
		}
		return &engine.Terminals{Lines: []engine.TypedLine{{Terminal: "w", Parts: parts}}}
	}
	leaves := func(to *engine.Terminals) engine.Action {
		a := command("keys", engine.EffectProcess, "")
		a.Terminals = to
		return a
	}
	s := newTale().asked(leaves(typed("rm -rf ")))
	for _, step := range []struct {
		name string
		do   func() *tale
		want *engine.Terminals
	}{
		{"typed", func() *tale { return s }, typed("rm -rf ")},
		{"more is typed", func() *tale { return s.asked(leaves(typed("rm -rf ", "data"))) }, typed("rm -rf ", "data")},
		{"perhaps run", func() *tale { return s.answered(leaves(typed()), engine.Ask) }, typed("rm -rf ", "data")},
		{"a failure shows nothing", func() *tale { return s.failed(leaves(typed()), "e") }, typed("rm -rf ", "data")},
		{"perhaps run, and typed", func() *tale { return s.asked(leaves(typed("x"))) }, typed("rm -rf ", "data", "x")},
		{"run", func() *tale { return s.ran(leaves(typed()), "done") }, typed()},
	} {
		if step.do(); !s.h.Terminals.Equal(step.want) {
			t.Errorf("%s: %+v, want %+v", step.name, s.h.Terminals, step.want)
		}
	}
	cd := &engine.Terminals{Lines: []engine.TypedLine{{Terminal: "w", Before: "cd /tmp"}}}
	if got := typed("cd /tmp").Or(cd).Lines[0]; got.Before == "" || got.Before == "cd /tmp" || got.Parts[0] != "cd /tmp" {
		t.Errorf("a directory that was perhaps changed: %+v", got)
	}
}
