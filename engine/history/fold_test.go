package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/sweep"
	"github.com/google/go-cmp/cmp"
)

func TestWritten(t *testing.T) {
	home := func(e *engine.Effect) { e.Location = engine.LocationHome }
	for name, test := range map[string]struct {
		tale    *tale
		written map[string]int64
		deleted int64
	}{
		"nothing":                {newTale().done(reads("./a")), map[string]int64{}, 0},
		"two":                    {newTale().done(edits("./a"), edits("./b")), map[string]int64{"inside": 2}, 0},
		"one twice":              {newTale().done(edits("./a"), edits("./a")), map[string]int64{"inside": 1}, 0},
		"read, then written":     {newTale().done(reads("./a"), edits("./a"), reads("./a")), map[string]int64{"inside": 1}, 0},
		"in two places":          {newTale().done(edits("./a"), edits("~/b", home)), map[string]int64{"inside": 1, "home": 1}, 0},
		"denied":                 {newTale().answered(edits("./a"), engine.Block), map[string]int64{}, 0},
		"no result":              {newTale().asked(edits("~/a", home, created)), map[string]int64{"home": 1}, 0},
		"to be made, and failed": {newTale().failed(edits("~/a", home, created), "e"), map[string]int64{"home": 1}, 0},
		"named":                  {newTale().says(engine.Goal{Names: []string{"~/b"}}).done(edits("./a"), edits("~/b", home)), map[string]int64{"inside": 1, "named": 1}, 0},
		"added to the scope":     {newTale().scope("~/b").done(edits("~/b/c", home)), map[string]int64{"named": 1}, 0},
		"deleted":                {newTale().done(deletes("./a"), deletes("./b")), map[string]int64{"inside": 2}, 2},
		"deleted what it made":   {newTale().done(edits("./a", created), deletes("./a")), map[string]int64{"inside": 1}, 0},
		"deleted what it wrote":  {newTale().done(edits("./a"), deletes("./a")), map[string]int64{"inside": 1}, 1},
		"perhaps made":           {newTale().asked(edits("./a", created)).done(deletes("./a")), map[string]int64{"inside": 1}, 1},
		"of two agents":          {newTale().done(edits("./a")).by("sub").done(edits("./b"), edits("./a")).by(""), map[string]int64{"inside": 2}, 0},
		"elsewhere":              {newTale().done(edits("/a"), edits("/a", func(e *engine.Effect) { e.Host = "ssh:db" })), map[string]int64{"inside": 2}, 0},
	} {
		got := test.tale.next(reads("./z")).Session
		if d := cmp.Diff(test.written, got.Written); d != "" || got.Deleted != test.deleted {
			t.Errorf("%s: %d deleted, want %d %s", name, got.Deleted, test.deleted, d)
		}
	}
}

// What happens on another machine says nothing about this one.
func TestLedgerKeepsHostsApart(t *testing.T) {
	away := func(e *engine.Effect) { e.Host = "ssh:db" }
	s := newTale().done(reads("/a"), edits("/b", created)).done(on("/c", engine.EffectFileRead, away), edits("/d", away, created))
	for path, want := range map[string][2]string{"/a": {"read", ""}, "/b": {"created", ""}, "/c": {"", "read"}, "/d": {"", "created"}} {
		here, there := s.next(deletes(path)).Action.Effects[0].Ledger, s.next(deletes(path, away)).Action.Effects[0].Ledger
		if here != want[0] || there != want[1] {
			t.Errorf("%s is %q here and %q there, want %q", path, here, there, want)
		}
	}
}

// Paths of any kind stay apart, and what is known about them is found again.
func TestHostilePaths(t *testing.T) {
	long := strings.Repeat("d/", 2047)
	paths := []string{"./a\nb", "./a\n", "./a", "./\xff", "./\xfe", "./" + long, "./" + long + "x", "./" + long + "y", "./\u202eexe.txt", "./a\"b", "./a?b", "./ ", "./\x00"}
	for i, p := range paths {
		s := newTale().done(edits(p, created))
		for j, o := range paths {
			want := ""
			if i == j {
				want = "created"
			}
			if got := s.next(deletes(o)).Action.Effects[0].Ledger; got != want {
				t.Errorf("after %.12q was made, %.12q is %q, want %q", p, o, got, want)
			}
		}
	}
	// Of the path only the beginning is known, so a folder that begins so may hold it.
	s := newTale().done(edits("./"+long+"x", func(e *engine.Effect) { e.Verb = "move" }))
	for folder, want := range map[string]string{"./d": "moved_into", "./" + strings.Repeat("d/", 100) + "d": "moved_into", "./e": "", "./d/d/e": "", "./" + strings.Repeat("d/", 100) + "e": "moved_into"} {
		if got := s.next(deletes(folder, recursive)).Action.Effects[0].Ledger; got != want {
			t.Errorf("%.12q… is %q, want %q", folder, got, want)
		}
	}
}

