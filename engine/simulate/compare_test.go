package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// recordedStory is a log that a policy wrote, as a story.
func recordedStory(t *testing.T, id string, p deciding, tools ...string) RecordedSession {
	t.Helper()
	lines := recordLines(t, id, p, tools...)
	return RecordedSession{Session: id, Harness: "test", Format: "audit", Audit: true, Events: func(yield func(RecordedEvent, error) bool) {
		for rec, err := range decoded(lines) {
			if !yield(RecordedEvent{Record: rec}, err) {
				return
			}
		}
	}, Sources: func() Sources {
		return Sources{Files: 1, Lines: int64(len(lines)), Formats: map[string]int64{"audit": 1}}
	}}
}

// transcribed is a transcript, as a story.
func transcribed(t *testing.T, id string, events []engine.Event, copied ...string) RecordedSession {
	moments := Transcribe(t.Context(), Session{ID: id, Events: events}, classifier{}, env, func(call string) bool { return slices.Contains(copied, call) })
	return RecordedSession{Session: id, Harness: "test", Format: "test", Events: moments}
}

func side(name string, p policy) Side {
	return Side{Named: Named{Name: name, Digest: name, Rules: []string{"no_danger", "patience"}}, Policy: compiled(p, name)}
}

func recordedSide() Side { return Side{Named: Named{Name: "recorded", Recorded: true}} }

