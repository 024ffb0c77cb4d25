package cel

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"

	"github.com/agent-reviewer/reviewer/engine"
)

// sample is `git push --force; rm -rf /home/u/a` in a session of a few calls.
func sample() *engine.Input {
	return &engine.Input{
		Phase: engine.PhasePre, Harness: "claude-code", Agent: "main", Facts: []string{"changes", "deletes", "deletes_recursive"},
		Event: engine.EventFacts{Tool: "Bash", CWD: "/home/u/w", Args: map[string]any{
			"command": "git push --force; rm -rf /home/u/a", "timeout": int64(3), "steps": []any{"a", int64(2)},
			"content": engine.ContentFacts{Bytes: 12, Lines: 1},
		}},
		Action: engine.Action{
			Types: []engine.Type{engine.TypeFileDeletion, engine.TypeNetworkRequest}, Intent: engine.TypeFileDeletion,
			Signals: []engine.Signal{engine.SignalGitForcePush}, Hosts: []string{"github.com"}, Paths: []string{"~/a"},
			Commands: []engine.Command{
				{Name: "git", Sub: []string{"push"}, Flags: []string{"--force"}},
				{Name: "rm", Flags: []string{"-rf"}, Operands: []string{"/home/u/a"}},
			},
			Effects: []engine.Effect{
				{Kind: engine.EffectFileDelete, Verb: "delete", Target: "/home/u/a", Recursive: true, Location: engine.LocationHome},
				{Kind: engine.EffectNetwork, Verb: "send", Target: "github.com", Egress: true},
			},
			Opaque: []engine.Opaque{},
		},
		Time:    engine.TimeFacts{Hour: 23, Weekday: "monday"},
		Session: engine.SessionFacts{Workspace: "/home/u/w", Actions: 7, CountsByType: map[string]int64{"file_read": 5}},
		History: engine.HistoryFacts{
			Windows: map[string]engine.WindowFacts{"short": {Events: 9}, "recent": {Events: 4, Failed: 3}, "all": {}, "five": {}},
			Similar: engine.SimilarFacts{Count: 2, Failed: 1}, Follows: []string{"builds_on"},
		},
	}
}