// swarm lets agents take turns: in each round, each does what step says.
func swarm(s *tale, agents, rounds int, step func(agent, round int) engine.Action) *tale {
	for round := range rounds {
		for agent := range agents {
			s.by(fmt.Sprint("agent", agent)).ran(step(agent, round), "the same")
		}
	}
	return s
}

// Of agents that take turns, up to maxAgents are each seen as if they were alone;
// of more, those that came first.
func TestManyAgents(t *testing.T) {
	each := func(agent, _ int) engine.Action { return reads(fmt.Sprint("./", agent)) } // each is in a loop
	for _, agents := range []int{2, maxAgents - 1, 50, 200} {
		s := swarm(newTale().done(reads("./main")), agents, 4, each)
		seen := 0
		for agent := range agents {
			if got := s.by(fmt.Sprint("agent", agent)).window(each(agent, 0)).Same; got == 5 {
				seen++
			} else if agents < maxAgents {
				t.Errorf("of %d agents, number %d made the same call %d times, want 5", agents, agent, got)
			}
		}
		if want := min(agents, maxAgents-2); seen < want {
			t.Errorf("of %d agents in loops, %d are seen, want %d", agents, seen, want)
		}
		if len(s.h.Agents) > maxAgents {
			t.Errorf("%d agents are kept", len(s.h.Agents))
		}
	}
}

// Agents that all do the same are in no loop.
func TestAgentsFakeNoLoop(t *testing.T) {
	s := swarm(newTale(), 200, 5, func(_, round int) engine.Action { return reads(fmt.Sprint("./step", round)) })
	for agent := range 200 {
		in := s.by(fmt.Sprint("agent", agent)).next(reads("./step9"), engine.Window{Name: "w", Last: 20})
		if w := in.History.Windows["w"]; w.Same != 1 || in.History.Cycle.Times > 0 || slices.Contains(in.History.Follows, engine.FollowsRepeats) {
			t.Errorf("agent %d: %+v", agent, w)
		}
	}
}

// However many agents it starts, the main agent's own history stays.
func TestMainAgentStays(t *testing.T) {
	a := reads("./a")
	s := newTale().ran(a, "x").ran(a, "x")
	swarm(s, 300, 2, func(agent, round int) engine.Action { return reads(fmt.Sprint(agent, round)) })
	if got := s.by("").window(a).Same; got != 3 {
		t.Errorf("after 600 calls of others, the main agent made the call %d times, want 3", got)
	}
}

// Agents that ended make room.
func TestNewAgentsGetAPlace(t *testing.T) {
	s := swarm(newTale(), maxAgents, 8, func(agent, round int) engine.Action { return reads(fmt.Sprint(agent, round)) })
	for i := range agentRest + 2 {
		s.by("").done(reads(fmt.Sprint("./main", i)))
	}
	for wave := range 2 {
		for range 4 {
			for i := range maxAgents - 1 {
				s.by(fmt.Sprint("new", wave, i)).ran(reads("./x"), "x")
			}
		}
		for i := range maxAgents - 1 {
			if got := s.by(fmt.Sprint("new", wave, i)).window(reads("./x")).Same; got != 5 {
				t.Errorf("wave %d: agent %d made the call %d times, want 5", wave, i, got)
			}
		}
		for i := range agentRest + 2 {
			s.by("").done(reads(fmt.Sprint("./main", i)))
		}
	}
}

// The session's own facts know no agents: nothing is lost among them.
func TestSessionCountsAllAgents(t *testing.T) {
	s := newTale()
	for i := range 200 {
		s.by(fmt.Sprint("agent", i)).answered(deletes(fmt.Sprint("./", i)), engine.Block).ran(edits(fmt.Sprint("./w", i)), "")
	}
	got := s.by("").next(reads("./z")).Session
	if got.Denials != 200 || got.Actions != 400 || got.FileOps != 200 {
		t.Errorf("%d denials, %d actions, %d file operations", got.Denials, got.Actions, got.FileOps)
	}
}

