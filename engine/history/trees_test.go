package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

func TestTreesOfTheSession(t *testing.T) {
	long := "/srv/" + strings.Repeat("long/", 30) + "tree"
	h := lenient()
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
		"one":                    {made, "/srv/fix"},
		"far away, and it ran":   {change(func(e *engine.Effect) { e.Location = engine.LocationHome }), "/srv/fix"},
		"a folder that is there": {change(func(e *engine.Effect) { e.Exists = "yes" }), ""},
		"in the system":          {change(func(e *engine.Effect) { e.Location = engine.LocationSystem }), ""},
		"a home":                 {change(func(e *engine.Effect) { e.Location = engine.LocationHomeRoot }), ""},
		"a folder with keys":     {change(func(e *engine.Effect) { e.Class = engine.ClassCredential }), ""},
		"elsewhere":              {change(func(e *engine.Effect) { e.Host = "container:a" }), ""},
		"only a prefix is known": {change(func(e *engine.Effect) { e.Certainty = engine.CertaintyPrefix }), ""},
		"a clone":                {change(func(e *engine.Effect) { e.Object = "" }), ""},
	} {
		if got := madeTrees(&engine.Action{Effects: []engine.Effect{c.e}}); strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	other := change(func(e *engine.Effect) { e.Short, e.Target = "/srv/add", "/srv/add" })
	if got := madeTrees(&engine.Action{Effects: []engine.Effect{made, other}}); !slices.Equal(got, []string{"/srv/fix", "/srv/add"}) {
		t.Errorf("trees of one call: %v", got)
	}
}

func TestGivenPaths(t *testing.T) {
	h := lenient()
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

// checkpointed appends a call with a checkpoint before it, and its outcome.
func (h *State) checkpointed(id, checkpoint string, o engine.Outcome) {
	add := func(r engine.Record) {
		r.N, r.T, r.Call, r.Agent = h.N+1, h.T+1000, id, engine.MainAgent
		h.Append(&r)
	}
	add(engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Action: &engine.Action{}, Answer: &engine.AnswerFacts{Effect: engine.Allow}})
	add(engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.ActCheckpoint, Checkpoint: &engine.CheckpointFacts{ID: checkpoint}}})
	add(engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: o}}})
}

// The first checkpoint of a session stays, with the latest; the calls after one that was
// dropped count for the one before it.
func TestCheckpointsAreBounded(t *testing.T) {
	h := lenient()
	for i := range 30 {
		o := engine.OutcomeRan
		if i%2 == 1 {
			o = engine.OutcomeFailed
		}
		h.checkpointed(fmt.Sprint("c", i), fmt.Sprint("k", i/2), o)
	}
	if len(h.Checkpoints) != maxCheckpoints || h.Checkpoints[0].ID != "k0" || h.Checkpoints[maxCheckpoints-1].ID != "k14" {
		t.Fatalf("%+v", h.Checkpoints)
	}
	for i, c := range h.Checkpoints {
		calls := int64(1)
		if i == 0 {
			calls = 8
		}
		if c.Ran != calls || c.Failed != calls || c.Error == 0 || c.N == 0 {
			t.Errorf("%+v", c)
		}
	}
}

// Whatever a record holds, checkpoints stay small.
func TestCheckpointsAreSmall(t *testing.T) {
	h := lenient()
	for i := range 20 {
		h.checkpointed(fmt.Sprint("c", i), fmt.Sprint(i)+strings.Repeat("\x01", 5000), engine.OutcomeRan)
	}
	before := h.fixedSize()
	h.Checkpoints = nil
	if n := before - h.fixedSize(); n > 4000 {
		t.Errorf("checkpoints need %d bytes", n)
	}
}

// A call that was denied since there is no checkpoint did not run, and nobody refused it.
func TestUnsavedCallIsDenied(t *testing.T) {
	h := lenient()
	h.Append(&engine.Record{N: 1, Kind: engine.KindPre, Phase: engine.PhasePre, Call: "c", Action: &engine.Action{}, Answer: &engine.AnswerFacts{Effect: engine.Ask}})
	h.Append(&engine.Record{N: 2, Kind: engine.KindAct, Call: "c",
		Act: &engine.Act{Kind: engine.ActCheckpoint, Checkpoint: &engine.CheckpointFacts{Failure: "disk full", Effect: engine.Block}}})
	if h.Kept(engine.MainAgent, "c") != 2 || h.call(engine.MainAgent, "c").Outcome != engine.OutcomeDenied || h.HasCheckpoint() {
		t.Errorf("%+v", h.call(engine.MainAgent, "c"))
	}
	h.Append(&engine.Record{N: 3, Kind: engine.KindPrompt, Phase: engine.PhasePrompt})
	if h.Refused != 0 {
		t.Error("it counts as refused by a person")
	}
}

// What runs in the background may change files until the next prompt.
func TestBusy(t *testing.T) {
	h := lenient()
	h.Running = []startedEntry{{N: 4, Line: "make watch"}}
	if h.PromptN = 3; !h.HasUnfinished(9) {
		t.Error("a background process is not known")
	}
	if h.PromptN = 5; h.HasUnfinished(9) {
		t.Error("one of an earlier prompt counts")
	}
}
