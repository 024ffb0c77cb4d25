package rego

import (
	"context"
	"encoding/json"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
)

// shipped returns the built-in policy, and its Rego with the tests.
func shipped(t *testing.T) (*bundles.Effective, map[string]*ast.Module) {
	t.Helper()
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]*ast.Module{}
	err = fs.WalkDir(bundles.DefaultFS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".rego") {
			return err
		}
		src, err := fs.ReadFile(bundles.DefaultFS(), name)
		if err != nil {
			return err
		}
		modules[name], err = ast.ParseModuleWithOpts(name, string(src), ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: true})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return e, modules
}

// The tests of the policy, in its own language, under the restrictions and over
// the data that it has when it decides.
func TestDefaultPolicy(t *testing.T) {
	e, modules := shipped(t)
	tests := map[string]string{}
	for name := range modules {
		if !isTestFile(name) {
			continue
		}
		src, err := fs.ReadFile(bundles.DefaultFS(), name)
		if err != nil {
			t.Fatal(err)
		}
		tests["base/"+name] = string(src)
	}
	suite, err := CompileTests(e.Modules(), tests, e.Data)
	if err != nil {
		t.Fatal(err)
	}
	results, err := suite.Run(context.Background(), TestOptions{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Failed || r.Err != nil {
			t.Errorf("%s:%d: %s fails (%v) at %+v", r.File, r.Line, r.Name, r.Err, r.At)
		}
	}
	if len(results) < 600 {
		t.Errorf("only %d tests of the policy were run", len(results))
	}
}

// A rule has its condition in its row, or is a rule in Rego whose METADATA is the row.
func TestRowsAndRego(t *testing.T) {
	e, modules := shipped(t)
	inRego := map[string]string{}
	for _, m := range modules {
		for _, r := range m.Rules {
			id := familyRule(r)
			if id != "" && inRego[id] == "" {
				inRego[id] = r.Location.File
			}
			if inRego[id] != r.Location.File && id != "" {
				t.Errorf("%s: the rule %s is in %s too", r.Location, id, inRego[id])
			}
		}
	}
	for _, row := range e.Rules() {
		if file := inRego[row.ID]; row.Conditional() == (file != "") || row.InRego() != (file != "") {
			t.Errorf("%s: the rule %s has a condition: %v; a rule in Rego: %q", row.Place("id", 0), row.ID, row.Conditional(), file)
		}
		delete(inRego, row.ID)
	}
	for id, file := range inRego {
		t.Errorf("%s: the rule %s has no row", file, id)
	}
}

// Everything that one package uses of another says what it is.
func TestPublicRulesHaveTitles(t *testing.T) {
	_, modules := shipped(t)
	for name, m := range modules {
		titled := map[string]bool{}
		for _, r := range m.Rules {
			head := r.Head.Ref()[0].String()
			titled[head] = titled[head] || len(r.Annotations) > 0 && r.Annotations[0].Title != ""
		}
		for head, ok := range titled {
			if !ok && !strings.HasPrefix(head, "_") && !strings.HasSuffix(name, "_test.rego") {
				t.Errorf("%s: %s has no METADATA with a title; is it private (_%s)?", name, head, head)
			}
		}
	}
}

// placeholder is a place to be filled in, in a string of the policy.
var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// No message contains an unfilled placeholder.
func TestTextsAreFilled(t *testing.T) {
	e, _ := shipped(t)
	host, err := Compile(context.Background(), e.Modules(), e.Data)
	if err != nil {
		t.Fatal(err)
	}
	in := call(engine.Action{Types: []engine.Type{engine.TypeFileRead}, Resource: "the command"})
	for _, row := range e.Rules() {
		if row.Decision == "" || !row.Conditional() || row.Enforcement == "observe" {
			continue
		}
		d, err := host.Decide(context.Background(), &in, []engine.Finding{{ID: row.ID}})
		if err != nil || len(d.Rules) != 1 || d.Rules[0].ID != row.ID {
			t.Errorf("%s: %v, %+v", row.ID, err, d.Rules)
			continue
		}
		texts := append([]string{d.Reason, d.Rules[0].Message, strings.NewReplacer("{id}", "", "{request}", "").Replace(d.Text)}, d.Reasons...)
		for _, text := range append(texts, d.Alternatives...) {
			if left := placeholder.FindString(text); left != "" || strings.TrimSpace(text) == "" {
				t.Errorf("%s: %q is left in %q", row.ID, left, text)
			}
		}
		if d.Decision != engine.Allow && (!strings.Contains(d.Text, d.Rules[0].Message) || !strings.Contains(d.Text, row.ID)) {
			t.Errorf("%s: the agent is told %q", row.ID, d.Text)
		}
		if d.Decision.Strictness() > engine.Warn.Strictness() && strings.Contains(d.Text, "{id}") {
			t.Errorf("%s: the agent is told the id of what it is denied: %q", row.ID, d.Text)
		}
	}
}

// The rows that only Rego fires name fields that there are.
func TestMessagesNameKnownFields(t *testing.T) {
	e, _ := shipped(t)
	for _, row := range e.Rules() {
		for _, m := range placeholder.FindAllStringSubmatch(row.Message+row.Remediation, -1) {
			if !slices.Contains(bundles.MessageFields(), m[1]) {
				t.Errorf("%s: {%s} is none of %v", row.ID, m[1], bundles.MessageFields())
			}
		}
		if row.Decision != "" && row.Decision != "allow" && row.Remediation == "" {
			t.Errorf("%s: what would be safer is not said", row.ID)
		}
	}
}

func call(a engine.Action) engine.Input {
	h := history.New()
	h.Append(&engine.Record{N: 1, Kind: engine.KindOpen, Chain: "a", Open: &engine.Open{Workspace: "/srv/shop"}})
	return history.NewInput(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Action: &a, Event: &engine.EventFacts{Tool: "Bash"}}, h, engine.View{})
}