// Order is that of the log: the clock decides nothing but how long ago things are.
func TestClocksThatJump(t *testing.T) {
	a, b := reads("./a"), reads("./b")
	tell := func(jump time.Duration) engine.HistoryFacts {
		s := newTale().ran(a, "x").failedBy(b, engine.TroubleAuth).pauses(jump).ran(a, "x").answered(deletes("./c"), engine.Block).pauses(-jump).ran(a, "x")
		return s.next(a, engine.Window{Name: "w", Last: 10}).History
	}
	steady := func(f engine.HistoryFacts) engine.HistoryFacts {
		for i := range f.Last {
			if f.Last[i].Ago < 0 {
				t.Errorf("an action was %d ms ago", f.Last[i].Ago)
			}
			f.Last[i].Ago = 0
		}
		f.Pauses, f.Polling, f.Began = engine.PauseFacts{}, false, 0
		return f
	}
	want := steady(tell(0))
	for _, jump := range []time.Duration{time.Hour, -time.Hour, 50 * 365 * 24 * time.Hour, -50 * 365 * 24 * time.Hour} {
		if d := cmp.Diff(want, steady(tell(jump))); d != "" {
			t.Errorf("the clock jumps by %v: %s", jump, d)
		}
		if tell(jump).Polling {
			t.Errorf("the clock jumps by %v: that looks like waiting", jump)
		}
	}
}

// The reviewer's own records never run back in time: after a clock that was
// ahead, a window by time sees too much and not too little.
func TestWindowsAfterAClockThatWasAhead(t *testing.T) {
	s := newTale().failed(reads("./a"), "e").pauses(24*time.Hour).failed(reads("./a"), "e")
	ahead := s.h.T
	for range 3 {
		s.t = ahead - 1000
		s.failed(reads("./a"), "e")
		s.t = ahead - 2000
	}
	r := &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, T: 5, Action: &engine.Action{}}
	r.ClampTime(s.h.T)
	in := NewInput(r, s.h, engine.View{Windows: []engine.Window{{Name: "w", For: 5 * time.Minute}}})
	if got := in.History.Windows["w"].Failed; got != 4 {
		t.Errorf("%d failures in five minutes, want the 4 since the clock was ahead", got)
	}
}

// A session that is resumed or opened again goes on as it was; what a fork's
// ledger says about other chains changes nothing.
func TestResume(t *testing.T) {
	key := on("./key", engine.EffectFileRead, func(e *engine.Effect) { e.Class = engine.ClassCredential })
	s := newTale().says(engine.Goal{Names: []string{"a"}, Constraints: []engine.Constraint{{Kind: engine.ConstraintRead}}}).scope("/srv").
		done(key, edits("./a")).answered(deletes("./b"), engine.Block).ran(reads("./c"), "x").ran(reads("./c"), "x")
	before := s.next(reads("./c"), engine.Window{Name: "w", Last: 9})
	s.add(&engine.Record{Kind: engine.KindOpen, Chain: strings.Repeat("d", 32), Open: &engine.Open{Of: "another", Workspace: "/evil"}})
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlScope, Path: "/evil", Of: "another"}})
	s.add(&engine.Record{Kind: engine.KindNote, Phase: engine.PhaseEnd, Note: &engine.Note{What: "SessionEnd"}})
	s.add(&engine.Record{Kind: engine.KindNote, Phase: engine.PhaseStart, Note: &engine.Note{What: "SessionStart"}})
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlStop}})
	s.add(&engine.Record{Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlResume}})
	after := s.next(reads("./c"), engine.Window{Name: "w", Last: 9})
	for i := range after.History.Last {
		after.History.Last[i].Ago, before.History.Last[i].Ago = 0, 0
	}
	after.Time, after.History.Began = before.Time, before.History.Began
	if d := cmp.Diff(before, after); d != "" {
		t.Error(d)
	}
}

// A fork begins with a copy of the state, and neither sees the other.
func TestFork(t *testing.T) {
	s := newTale().ran(reads("./a"), "x")
	a := deletes("./b")
	fork, err := s.h.After(&engine.Record{N: s.h.N + 1, Kind: engine.KindPre, Phase: engine.PhasePre, Action: &a, Answer: &engine.AnswerFacts{Effect: engine.Block}})
	if err != nil {
		t.Fatal(err)
	}
	here := s.next(a).History.Denials.Same < engine.NeverHappened
	there := NewInput(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Action: &a}, fork, engine.View{}).History.Denials.Same < engine.NeverHappened
	if here || !there {
		t.Errorf("denied here %v, and in the fork %v; want false, true", here, there)
	}
}