func host(t testing.TB, conditions ...Condition) *Host {
	t.Helper()
	h, err := Compile(conditions)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func match(t testing.TB, h *Host, in *engine.Input) []engine.Finding {
	t.Helper()
	findings, err := h.Match(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// holds, fails or errors: the result of an expression on the sample.
func TestExpressions(t *testing.T) {
	for _, test := range []struct{ when, want string }{
		{`"git_force_push" in action.signals`, "yes"},
		{`"disk_write" in action.signals`, "no"},
		{`action.effects.exists(e, e.kind == "file_delete" && e.recursive)`, "yes"},
		{`action.effects.exists(e, e.kind == "file_delete" && e.privileged)`, "no"},
		{`action.types.exists(t, t == "network_request")`, "yes"},
		{`action.intent == "file_deletion" && phase == "pre"`, "yes"},
		{`sets.contains(action.types, ["file_deletion"])`, "yes"},
		{`action.commands.exists(c, c.name == "git" && "push" in c.sub && "--force" in c.flags)`, "yes"},
		{`action.commands[1].operands.all(o, under(o, "/home/u"))`, "yes"},
		{`action.hosts.exists(h, domain(h, "github.com"))`, "yes"},
		{`action.effects[0].exists == ""`, "yes"}, // absent
		{`has(action.effects[0].exists)`, "no"},
		{`session.counts_by_type["file_read"] > 4 && session.actions == 7`, "yes"},
		{`session.counts_by_type[?"file_creation"].orValue(0) == 0`, "yes"},
		{`history.windows.recent.failed >= 3 && history.similar.failed == 1`, "yes"},
		{`history.windows.recent.failed / 2.0 > 1.0`, "error condition x: when:1:31: / cannot be applied to (int, double)"},
		{`double(history.windows.recent.failed) / 2.0 > 1.4`, "yes"},
		{`history.windows.missing.failed >= 3`, "error no such key: missing"},
		{`has(history.call) && history.call.executed_differs`, "no"},
		{`history.call.executed_differs`, "error call is absent: check has() first"},
		{`event.result.outcome == "ran"`, "error result is absent: check has() first"},
		{`time.hour >= 22 || time.weekday == "sunday"`, "yes"},
		{`"deletes_recursive" in facts && !("stopped" in facts)`, "yes"},
		{`harness == "claude-code" && agent == "main"`, "yes"},
		{`event.tool == "Bash" && event.args.command.matches(r'\brm\s+-rf')`, "yes"},
		{`event.args.timeout / 2 == 1 && event.args.timeout < 3.5`, "yes"},
		{`event.args.steps == ["a", "b"]`, "no"},
		{`event.args.steps.exists(s, s == 2)`, "yes"},
		{`event.args.content.bytes == 12 && !("mac" in event.args.content)`, "yes"},
		{`event.args.?missing.orValue("") == ""`, "yes"},
		{`event.args.missing == ""`, "error no such key: missing"},
		{`event.args.timeout.contains("x")`, "error no such overload"},
		{`true || event.args.missing == ""`, "yes"},
		{`action.effects[7].recursive`, "error index out of bounds: 7"},
		{`event.args.command.matches(event.args.command + "[")`, "error error parsing regexp"},
		{`history.windows.map(w, w) == ["all", "five", "recent", "short"]`, "yes"}, // ordered
		{`event.args.map(k, k) == ["command", "content", "steps", "timeout"]`, "yes"},
	} {
		h := host(t, Condition{ID: "x", When: test.when})
		if problems := h.Check(); len(problems) > 0 && !strings.HasPrefix(test.want, "error") {
			t.Errorf("%s: %v", test.when, join(problems))
			continue
		}
		findings := match(t, h, sample())
		got := "no"
		if len(findings) == 1 {
			got = "yes"
			if findings[0].Error != "" {
				got = "error " + findings[0].Error
			}
		}
		if test.want != got && !(strings.HasPrefix(test.want, "error ") && strings.Contains(got, test.want[6:])) {
			t.Errorf("%s: got %s, want %s", test.when, got, test.want)
		}
	}
}

// Each field of Input is a variable with a value of the type that it declares.
func TestVariables(t *testing.T) {
	l, err := newLanguage(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := sample()
	for _, v := range l.types.variables() {
		value, ok := (&variables{in: in}).ResolveName(v.name)
		if !ok {
			t.Errorf("%s has no value", v.name)
			continue
		}
		if got := l.env.CELTypeAdapter().NativeToValue(value).Type().TypeName(); got != v.typ.TypeName() {
			t.Errorf("%s is a %s, declared as %s", v.name, got, v.typ)
		}
	}
}

func TestMeasure(t *testing.T) {
	levels := []Level{{At: 5, Level: "critical"}, {At: 3, Level: "medium"}}
	for _, test := range []struct {
		c    Condition
		want []engine.Finding
	}{
		{Condition{Measure: "history.windows.recent.failed", Threshold: 3, Levels: levels}, []engine.Finding{{ID: "m", Measure: 3, Level: "medium"}}},
		{Condition{Measure: "session.actions", Threshold: 3, Levels: levels}, []engine.Finding{{ID: "m", Measure: 7, Level: "critical"}}},
		{Condition{Measure: "history.windows.recent.failed", Threshold: 3.5}, nil},
		{Condition{Measure: "0.7 + 0.1", Threshold: 0.8}, []engine.Finding{{ID: "m", Measure: 0.8}}}, // 0.7999999999999999 in binary
		{Condition{Measure: "1.0 / 3.0"}, []engine.Finding{{ID: "m", Measure: 0.333333}}},
		{Condition{Measure: "-1"}, nil},
		{Condition{Measure: "0.0 / 0.0"}, []engine.Finding{{ID: "m", Error: "measure: NaN cannot be compared (a division by zero?)"}}},
		{Condition{Measure: "1 / (session.actions - 7)"}, []engine.Finding{{ID: "m", Error: "measure: division by zero"}}},
		{Condition{When: "session.actions > 7", Measure: "1 / (session.actions - 7)"}, nil}, // the guard is evaluated first
		{Condition{When: "session.actions == 7", Measure: "session.actions * 2"}, []engine.Finding{{ID: "m", Measure: 14}}},
		{Condition{Match: Match{Signals: []string{"git_force_push"}}}, []engine.Finding{{ID: "m"}}}, // no CEL at all
		{Condition{Match: Match{Signals: []string{"disk_write"}}}, nil},
	} {
		test.c.ID = "m"
		if d := cmp.Diff(test.want, match(t, host(t, test.c), sample())); d != "" {
			t.Errorf("%+v: %s", test.c, d)
		}
	}
}

// A record that was read from its line gives the findings of the one that was
// written.
func TestMatchAfterLog(t *testing.T) {
	h := host(t,
		Condition{ID: "a", When: `event.args.timeout / 2 == 1`},
		Condition{ID: "b", When: `event.args.steps[1] == 2`},
		Condition{ID: "c", When: `size(event.args.content) == 2 && event.args.content.lines == 1`},
		Condition{ID: "d", Measure: `int(event.args.content.bytes)`},
		Condition{ID: "e", When: `event.args.half == 0.5 && event.args.four / 3 == 1`},
	)
	in := sample()
	in.Event.Args["half"], in.Event.Args["four"] = 0.5, 4.0
	line, err := engine.EncodeLine(&engine.Record{V: 1, Event: &in.Event})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.DecodeLine(line)
	if err != nil {
		t.Fatal(err)
	}
	read := sample()
	read.Event = *r.Event
	want := []engine.Finding{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d", Measure: 12}, {ID: "e"}}
	for _, in := range []*engine.Input{in, read} {
		if d := cmp.Diff(want, match(t, h, in)); d != "" {
			t.Error(d)
		}
	}
}

func TestMatchIsLazy(t *testing.T) {
	h := host(t,
		Condition{ID: "disk", Match: Match{Signals: []string{"disk_write"}}, When: "this does not even parse"},
		Condition{ID: "push", Match: Match{Signals: []string{"git_force_push"}}},
	)
	made := 0
	h.language = func() (*language, error) { made++; return newLanguage(nil, nil) }
	if d := cmp.Diff([]engine.Finding{{ID: "push"}}, match(t, h, sample())); d != "" {
		t.Error(d)
	}
	if made != 0 {
		t.Error("the language was made although no expression could apply")
	}
	if len(h.Check()) == 0 {
		t.Error("Check found nothing wrong")
	}
}

// An expression that was never checked is an error in the finding, not a silent 'no'.
func TestMatchUnchecked(t *testing.T) {
	findings := match(t, host(t, Condition{ID: "x", When: "action.kind == 'a'"}), sample())
	if len(findings) != 1 || !strings.Contains(findings[0].Error, `unknown field "kind"`) {
		t.Errorf("got %+v", findings)
	}
}

func TestMatchOrderAndEnd(t *testing.T) {
	h := host(t, Condition{ID: "b", When: "true"}, Condition{ID: "c.d", When: "true"}, Condition{ID: "a", Match: Match{Tools: []string{"Bash"}}})
	if d := cmp.Diff([]engine.Finding{{ID: "a"}, {ID: "b"}, {ID: "c.d"}}, match(t, h, sample())); d != "" {
		t.Error(d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := h.Match(ctx, sample()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// An expression without a known bound is stopped, the same way each time.
func TestCostLimit(t *testing.T) {
	h := host(t,
		Condition{ID: "open", When: `action.paths.exists(a, action.paths.exists(b, a + b == "never" && a.matches(b + ".*.*.*")))`},
		Condition{ID: "small", When: `"git_force_push" in action.signals`},
	)
	in := sample()
	for range 400 {
		in.Action.Paths = append(in.Action.Paths, strings.Repeat("x", 12))
	}
	for _, c := range h.Costs() {
		if c.Limited != (c.ID == "open") {
			t.Errorf("%+v", c)
		}
	}
	findings := match(t, h, in)
	if len(findings) != 2 || !strings.Contains(findings[0].Error, "cost limit exceeded") || findings[1].Error != "" {
		t.Errorf("got %+v", findings)
	}
	if d := cmp.Diff(findings, match(t, h, in)); d != "" {
		t.Error(d)
	}
}

func TestMatchConcurrent(t *testing.T) {
	h := host(t,
		Condition{ID: "a", When: `action.effects.exists(e, e.recursive && glob(e.target, "/home/**"))`},
		Condition{ID: "b", When: `event.args.command.matches("rm")`},
		Condition{ID: "c", Measure: `size(action.commands)`, Threshold: 2},
		Condition{ID: "d", When: `event.args.missing`},
		Condition{ID: "e", When: `event.args.missing == 1`},
	)
	want := match(t, host(t, conditionsOf(h)...), sample())
	if len(want) != 5 {
		t.Fatalf("got %+v", want)
	}
	in := sample()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			findings, err := h.Match(context.Background(), in)
			if d := cmp.Diff(want, findings); d != "" || err != nil {
				t.Error(d, err)
			}
		})
	}
	all.Wait()
}

func conditionsOf(h *Host) []Condition {
	var list []Condition
	for _, c := range h.conditions {
		list = append(list, c.Condition)
	}
	return list
}

// Every finding can be written to a record, whatever the expression is.
func FuzzExpression(f *testing.F) {
	for _, s := range []string{
		`"git_force_push" in action.signals`, `action.effects.exists(e, e.kind == "file_delete")`, `1.0/0.0`, `session.actions`,
		`event.args.steps.map(s, s)`, `{1: 2}`, `engine.Action{name: "a"}`, `glob("a", "[")`, `a.?b[?c]`, `cel.bind(x, 1, x)`,
		`event == event && action.effects == action.effects`, `optional.of(event).?args.?command`, `r'\'`, "\x00", `size(history.windows)`,
		`string(action)`, `type(event)`, `timestamp("2020-01-01T00:00:00Z").getHours()`, `"%s".format([action])`, `[event.args][0].timeout`,
	} {
		f.Add(s)
	}
	in := sample()
	f.Fuzz(func(t *testing.T, text string) {
		h, err := Compile([]Condition{{ID: "w", When: text}, {ID: "m", Measure: text}})
		if err != nil {
			return // empty
		}
		wrong := map[string]bool{}
		for _, p := range h.Check() {
			wrong[p.ID] = true
			if p.Message == "" || p.Part == "" {
				t.Fatalf("%q: %+v", text, p)
			}
		}
		findings := match(t, h, in)
		if _, err := json.Marshal(findings); err != nil {
			t.Fatal(err)
		}
		failed := map[string]bool{}
		for _, x := range findings {
			failed[x.ID] = x.Error != ""
			if math.IsNaN(x.Measure) {
				t.Fatalf("%q: %+v", text, x)
			}
		}
		for id := range wrong {
			if !failed[id] {
				t.Fatalf("%q does not compile and gives no error: %+v", text, findings)
			}
		}
		if d := cmp.Diff(findings, match(t, h, in)); d != "" {
			t.Fatalf("%q gives two results: %s", text, d)
		}
	})
}

func TestVersion(t *testing.T) {
	raw, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if r.Mod.Path == "cel.dev/cel-go" && r.Mod.Version != Version {
			t.Errorf("Version is %s, go.mod requires %s: raise it, since findings may come out otherwise", Version, r.Mod.Version)
		}
	}
}

func five(b testing.TB) *Host {
	return host(b,
		Condition{ID: "a", When: `action.effects.exists(e, e.kind == "file_delete" && e.recursive)`},
		Condition{ID: "b", When: `"git_force_push" in action.signals && size(action.types) > 0`},
		Condition{ID: "c", When: `event.args.command.matches("^git")`},
		Condition{ID: "d", Measure: `history.windows.recent.failed`, Threshold: 3},
		Condition{ID: "e", When: `action.commands.exists(c, c.name == "rm" && c.operands.exists(o, o.startsWith("/home")))`},
	)
}

// Five conditions that all apply, in a warm process.
func BenchmarkMatch5(b *testing.B) {
	h, in := five(b), sample()
	b.ReportAllocs()
	for b.Loop() {
		if len(match(b, h, in)) != 5 {
			b.Fatal("not all hold")
		}
	}
}

// Five conditions, without anything compiled; the first use in a process costs 3 ms
// more.
func BenchmarkCompile5(b *testing.B) {
	in := sample()
	b.ReportAllocs()
	for b.Loop() {
		match(b, five(b), in)
	}
}