// The tests of the policy make their inputs themselves. What they take for the
// facts of an input are the facts that the program computes.
func TestGivenFactsAreTheFacts(t *testing.T) {
	_, modules := shipped(t)
	compiler := ast.NewCompiler()
	if compiler.Compile(modules); compiler.Failed() {
		t.Fatal(compiler.Errors)
	}
	q, err := opa.New(opa.Query("x := data.reviewer.given_test.facts(input)"), opa.Compiler(compiler)).PrepareForEval(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, in := range inputs() {
		rs, err := q.Eval(context.Background(), opa.EvalInput(asJSON(t, in)))
		if err != nil || len(rs) != 1 {
			t.Fatalf("%d results, %v", len(rs), err)
		}
		if d := cmp.Diff(asJSON(t, in.Facts), rs[0].Bindings["x"]); d != "" {
			t.Errorf("%+v\n%s", in.Action, d)
		}
		for _, name := range in.Facts {
			seen[name] = true
		}
	}
	for _, name := range engine.FactNames() {
		if !seen[name] {
			t.Errorf("no input has the fact %s", name)
		}
	}
}

func asJSON(t *testing.T, v any) any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// inputs holds an input for each combination of an effect with what besides it
// can make a fact.
func inputs() []engine.Input {
	effects := [][]engine.Effect{nil}
	for _, kind := range engine.EffectKinds() {
		for _, location := range []engine.Location{"", engine.LocationInside, engine.LocationTemp, engine.LocationHome, engine.LocationUnknown} {
			e := engine.Effect{Kind: engine.EffectKind(kind), Location: location}
			effects = append(effects, []engine.Effect{e})
			e.Recursive, e.Privileged, e.Loopback = true, true, true
			effects = append(effects, []engine.Effect{e}, []engine.Effect{{Kind: engine.EffectFileRead}, e})
		}
	}
	var all []engine.Input
	for i, list := range effects {
		a := engine.Action{Effects: list}
		if i%3 == 1 {
			a.Opaque = []engine.Opaque{{Reason: "code"}}
		}
		all = append(all, call(a))
	}
	return append(all, slices.Concat([]engine.Input{afterFailure(), stopped(), executedDiffers(), allowedByPerson()}, ofRuns())...)
}

// ofRuns holds an input for each fact about how a run goes.
func ofRuns() []engine.Input {
	var all []engine.Input
	for _, change := range []func(*engine.Input){
		func(in *engine.Input) { in.Event.Result = &engine.ResultFacts{Outcome: engine.OutcomeFailed} },
		func(in *engine.Input) { in.History.Windows = map[string]engine.WindowFacts{"recent": {Same: 2}} },
		func(in *engine.Input) {
			in.History.Windows = map[string]engine.WindowFacts{"recent": {Same: 1, Missing: 1}}
		},
		func(in *engine.Input) { in.History.Cycle = engine.CycleFacts{Period: 2, Times: 2} },
		func(in *engine.Input) { in.History.Since.News = 16 },
		func(in *engine.Input) { in.Event.Says = &engine.LastMessage{} },
		func(in *engine.Input) { in.History.Since.News = engine.NeverHappened },
		func(in *engine.Input) { in.History.Denials.Same = 1 },
		func(in *engine.Input) { in.History.Denials.Effect = 1 },
		func(in *engine.Input) { in.History.Rechecks.Own = 1 },
		func(in *engine.Input) { in.History.Since.Failed = 3 },
		func(in *engine.Input) {
			in.History.Since.AuthError, in.History.Since.Secret, in.History.Since.Untrusted = 20, 20, 20
		},
		func(in *engine.Input) {
			in.History.Since.AuthError, in.History.Since.Secret, in.History.Since.Untrusted = 21, 21, 21
		},
		func(in *engine.Input) { in.Action.Carries = []engine.Label{engine.LabelSecret} },
		func(in *engine.Input) { in.Action.Carries = []engine.Label{engine.LabelUntrusted} },
		func(in *engine.Input) {
			in.Action.Effects = []engine.Effect{{Kind: engine.EffectFileRead, Untrusted: true}}
		},
		func(in *engine.Input) {
			in.Action.Effects = []engine.Effect{{Kind: engine.EffectProcess, Unread: engine.UnreadBinary}}
		},
		func(in *engine.Input) { in.Action.SecretsOut = []engine.ExfilPath{engine.OutText} },
		func(in *engine.Input) { in.Action.Inherits = []engine.Inherited{{Path: "./a.py"}} },
		func(in *engine.Input) { in.Session.Growing = []engine.Growth{{Resource: "files"}} },
		func(in *engine.Input) { in.Goal.Known = true },
		func(in *engine.Input) { in.Goal.Statements = []engine.StatementFacts{{Kind: engine.Forbids}} },
		func(in *engine.Input) { in.Goal.Statements = []engine.StatementFacts{{Kind: engine.Orders}} },
		func(in *engine.Input) { in.History.NewHosts = 1 },
		func(in *engine.Input) {
			in.Session.Written, in.Session.Elsewhere = map[string]int64{"inside": 9, "home": 2, "named": 4}, 2
		},
		func(in *engine.Input) {
			in.Session.Written, in.Session.Elsewhere = map[string]int64{"inside": 9, "home": 2, "system": 1, "null": 2}, 3
		},
	} {
		in := call(engine.Action{})
		change(&in)
		in.Facts = history.FactsOf(&in)
		all = append(all, in)
	}
	return all
}

func afterFailure() engine.Input {
	h := history.New()
	pre := &engine.Record{N: 1, Kind: engine.KindPre, Phase: engine.PhasePre, Call: "c", Action: &engine.Action{Fingerprint: "f"}}
	h.Append(pre)
	h.Append(&engine.Record{N: 2, Kind: engine.KindPost, Phase: engine.PhasePost, Call: "c",
		Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.OutcomeFailed}}})
	return history.NewInput(pre, h, engine.View{})
}

