package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// held is a call that was held, in a session of the tests.
func held(session, call string, effect engine.Verdict) (decided, Stop) {
	s := Stop{Digest: stopDigest(session, call, effect), Decision: string(effect), Session: session}
	return decided{Row{}, verdict{Effect: effect}}, s
}

// Each project is a row of its own, and the median is over the projects: neither
// the largest nor the worst speaks for all.
func TestProjects(t *testing.T) {
	block, blocked := held("s1", "c1", engine.Block)
	ask, asked := held("s2", "c1", engine.Ask)
	modify, modified := held("s3", "c1", engine.Modify)
	fine := decided{Row{}, verdict{Effect: engine.Allow}}
	all := []played{
		{Session: "s1", Origin: Origin{"a", "codex"}, Calls: []decided{block, fine}, Stops: []Stop{blocked}, Work: 1800e3},
		{Session: "s2", Origin: Origin{"a", "pi"}, Calls: []decided{ask, fine}, Stops: []Stop{asked}, Work: -1},
		{Session: "s3", Origin: Origin{"b", "pi"}, Calls: []decided{modify}, Stops: []Stop{modified}, Work: -1},
	}
	labels := Labels{map[string]string{}, map[string][]string{}}
	for _, row := range []label{{blocked.Digest, wrong, "ann"}, {asked.Digest, wrong, "ann"}, {asked.Digest, right, "ben"},
		{stopDigest("s9", "c1", engine.Block), right, "ann"}} {
		if err := labels.add(row); err != nil {
			t.Fatal(err)
		}
	}
	p := projectsOf(all, labels)
	two := 2.0
	zero := 0.0
	want := []Project{
		{Name: "a", Clients: []string{"codex", "pi"}, Sessions: 2, Stopped: 2, Calls: 4, Hours: 0.5,
			Block: Share{Count: 1, Per1000: 250, PerHour: &two, Wrong: 1, False: 250},
			Ask:   Share{Count: 1, Per1000: 250, PerHour: &zero, Arguable: 1}},
		{Name: "b", Clients: []string{"pi"}, Sessions: 1, Calls: 1},
	}
	if d := cmp.Diff(want, p.List, cmp.FilterPath(hidden, cmp.Ignore())); d != "" {
		t.Error(d)
	}
	if len(p.Clients) != 2 || p.Median.Block.Per1000 != 125 || *p.Median.Block.PerHour != 2 || p.None != 0 || p.Stale != 1 {
		t.Errorf("%d clients, median %+v, %d without a label, %d of nothing", len(p.Clients), p.Median, p.None, p.Stale)
	}
	if d := cmp.Diff(map[string]int{"ann": 2, "ben": 1}, p.By); d != "" {
		t.Error(d)
	}
	var b strings.Builder
	p.print(&b)
	for _, text := range []string{"unknown", "median of the projects", "labelled: ann 2, ben 1", "no longer stopped: 1"} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("no %q in\n%s", text, b.String())
		}
	}
}

// hidden are the sums that a row is made from.
func hidden(p cmp.Path) bool {
	name := p.Last().String()
	return name == ".hourBlocks" || name == ".hourAsks" || name == ".millis"
}

// A long pause counts as a short one, and without times there is no working time.
func TestWorked(t *testing.T) {
	at := func(times ...int64) []engine.Event {
		var list []engine.Event
		for _, t := range times {
			list = append(list, engine.Event{Time: t})
		}
		return list
	}
	for _, c := range []struct {
		calls []engine.Event
		want  int64
	}{{nil, -1}, {at(0), -1}, {at(5, 0), -1}, {at(5), 0}, {at(1000, 3000, 2000, 4000), 4000}, {at(1, 1+5*idle), idle}} {
		if got := worked(c.calls); got != c.want {
			t.Errorf("%v: %d, want %d", c.calls, got, c.want)
		}
	}
}