func compareAll(t *testing.T, c Comparison, stories ...RecordedSession) *Impact {
	t.Helper()
	c.Env = env
	sum := c.Empty()
	for _, s := range stories {
		parts, err := c.Session(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range sum {
			sum[i].Add(parts[i])
		}
	}
	return sum[0]
}

// told is an Impact in a line.
func told(m *Impact) string {
	parts := []string{"calls " + counted(m.Calls), "events " + counted(m.Events)}
	for _, k := range m.Kinds {
		parts = append(parts, fmt.Sprintf("%s %s %s->%s by %s %d+%d: %s of %s", k.Phase, k.State, k.From, k.To, k.Rule, k.Count, k.After, k.Example.Tool, k.Example.ID[8:]))
	}
	return strings.Join(parts, "; ")
}

func counted(t Tally) string {
	var parts []string
	for _, s := range States() {
		if n, after := t.States[State(s)], t.After[State(s)]; n+after > 0 {
			parts = append(parts, fmt.Sprintf("%s %d+%d", s, n, after))
		}
	}
	return strings.Join(parts, " ")
}

func TestCompareLogs(t *testing.T) {
	for _, c := range []struct {
		name, tools string
		was, is     policy
		want        string
	}{
		{"the same", "Read Danger Read", policy{patience: 9}, policy{patience: 9}, "calls unchanged 3+0; events unchanged 4+0"},
		{"less patience", "Danger Read Danger Read", policy{patience: 9}, policy{patience: 1},
			"calls unchanged 3+0 tightened 1+0; events unchanged 4+0 tightened 0+1; pre tightened allow->block by patience 1+0: Read of -11; post tightened allow->block by patience 0+1: Read of -12"},
		{"more patience", "Danger Danger Read Danger", policy{patience: 1}, policy{patience: 9},
			"calls unchanged 2+1 loosened 1+0; events unchanged 3+1 loosened 0+1; pre loosened block->allow by patience 1+0: Read of -8; post loosened block->allow by patience 0+1: Read of -10"},
		{"only watching", "Danger Read", policy{patience: 9}, policy{patience: 9, observe: true},
			"calls unchanged 0+1 loosened 1+0; events unchanged 1+1 loosened 0+1; pre loosened block->allow by (enforcement) 1+0: Danger of -3; post loosened block->allow by (enforcement) 0+1: Danger of -4"},
		{"undecidable", "Read Undecidable Read", policy{patience: 9}, policy{patience: 9},
			"calls unchanged 2+0 unknown 1+0; events unchanged 3+0 unknown 1+0"},
	} {
		s := recordedStory(t, "a", c.was, strings.Fields(c.tools)...)
		m := compareAll(t, Comparison{Baseline: recordedSide(), Candidates: []Side{side("new", c.is)}}, s)
		if got := told(m); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// What was recorded is checked on the way.
func TestCompareChecks(t *testing.T) {
	s := recordedStory(t, "a", policy{patience: 1}, tools...)
	c := Comparison{Baseline: recordedSide(), Candidates: []Side{side("p1", policy{patience: 1})}, Policies: store(policy{patience: 1})}
	m := compareAll(t, c, s)
	if f := m.Fidelity; f == nil || f.Same == 0 || f.Same != f.Decisions || f.Err() != nil || m.Sessions.Changed != 0 {
		t.Errorf("a faithful log: %+v, %s", f, told(m))
	}
	c.Policies = store(policy{patience: 3})
	if m = compareAll(t, c, s); m.Fidelity.Err() == nil || m.Fidelity.First == nil {
		t.Errorf("another policy under the recorded digest: %+v", m.Fidelity)
	}
}

func TestCompareIncomparable(t *testing.T) {
	s := recordedStory(t, "a", policy{patience: 1}, "Read", "Danger")
	c := Comparison{Baseline: recordedSide(), Candidates: []Side{side("new", policy{patience: 1})}}
	newer := env
	newer.OPA = "newer"
	c.Env = newer
	parts, err := c.Session(t.Context(), s)
	if err != nil || told(parts[0]) != "calls incomparable 2+0; events incomparable 3+0" {
		t.Errorf("recorded under another environment: %s, %v", told(parts[0]), err)
	}
	c.Baseline = side("old", policy{patience: 1})
	if parts, err = c.Session(t.Context(), s); err != nil || told(parts[0]) != "calls unchanged 2+0; events unchanged 3+0" {
		t.Errorf("two policies over the same facts: %s, %v", told(parts[0]), err)
	}
}

// A transcript shows the outcome of calls, and no more.
func TestCompareTranscripts(t *testing.T) {
	all := events("Read", "Danger", "Read", "Danger", "Read")
	refused := &engine.Result{Failed: true, Refused: true}
	all[8].Result = refused          // the second Danger
	all = slices.Delete(all, 10, 11) // the last Read has no result
	for _, c := range []struct {
		name string
		base Side
		is   policy
		want string
	}{
		{"what happened", recordedSide(), policy{patience: 9}, "calls unchanged 1+2 tightened 1+0 unknown 0+1; events ; pre tightened allow->block by no_danger 1+0: Danger of -5"},
		{"two policies", side("old", policy{patience: 9}), policy{patience: 9}, "calls unchanged 5+0; events unchanged 5+0"},
		{"less patience", side("old", policy{patience: 9}), policy{patience: -1}, "calls unchanged 0+2 tightened 0+3; events unchanged 0+2 tightened 1+2; pre tightened allow->block by patience 0+3: Read of -3; post tightened allow->block by patience 0+2: Read of -4; prompt tightened allow->block by patience 1+0:  of -2"},
	} {
		m := compareAll(t, Comparison{Baseline: c.base, Candidates: []Side{side("new", c.is)}}, transcribed(t, "s1", all))
		if got := told(m); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// Records of another session are history in this one, and are counted in their own.
func TestCompareCopied(t *testing.T) {
	s := transcribed(t, "s1", events("Danger", "Read"), "c0")
	m := compareAll(t, Comparison{Baseline: recordedSide(), Candidates: []Side{side("new", policy{patience: 9})}}, s)
	if got, want := told(m), "calls unchanged 1+0; events "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSelection(t *testing.T) {
	s := recordedStory(t, "a", policy{patience: 9}, "Read", "Danger", "Write", "Danger")
	for _, c := range []struct {
		of   Selection
		want int64
	}{
		{Selection{}, 4}, {Selection{Tools: []string{"Danger"}}, 2}, {Selection{Since: 2020}, 2}, {Selection{Since: 9999}, 0},
		{Selection{Until: 2020}, 2}, {Selection{Since: 2020, Until: 2020}, 0},
		{Selection{Rules: []string{"patience"}}, 0}, {Selection{Rules: []string{"patience", "no_danger"}}, 2}, {Selection{Rules: []string{"none"}}, 0},
		{Selection{Answers: []string{"approved"}}, 0}, {Selection{Workspaces: []string{"/elsewhere"}}, 0},
	} {
		m := compareAll(t, Comparison{Baseline: recordedSide(), Candidates: []Side{side("new", policy{patience: 1})}, Selection: c.of}, s)
		if m.Calls.Total != c.want {
			t.Errorf("%+v: %d calls, want %d", c.of, m.Calls.Total, c.want)
		}
	}
	one := Selection{Sessions: []string{"ab"}}
	if !one.Holds("abc") || one.Holds("a") || !(&Selection{}).Holds("a") {
		t.Error("sessions are chosen by the beginning of their ids")
	}
	folder, agent := Comparison{Selection: Selection{Workspaces: []string{"/srv/shop/"}}}, Selection{Agents: []string{"codex"}}
	if !folder.within("/srv/shop") || !folder.within("/srv/shop/cart") || folder.within("/srv/shops") || !(&Comparison{}).within("/a") {
		t.Error("workspaces are chosen by a folder or what is below it")
	}
	user := Comparison{Selection: Selection{Users: []string{"ann"}}, UserOf: func(dir string) string { return strings.Split(dir+"//", "/")[2] }}
	if !user.within("/home/ann/shop") || user.within("/home/anna/shop") || user.within("/srv") {
		t.Error("sessions are chosen by the user whose home directory they are in")
	}
	if !agent.HasAgent("codex") || agent.HasAgent("claude-code") || !(&Selection{}).HasAgent("a") {
		t.Error("sessions are chosen by their agent")
	}
	known := answers{words: map[string]reaction{"1": approved, "2": refused}}
	if by := (&Selection{Answers: []string{"refused"}}); by.answered(known, "1") || !by.answered(known, "2") || by.answered(known, "3") {
		t.Error("decisions are chosen by the reaction of people")
	}
}

// What people answered to stops is counted, and what the candidate lets through of it.
func TestAlarms(t *testing.T) {
	a := answers{words: map[string]reaction{"1": approved, "2": refused, "3": overruled, "4": refused}, ran: map[string]bool{"5": true}}
	stopped := alarms{[]stop{
		{"1", true, false, true}, {"2", true, false, true}, {"3", true, true, true}, {"4", true, true, true},
		{"5", false, true, true}, {"6", false, true, true}, {"7", true, false, true}, {"8", false, true, false},
	}}
	sum := stopped.sum(a)
	sum.estimate()
	want := Alarms{Approved: 1, Overruled: 1, Refused: 2, Lost: 1, Missed: 1, New: 1, Gained: 1}
	if sum != want {
		t.Errorf("%+v, want %+v", sum, want)
	}
	nobody := Alarms{New: 7}
	if nobody.estimate(); nobody.Gained != 0 {
		t.Errorf("nobody answered, and %d are gained", nobody.Gained)
	}
}

// An end that cannot be read costs the rest of its session, and says so.
func TestCompareBroken(t *testing.T) {
	s := recordedStory(t, "a", policy{patience: 9}, "Read", "Danger")
	whole := s.Events
	s.Events = func(yield func(RecordedEvent, error) bool) {
		n := 0
		for m, err := range whole {
			if n++; n > 4 {
				yield(RecordedEvent{}, errors.New("cut off"))
				return
			}
			if !yield(m, err) {
				return
			}
		}
	}
	m := compareAll(t, Comparison{Baseline: recordedSide(), Candidates: []Side{side("new", policy{patience: 9})}}, s)
	if m.Calls.Total != 1 || m.Sources.Failed != 1 || len(m.Sources.Troubles) != 1 || !strings.Contains(m.Sources.Troubles[0].Why, "cut off") {
		t.Errorf("%s, %+v", told(m), m.Sources)
	}
}

// undecided fails in each decision.
type undecided struct{ policy }

func (undecided) Match(ctx context.Context, in *engine.Input) ([]engine.Finding, error) {
	return nil, errors.New("condition fails")
}

// A decision that fails is a denial, and listed.
func TestCompareFailures(t *testing.T) {
	broken := side("new", policy{})
	broken.Policy.Matcher = undecided{}
	m := compareAll(t, Comparison{Baseline: recordedSide(), Candidates: []Side{broken}}, recordedStory(t, "a", policy{patience: 9}, "Read", "Danger"))
	if m.Calls.Failed != 2 || m.Calls.States[Tightened] != 1 || len(m.Errors) != 5 || m.Errors[0].Side != "candidate" {
		t.Errorf("%s, %d failed, %+v", told(m), m.Calls.Failed, m.Errors)
	}
}

// Whatever the split and the order, the parts make the whole.
func TestMerge(t *testing.T) {
	var stories []RecordedSession
	for i := range 40 {
		calls := []string{}
		for j := range 1 + i%7 {
			calls = append(calls, tools[(i*j+i)%len(tools)])
		}
		stories = append(stories, recordedStory(t, fmt.Sprint("session", i), policy{patience: 1}, calls...))
	}
	c := Comparison{Baseline: recordedSide(), Candidates: []Side{side("new", policy{patience: 0})}, Env: env, Policies: store(policy{patience: 1})}
	whole := document(t, compareAll(t, c, stories...))
	random := rand.New(rand.NewSource(7))
	for _, of := range []int{1, 2, 7, 50} {
		parts := make([]*Impact, of)
		for i := range parts {
			parts[i] = c.Empty()[0]
			parts[i].Shard = &Shard{Index: i + 1, Of: of}
		}
		for _, i := range random.Perm(len(stories)) {
			got, err := c.Session(t.Context(), stories[i])
			if err != nil {
				t.Fatal(err)
			}
			parts[random.Intn(of)].Add(got[0])
		}
		random.Shuffle(of, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		m, err := Merge(parts)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(whole, document(t, m)); d != "" {
			t.Fatalf("%d parts (-whole +merged):\n%s", of, d)
		}
	}
}

func document(t *testing.T, m *Impact) string {
	t.Helper()
	b, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestMergeRefuses(t *testing.T) {
	part := func(i, of int, change func(*Impact)) *Impact {
		m := newImpact(Named{Name: "a", Digest: "a"}, Named{Name: "b", Digest: "b"}, "e", Selection{})
		m.Shard = &Shard{Index: i, Of: of}
		if change != nil {
			change(m)
		}
		return m
	}
	for _, c := range []struct {
		name  string
		parts []*Impact
		want  string
	}{
		{"nothing", nil, "no parts to merge"},
		{"missing", []*Impact{part(1, 3, nil), part(3, 3, nil)}, "shards are missing: 2/3"},
		{"twice", []*Impact{part(1, 2, nil), part(1, 2, nil)}, "1/2 occurs twice"},
		{"another manifest", []*Impact{part(1, 2, nil), part(2, 2, func(m *Impact) { m.Shard.Manifest = "0123456789abcdef" })}, "shard 2/2 read the inputs of manifest 0123456789ab, and the first part inputs without a manifest"},
		{"within a merged one", []*Impact{part(1, 3, func(m *Impact) { m.Shard.To = 3 }), part(2, 3, nil)}, "2/3 occurs twice"},
		{"another split", []*Impact{part(1, 2, nil), part(2, 3, nil)}, "does not belong to the split"},
		{"no shard", []*Impact{part(1, 1, func(m *Impact) { m.Shard = nil })}, "is not a shard"},
		{"partial", []*Impact{part(1, 1, func(m *Impact) { m.Partial = "interrupted" })}, "incomplete (interrupted)"},
		{"another candidate", []*Impact{part(1, 2, nil), part(2, 2, func(m *Impact) { m.Candidate.Digest = "c" })}, "candidate is"},
		{"another environment", []*Impact{part(1, 2, nil), part(2, 2, func(m *Impact) { m.Env = "f" })}, "env is"},
		{"another selection", []*Impact{part(1, 2, nil), part(2, 2, func(m *Impact) { m.Selection.Since = 5 })}, "selection is"},
	} {
		if _, err := Merge(c.parts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Shards are also merged in a tree, and a report of some of them says so.
func TestMergeTree(t *testing.T) {
	part := func(i int) *Impact {
		m := newImpact(Named{Name: "a", Digest: "a"}, Named{Name: "b", Digest: "b"}, "e", Selection{})
		m.Shard = &Shard{Index: i, Of: 5, Manifest: "m"}
		m.Sessions.Total = int64(i)
		return m
	}
	all := []*Impact{part(1), part(2), part(3), part(4), part(5)}
	want, err := Merge(all)
	if err != nil {
		t.Fatal(err)
	}
	left, err := MergeSome(all[:3])
	if err != nil || left.Shard.String() != "1-3/5" || left.Shard.Manifest != "m" {
		t.Fatalf("%v, %v", left, err)
	}
	right, err := MergeSome(all[3:4])
	if err != nil || right.Shard.String() != "4/5" {
		t.Fatalf("%v, %v", right, err)
	}
	got, err := Merge([]*Impact{part(5), right, left})
	if err != nil || cmp.Diff(document(t, want), document(t, got)) != "" {
		t.Errorf("a tree gives %s, %v", cmp.Diff(document(t, want), document(t, got)), err)
	}
	if _, err := MergeSome([]*Impact{part(1), part(3)}); err == nil || !strings.Contains(err.Error(), "not consecutive shards; missing: 2/5") {
		t.Errorf("shards with a gap: %v", err)
	}
	some, err := MergeFound([]*Impact{left, part(5)})
	if err != nil || some.Partial != "shards are missing: 4/5" || some.Sessions.Total != 11 {
		t.Errorf("some shards: %+v, %v", some, err)
	}
	whole, err := MergeFound(all)
	if err != nil || cmp.Diff(document(t, want), document(t, whole)) != "" {
		t.Errorf("all shards: %v", err)
	}
}

func TestBudget(t *testing.T) {
	m := newImpact(Named{}, Named{}, "", Selection{})
	m.Calls.Matrix = []Cell{
		{From: engine.Allow, To: engine.Allow, Count: 9}, {From: engine.Allow, To: engine.Block, Count: 2, After: 1},
		{From: engine.Ask, To: engine.Allow, Count: 1}, {From: engine.Block, To: engine.Block, Count: 4},
	}
	m.Calls.States[Loosened], m.Calls.Total = 1, 17
	for text, want := range map[string]string{
		"block->allow>0": "", "allow->block>3": "", "allow->block>2": "allow->block>2: 3 calls, at most 2", "*->block>2": "*->block>2: 3 calls, at most 2",
		"*->*>3": "*->*>3: 4 calls, at most 3", "loosened>0": "loosened>0: the simulation loosened 1 of 17 decisions", "loosened > 1": "", "block->block>3": "block->block>3: 4 calls, at most 3",
	} {
		b, err := ParseBudget(text)
		if err != nil || b.Exceeded(m) != want {
			t.Errorf("%s: %q, %v; want %q", text, b.Exceeded(m), err, want)
		}
	}
	for text, want := range map[string]string{
		"": "no number", "block->allow": "no number", "block->alow>0": `did you mean "allow"`, "lose>0": "is not a state", "block->allow>x": "not a number of calls", "loosened>-1": "not a number of calls",
	} {
		if _, err := ParseBudget(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestCompareCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := Comparison{Baseline: recordedSide(), Candidates: []Side{side("new", policy{})}, Env: env}
	if _, err := c.Session(ctx, recordedStory(t, "a", policy{}, "Read")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