func stopped() engine.Input {
	h := history.New()
	h.Append(&engine.Record{N: 1, Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlStop}})
	return history.NewInput(&engine.Record{Phase: engine.PhasePrompt}, h, engine.View{})
}

func executedDiffers() engine.Input {
	h := history.New()
	h.Append(&engine.Record{N: 1, Kind: engine.KindPre, Phase: engine.PhasePre, Call: "c", SHA: &engine.SHA{Args: strings.Repeat("a", 64)}})
	return history.NewInput(&engine.Record{Phase: engine.PhasePost, Call: "c", SHA: &engine.SHA{Args: strings.Repeat("b", 64)}}, h, engine.View{})
}

func allowedByPerson() engine.Input {
	h := history.New()
	h.Lenient = true
	h.Append(&engine.Record{N: 1, Kind: engine.KindControl, Control: &engine.Control{Do: engine.ControlAllowOnce, Print: "f", By: "kim"}})
	return history.NewInput(&engine.Record{Phase: engine.PhasePre, Event: &engine.EventFacts{}, Action: &engine.Action{Fingerprint: "f"}}, h, engine.View{})
}

// There is a decision for whatever may come: without one a call is denied.
func TestThereIsAlwaysADecision(t *testing.T) {
	e, _ := shipped(t)
	host, err := Compile(context.Background(), e.Modules(), e.Data)
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range inputs() {
		in.History.Follows = [][]string{{"builds_on"}, {}, {"repeats", "builds_on"}, {"contradicts", "repeats"}}[i%4]
		in.History.Presupposes = []engine.Precondition{{What: "a", Met: i%3 == 0}}
		in.History.FirstTime = i%5 == 0
		in.Facts = slices.DeleteFunc(in.Facts, func(name string) bool { return name == engine.FactUnmet })
		if i%3 != 0 {
			in.Facts = append(in.Facts, engine.FactUnmet)
		}
		for _, phase := range []engine.Phase{engine.PhasePre, engine.PhasePost, engine.PhasePrompt} {
			for j := range 4 {
				in.Phase, in.Action.Types = phase, []engine.Type{engine.Type(engine.Types()[(i+3*j)%len(engine.Types())])}
				checkDecision(t, host, &in)
			}
		}
	}
}

