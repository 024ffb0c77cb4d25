package rego

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine/mutant"
)

func labOf(t *testing.T, module string, tests ...string) *MutationLab {
	t.Helper()
	beside := map[string]string{}
	for i, src := range tests {
		beside[fmt.Sprintf("base/%d_test.rego", i)] = src
	}
	l, err := NewLab(map[string]string{"base/a.rego": module}, beside, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func changesOf(l *MutationLab) []string {
	var all []string
	for _, m := range l.Changes() {
		all = append(all, fmt.Sprintf("%d:%d %s [%s] %s -> %s", m.Line, m.Col, m.Operator, m.Rule, m.Before, m.After))
	}
	return all
}

// What is changed, operator by operator.
func TestMutants(t *testing.T) {
	for name, test := range map[string]struct {
		module string
		want   []string
	}{
		"a rule that fires": {
			`fires contains "shop.delete" if {
	"deletes" in input.facts
	input.phase == "pre"
	some e in input.action.effects
	not e.known
}`,
			[]string{
				`3:1 rule.drop [shop.delete] fires contains "shop.delete" -> (never)`,
				`4:2 literal [shop.delete] "deletes" -> "deletes~"`,
				`4:2 expression.not [shop.delete] "deletes" in input.facts -> not "deletes" in input.facts`,
				`5:2 expression.drop [shop.delete] input.phase == "pre" -> true`,
				`5:2 comparison [shop.delete] input.phase == "pre" -> input.phase != "pre"`,
				`5:17 literal [shop.delete] "pre" -> "request"`,
				`7:2 expression.drop [shop.delete] not e.known -> true`,
				`7:2 expression.not [shop.delete] not e.known -> e.known`,
			},
		},
		"the only fact": {
			`fires contains "x" if "changes" in input.facts`,
			[]string{
				`3:1 rule.drop [x] fires contains "x" -> (never)`,
				`3:23 expression.drop [x] "changes" in input.facts -> true`,
				`3:23 literal [x] "changes" -> "changes~"`,
				`3:23 expression.not [x] "changes" in input.facts -> not "changes" in input.facts`,
			},
		},
		"else and default": {
			"default level := \"low\"\n\nlevel := \"high\" if {\n\tinput.n > 1.5\n} else := \"medium\" if {\n\tinput.n > 1\n}",
			[]string{
				`3:1 rule.drop [reviewer.a.level] default level := "low" -> (nothing)`,
				`3:18 literal [reviewer.a.level] "low" -> "low~"`,
				`5:1 rule.drop [reviewer.a.level] level := "high" -> (never)`,
				`5:10 literal [reviewer.a.level] "high" -> "high~"`,
				`6:2 expression.drop [reviewer.a.level] input.n > 1.5 -> true`,
				`6:2 comparison [reviewer.a.level] input.n > 1.5 -> input.n >= 1.5`,
				`6:2 expression.not [reviewer.a.level] input.n > 1.5 -> not input.n > 1.5`,
				`6:12 literal [reviewer.a.level] 1.5 -> 1.6`,
				`7:3 rule.drop [reviewer.a.level] else := "medium" -> (never)`,
				`7:3 else.drop [reviewer.a.level] else := "medium" -> (nothing)`,
				`7:11 literal [reviewer.a.level] "medium" -> "medium~"`,
				`8:2 expression.drop [reviewer.a.level] input.n > 1 -> true`,
				`8:2 comparison [reviewer.a.level] input.n > 1 -> input.n >= 1`,
				`8:2 expression.not [reviewer.a.level] input.n > 1 -> not input.n > 1`,
				`8:12 literal [reviewer.a.level] 1 -> 2`,
			},
		},
		"what is written out": {
			"names := {\"a\", \"b\"}\n\norder := [\"x\", {\"deep\": true}]\n\nsaid := {w | some w in input.words; w != \"no\"}",
			[]string{
				`3:1 rule.drop [reviewer.a.names] names := {"a", "b"} -> (never)`,
				`3:11 element.drop [reviewer.a.names] "a" -> (removed)`,
				`3:16 element.drop [reviewer.a.names] "b" -> (removed)`,
				`5:1 rule.drop [reviewer.a.order] order := ["x", {"deep": true}] -> (never)`,
				`5:11 element.drop [reviewer.a.order] "x" -> (removed)`,
				`5:16 element.drop [reviewer.a.order] {"deep": true} -> (removed)`,
				`5:17 element.drop [reviewer.a.order] "deep" -> (removed)`,
				`5:25 literal [reviewer.a.order] true -> false`,
				`7:1 rule.drop [reviewer.a.said] said := {w | some w in input.words; w != "no"} -> (never)`,
				`7:37 expression.drop [reviewer.a.said] w != "no" -> true`,
				`7:37 comparison [reviewer.a.said] w != "no" -> w == "no"`,
				`7:42 literal [reviewer.a.said] "no" -> "no~"`,
			},
		},
	} {
		got := changesOf(labOf(t, "package reviewer.a\n\n"+test.module))
		slices.Sort(got)
		slices.Sort(test.want)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

const reachModule = `package reviewer

import data.limits

default level := "none"

level := "high" if {
	input.n > limits.high
} else := "low" if {
	input.n > limits.low
	not _excused
}

_excused if input.who in {"anna", "bert"}

_excused if {
	some w in input.words
	_short(w)
}

_short(w) if count(w) < 3

_short(w) if {
	input.n < 100
	w == "okay"
}

found contains "words" if {
	"words" in object.keys(input)
	every w in input.words { w != "bad" }
}

found contains "number" if input.n == 7

found contains name if {
	some name, at in {"tens": 10, "hundreds": 100}
	input.n >= at
}

sizes[w] := count(w) if some w in input.words

decision := {
	"level": level, "found": found, "sizes": sizes,
	"sum": sum([n | some w in input.words; n := count(w); n > 1]),
	"text": concat(", ", sort([w | some w in input.words])),
}
`

func reachHost(t *testing.T) *Host {
	t.Helper()
	h, err := Compile(context.Background(), map[string]string{"base/a.rego": reachModule}, map[string]any{"limits": map[string]any{"high": 50, "low": 5}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// notesOf evaluates the decision for inputs of all kinds.
func notesOf(t *testing.T, h *Host) []*Note {
	t.Helper()
	var all []*Note
	for _, who := range []string{"anna", "zoe"} {
		for _, n := range []int{0, 6, 7, 10, 51, 100} {
			for _, words := range [][]any{{}, {"bad"}, {"ok", "good"}, {"okay"}} {
				v, err := ast.InterfaceToValue(map[string]any{"who": who, "n": n, "words": words})
				if err != nil {
					t.Fatal(err)
				}
				note := &Note{seen: map[reachedAt]bool{}, input: func(*Host) ast.Value { return v }}
				if err := note.take(context.Background(), Entry, h.compiler, h, v); err != nil {
					t.Fatal(err)
				}
				all = append(all, note)
			}
		}
	}
	return all
}

// What a change is said not to matter to is reproduced with it: that is
// what lets its tests be left out. And a change does matter to something.
func TestReachLeavesNothingOut(t *testing.T) {
	ctx, h := context.Background(), reachHost(t)
	l, err := NewLab(map[string]string{"base/a.rego": reachModule}, nil, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var reach Reach
	notes := notesOf(t, h)
	for i, n := range notes {
		reach.Add(i, n)
	}
	tried, mattered := 0, 0
	for _, m := range l.Changes() {
		c, err := l.Compile(m)
		if err != nil {
			continue
		}
		other, err := c.Host(ctx, h)
		if err != nil {
			t.Fatal(err)
		}
		tried++
		of := reach.Of(m)
		for i, n := range notes {
			same := n.Same(ctx, other, Relevance{true, true})
			slow := *other
			slow.stale = nil
			if whole := n.Same(ctx, &slow, Relevance{true, true}); whole != same {
				t.Errorf("%d:%d %s %s -> %s: the same %t, but %t where everything is evaluated, for %v", m.Line, m.Col, m.Operator, m.Before, m.After, same, whole, n.input(h))
			}
			if !same && !slices.Contains(of, i) {
				t.Errorf("%d:%d %s %s -> %s: matters to input %v, and is said not to", m.Line, m.Col, m.Operator, m.Before, m.After, n.input(h))
			}
			if !same {
				mattered++
			}
		}
	}
	if tried < 60 || mattered < 500 {
		t.Errorf("%d changes were tried, and made a difference %d times", tried, mattered)
	}
}

// Trying changes leaves the modules as they are.
func TestMutantsArePutBack(t *testing.T) {
	l := labOf(t, reachModule)
	before := l.changing["base/a.rego"].String()
	for _, m := range l.Changes() {
		_, _ = l.Compile(m)
		if after := l.changing["base/a.rego"].String(); after != before {
			t.Fatalf("%d:%d %s has left the module changed:\n%s", m.Line, m.Col, m.Operator, cmp.Diff(before, after))
		}
	}
}

// A Rego test that reaches a change notices it, or not; one of two tests with the
// same name does not hide the other.
func TestHolds(t *testing.T) {
	ctx, h := context.Background(), reachHost(t)
	l, err := NewLab(map[string]string{"base/a.rego": reachModule}, map[string]string{"base/a_test.rego": `package reviewer_test

import data.reviewer

test_a if reviewer.level == "none" with input as {"n": 1}
test_a if reviewer.level == "high" with input as {"n": 51}
test_cases[n] if {
	some n in ["6", "7"]
	reviewer.level == "low" with input as {"n": to_number(n), "who": "zoe", "words": []}
}
todo_test_b if false
`}, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"data.reviewer_test.test_a", "data.reviewer_test.test_a_2", "data.reviewer_test.test_cases"}
	if diff := cmp.Diff(want, l.Tests()); diff != "" {
		t.Fatal(diff)
	}
	whole, err := l.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	var noticed []string
	for _, m := range l.Changes() {
		if m.Operator != mutant.ChangeLiteral || m.Line > 10 {
			continue
		}
		c, err := l.Compile(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range l.Tests() {
			n, err := whole.Test(ctx, h, name)
			if err != nil {
				t.Fatal(err)
			}
			if holds, err := n.Holds(ctx, c, h); err != nil || !holds {
				noticed = append(noticed, m.Before+" by "+strings.TrimPrefix(name, "data.reviewer_test."))
			}
		}
	}
	if diff := cmp.Diff([]string{`"none" by test_a`, `"high" by test_a_2`, `"low" by test_cases`}, noticed); diff != "" {
		t.Error(diff)
	}
}

// What a module asks of data, and what it does not.
func TestDataThatIsAsked(t *testing.T) {
	c, err := labOf(t, reachModule).Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := c.Data()
	for path, want := range map[string]bool{"/limits": true, "/limits/high": true, "/limits/high/deeper": true, "/limits/other": false, "/lim": false, "/elsewhere": false, "/reviewer/audit": false} {
		if got := asked(path); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}

// Texts and scores are left out of a decision where nobody looks at them; the outcome of
// the call, and by which rules, never is.
func TestWhatMatters(t *testing.T) {
	const decision = `{"decision": "ask", "reason": "a", "risk": {"score": 1}, "rules": [{"id": "x", "message": "m"}], "otherwise": {"effect": "ask", "text": "t"}}`
	for what, want := range map[Relevance]string{
		{}:                          `{"decision": "ask", "otherwise": {"effect": "ask"}, "rules": [{"id": "x"}]}`,
		{Scores: true}:              `{"decision": "ask", "otherwise": {"effect": "ask"}, "risk": {"score": 1}, "rules": [{"id": "x"}]}`,
		{Texts: true}:               `{"decision": "ask", "otherwise": {"effect": "ask", "text": "t"}, "reason": "a", "rules": [{"id": "x", "message": "m"}]}`,
		{Texts: true, Scores: true}: decision,
	} {
		got := what.of(ast.MustParseTerm(decision).Value)
		if wanted := ast.MustParseTerm(want).Value; got.Compare(wanted) != 0 {
			t.Errorf("%+v: %v, want %v", what, got, wanted)
		}
	}
}

// A change is compiled with stubs of what its module refers to. The result is the same as if all
// modules were compiled with it, but for the numbers of the compiler's variables.
func TestChangeCompiledAlone(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLab(e.Modules(), nil, func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(l.Changes()); i += 1 + len(l.Changes())/20 {
		m := l.Changes()[i]
		modules := maps.Clone(l.modules)
		modules[m.File] = l.apply(m)
		whole := completed(ast.NewCompiler().WithCapabilities(l.caps).WithSkipStages(leftOut...))
		whole.Compile(modules)
		alone, err := l.Compile(m)
		if whole.Failed() || err != nil {
			if !whole.Failed() || err == nil {
				t.Errorf("%s:%d: %s -> %s: %v, with all modules %v", m.File, m.Line, m.Before, m.After, err, whole.Errors)
			}
			continue
		}
		if diff := cmp.Diff(renumbered(whole.Modules[m.File]), renumbered(alone.compiler.Modules[m.File])); diff != "" {
			t.Errorf("%s:%d: %s -> %s: %s", m.File, m.Line, m.Before, m.After, diff)
		}
	}
}

// renumbered writes a compiled module with the compiler's variables numbered as they occur.
func renumbered(m *ast.Module) string {
	names := map[string]string{}
	return regexp.MustCompile(`__local\d+__`).ReplaceAllStringFunc(m.String(), func(name string) string {
		if names[name] == "" {
			names[name] = fmt.Sprintf("local%d", len(names))
		}
		return names[name]
	})
}