// Nothing that makes policy stricter is forgotten for something milder.
func TestForgetsTowardsStrictness(t *testing.T) {
	key := on("./key", engine.EffectFileRead, func(e *engine.Effect) { e.Class = engine.ClassCredential })
	move := edits("./moved", func(e *engine.Effect) { e.Verb = "move" })
	s := newTale().says(engine.Goal{Constraints: []engine.Constraint{{Kind: engine.ConstraintLeave, What: "prod"}}}).done(key, move, request("get", "example.com")).
		answered(deletes("./b"), engine.Block)
	s.add(&engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.EmergencyStop, Result: "enough"}})
	for i := range 2000 {
		switch i % 4 {
		case 0:
			s.done(edits(fmt.Sprint("./made", i), created))
		case 1:
			s.done(reads(fmt.Sprint("./read", i)))
		case 2:
			s.says(engine.Goal{Names: []string{fmt.Sprint("name", i)}, Words: marks(fmt.Sprint(i)), Marks: marks(fmt.Sprint(i))})
		default:
			s.by(fmt.Sprint("agent", i)).done(reads("./a")).by("")
		}
	}
	in := s.next(deletes("./moved"))
	if in.Action.Effects[0].Ledger != engine.LedgerMoved {
		t.Errorf("what was moved is %q", in.Action.Effects[0].Ledger)
	}
	if d := cmp.Diff([]engine.Label{engine.LabelUntrusted, engine.LabelSecret}, in.Session.Labels); d != "" || !in.Session.SecretsRead || !in.Session.Stopped || in.Session.Denials != 1 {
		t.Errorf("%+v %s", in.Session, d)
	}
	if d := cmp.Diff([]engine.Constraint{{Kind: engine.ConstraintLeave, What: "prod"}}, said(in)); d != "" {
		t.Error(d)
	}
	if in.Session.Actions != 4+1500 {
		t.Errorf("%d actions", in.Session.Actions)
	}
}

// A million actions fold to a state of bounded size, and what counts is exact.
// Without REVIEWER_EVERY=1 (`make fidelity`) they are a fifth of that.
func TestMillionActions(t *testing.T) {
	actions := int64(sweep.Some(192_000, 1_000_000))
	sweep.Count(t, "actions folded").Add(actions)
	h := lenient()
	h.Append(&engine.Record{N: 1, Kind: engine.KindOpen, Chain: strings.Repeat("c", 32), Open: &engine.Open{Workspace: "/w"}})
	pre := make([]*engine.Record, 64)
	for i := range pre {
		a := reads(fmt.Sprint("./src/file", i))
		pre[i] = &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Action: &a, Answer: &engine.AnswerFacts{Effect: engine.Allow}}
	}
	pre[7].Answer = &engine.AnswerFacts{Effect: engine.Block}
	for n := range actions {
		r := *pre[n%int64(len(pre))]
		r.N, r.T = n+2, 1_700_000_000_000+n
		h.Append(&r)
	}
	if h.Actions != actions || h.Denied != actions/64 || h.ByVerdict["allow"]+h.ByVerdict["block"] != actions {
		t.Errorf("%d actions, %d denied", h.Actions, h.Denied)
	}
	if raw, err := json.Marshal(h); err != nil || len(raw) > engine.MaxKeyframe {
		t.Errorf("the state takes %d bytes (%v)", len(raw), err)
	}
	in := NewInput(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, T: h.T, Action: pre[7].Action}, h, engine.View{Windows: []engine.Window{{Name: "w", Last: 200}}})
	if w := in.History.Windows["w"]; w.Events != ringSize || w.Denied < 3 {
		t.Errorf("%+v", w)
	}
}

// What a record costs does not grow with the session: the same work takes as many
// allocations after 10,000 records as after a few hundred. A benchmark compares the time.
func TestCostIsConstant(t *testing.T) {
	cost := func(records int) float64 {
		s := newStory(3)
		h := lenient()
		for range records {
			h.Append(s.record())
		}
		more := make([]*engine.Record, 400)
		for i := range more {
			more[i] = s.record()
		}
		i := 0
		return testing.AllocsPerRun(len(more)-1, func() { h.Append(more[i%len(more)]); i++ })
	}
	few, many := cost(1_000), cost(10_000)
	if many > 1.5*few {
		t.Errorf("a record costs %.0f allocations after 1,000 records, %.0f after 10,000", few, many)
	}
}

// A record that no reviewer would write folds to something bounded too.
func FuzzAppend(f *testing.F) {
	s := newStory(9)
	for range 40 {
		line, err := json.Marshal(s.record())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var r engine.Record
		if json.Unmarshal(line, &r) != nil {
			return
		}
		s := newStory(1)
		h := lenient()
		for range 30 {
			h.Append(s.record())
		}
		r.N = h.N + 1
		view := engine.View{Windows: []engine.Window{{Name: "w", Last: 9}}, Last: 3}
		NewInput(&r, h, view)
		h.Append(&r)
		NewInput(&r, h, view)
		testSteady(t, h)
		for _, b := range h.Bins {
			if slices.ContainsFunc(b.Use[:], func(u int64) bool { return u < 0 || u > maxUse }) {
				t.Errorf("a bin holds %v", b.Use)
			}
		}
	})
}

// lenient is an empty state in which choices count without a signature.
func lenient() *State {
	h := New()
	h.Lenient = true
	return h
}