func checkDecision(t *testing.T, host *Host, in *engine.Input) {
	t.Helper()
	d, err := host.Decide(context.Background(), in, nil)
	if err != nil {
		t.Fatalf("%+v: %v", in, err)
	}
	weighed := in.Phase == engine.PhasePre || len(d.Rules) > 0
	if d.Reason == "" || weighed && (d.Risk == nil || d.Rationality == nil || d.SideEffects == nil || d.Confidence == 0) {
		t.Fatalf("%+v: %+v", in, d)
	}
	if d.Decision != engine.Allow && (len(d.Alternatives) == 0 || len(d.Reasons) == 0 || d.Text == "") {
		t.Fatalf("%+v: %s without an explanation: %+v", in, d.Decision, d)
	}
}

// The same input gives the same decision, however often and next to what.
func TestDecisionsRepeat(t *testing.T) {
	e, _ := shipped(t)
	var first []engine.Decision
	for range 3 {
		host, err := Compile(context.Background(), e.Modules(), e.Data)
		if err != nil {
			t.Fatal(err)
		}
		var all []engine.Decision
		for _, in := range inputs() {
			d, err := host.Decide(context.Background(), &in, nil)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		}
		if first == nil {
			first = all
		}
		if !reflect.DeepEqual(first, all) {
			t.Fatal(cmp.Diff(first, all))
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	base, err := bundles.Default()
	if err != nil {
		b.Fatal(err)
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		b.Fatal(err)
	}
	host, err := Compile(context.Background(), e.Modules(), e.Data)
	if err != nil {
		b.Fatal(err)
	}
	read := engine.Effect{Kind: engine.EffectFileRead, Short: "./a", Certainty: engine.CertaintyExact, Location: engine.LocationInside}
	lost := engine.Effect{Kind: engine.EffectFileDelete, Short: "~/a", Certainty: engine.CertaintyExact, Location: engine.LocationHome, Recursive: true}
	for name, in := range map[string]engine.Input{
		"read":   call(engine.Action{Types: []engine.Type{engine.TypeFileRead}, Effects: []engine.Effect{read}}),
		"denied": call(engine.Action{Types: []engine.Type{engine.TypeFileDeletion}, Effects: []engine.Effect{lost}}),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := host.Decide(context.Background(), &in, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