// A label says nothing but which stop, what, and who.
func TestBadLabels(t *testing.T) {
	digest := stopDigest("s", "c", engine.Ask)
	good := `{"digest":"` + digest + `","label":"right","by":"ann"}` + "\n"
	for text, want := range map[string]string{
		good:               "",
		good + "\n{":       "x.jsonl:3: unexpected EOF",
		good + good:        "x.jsonl:2: ann labels the stop " + digest[:12] + "… twice",
		good + "{} {}":     "more than one object",
		`{"digest":"abc"}`: `x.jsonl:1: digest "abc" is not`,
		`{"digest":"` + digest + `","label":"bad","by":"ann"}`:                   `unknown label "bad"; expected right, wrong or arguable`,
		`{"digest":"` + digest + `","label":"wrong","by":"Ann Smith"}`:           `by is "Ann Smith"`,
		`{"digest":"` + digest + `","label":"wrong","by":"ann","text":"rm -rf"}`: `unknown field "text"`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x.jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readLabels(dir)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if l, err := readLabels("testdata/none"); err != nil || len(l.of) != 0 {
		t.Errorf("no folder: %v", err)
	}
}

// The list of stops has what someone needs who labels them.
func TestStops(t *testing.T) {
	r := scored(t)
	if len(r.stops) != 1 {
		t.Fatalf("%d stops, want 1", len(r.stops))
	}
	s := r.stops[0]
	if !digestShape().MatchString(s.Digest) || s.Decision != "block" || s.Action == "" || len(s.Evidence) == 0 || !s.Attended || s.CWD == "" {
		t.Errorf("%+v", s)
	}
	name := filepath.Join(t.TempDir(), "stops")
	if err := writeStops(name, r.stops); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(name)
	if err != nil || strings.Count(string(raw), "\n") != 1 {
		t.Errorf("%v, %s", err, raw)
	}
	if got := short("a\n b  c"+strings.Repeat("ä", 20), 8); got != "a b cää…" {
		t.Errorf("cut to %q", got)
	}
}

// A refused call is found by its input, or by a string that reports it; each one
// once.
func TestDenials(t *testing.T) {
	call := func(args string, v engine.Verdict) decided {
		return decided{Row{Tool: "Bash", Command: args}, verdict{Effect: v}}
	}
	all := []played{{Session: "s1",
		Calls: []decided{call(`{"command":"ls"}`, engine.Allow), call(`{"command":"git  push"}`, engine.Warn), call(`{"command":"ls"}`, engine.Block)},
		Said:  []refused{{"Bash", `{"command":"ls"}`, 2}}}}
	files := map[string][]string{"sessions/p/a.jsonl": {"s1"}}
	d := denialsOf([]denial{
		{File: "sessions/p/a.jsonl", Tool: "Bash", Input: []byte(`{ "command": "ls" }`), Kind: "no"},
		{File: "./sessions/p/a.jsonl", Tool: "Bash", Text: "Push it\n`git push`", Kind: "no"},
		{File: "sessions/p/a.jsonl", Tool: "Edit", Input: []byte(`{}`), Kind: "no"},
		{File: "sessions/p/b.jsonl", Tool: "Bash", Input: []byte(`{}`), Kind: "later"},
	}, files, all)
	want := []Refusals{
		{Kind: "later", Calls: 1, Unknown: 1, Verdicts: map[engine.Verdict]int{}},
		{Kind: "no", Calls: 3, Unknown: 1, Verdicts: map[engine.Verdict]int{engine.Block: 1, engine.Warn: 1}},
	}
	if diff := cmp.Diff(want, d.Kinds); diff != "" {
		t.Error(diff)
	}
}

const chatFile = `[{"parentUuid":null,"isSidechain":false,"cwd":"/srv/p","sessionId":"chat-1","type":"assistant","uuid":"u1",` +
	`"message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}]`

// Projects are sources of an index, or folders; what was made from a file that is
// read is left out.
func TestOrigins(t *testing.T) {
	dir := folder(t, map[string][]byte{"commands.jsonl": []byte(goodRow), "sessions.md": []byte("what this is")})
	for name, text := range map[string]string{
		"sessions/index.json":             `[{"file":"sessions/x+shop/a.json","source":"forge:x/shop","client":"A Client"}]`,
		"sessions/x+shop/a.json":          chatFile,
		"sessions/shop/b.json":            strings.ReplaceAll(chatFile, "chat-1", "chat-2"),
		"sessions/y+till/c.json":          strings.ReplaceAll(chatFile, "chat-1", "chat-3"),
		"sessions-derived/x+shop/d.json":  strings.ReplaceAll(chatFile, "chat-1", "chat-4"),
		"sessions-derived/z+other/e.json": strings.ReplaceAll(chatFile, "chat-1", "chat-5"),
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := readSessions(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Origin{"chat-1": {"x/shop", "A Client"}, "chat-2": {"x/shop", "Claude Code"}, "chat-3": {"y/till", "Claude Code"},
		"chat-5": {"z/other", "Claude Code"}}
	if d := cmp.Diff(want, s.Origin); d != "" || s.Derived != 1 || len(s.List) != 4 {
		t.Errorf("%d sessions, %d left out: %s", len(s.List), s.Derived, d)
	}
}

// Where nobody can be asked, a question is a denial, and counts as a question.
func TestQuestionsToNobody(t *testing.T) {
	story := telling{unattended: []string{"dontAsk"}}
	action := func(rules ...engine.RuleResult) simulate.Action {
		return simulate.Action{Enforced: engine.Block, Record: &engine.Record{Decision: &engine.Decision{Rules: rules}}}
	}
	ask, block := engine.RuleResult{Decision: engine.Ask}, engine.RuleResult{Decision: engine.Block}
	for name, test := range map[string]struct {
		mode   string
		action simulate.Action
		want   engine.Verdict
	}{
		"a question":              {"dontAsk", action(ask), engine.Ask},
		"a question and a denial": {"dontAsk", action(block, ask), engine.Block},
		"the scores alone":        {"dontAsk", action(), engine.Block},
		"somebody could be asked": {"default", action(ask), engine.Block},
		"not decided":             {"dontAsk", simulate.Action{Enforced: engine.Block}, engine.Block},
	} {
		if got := story.judged(engine.Event{Mode: test.mode}, test.action); got.Effect != test.want {
			t.Errorf("%s: %s, want %s", name, got.Effect, test.want)
		}
	}
}
