package rego

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/agent-reviewer/reviewer/engine"
)

const tested = `package policies.user

findings contains "drop" if {
	some o in input.operands
	_bad(o)
}

_bad(o) if o == "drop"

_bad(o) if {
	startswith(o, "rm")
	count(o) > 3
}

level := "high" if {
	count(input.operands) > 2
} else := "low"
`

const tests = `package policies.user_test

import data.policies.user

test_found if user.findings with input as {"operands": ["drop"]}

test_each[name] if {
	some name, case in {
		"one": {"operands": ["drop"], "want": 1},
		"none/at all": {"operands": ["x"], "want": 1},
	}
	count(user.findings) == case.want with input as case
}

test_level if { user.level == "low" with input as {"operands": []} }

test_level if {
	print("the second")
	found := user.level with input as {"operands": [1, 2, 3]}
	found == data.want
}

todo_test_later if false

test_fails_to_evaluate if to_number(data.want) == 1

test_endless if {
	every x in numbers.range(1, 100000) { every y in numbers.range(1, 100000) { x + y > 0 } }
}
`

func suiteOf(t *testing.T) *TestSuite {
	t.Helper()
	s, err := CompileTests(map[string]string{"user/a.rego": tested}, map[string]string{"user/a_test.rego": tests}, map[string]any{"want": "low"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ran(t *testing.T, o TestOptions) []TestResult {
	t.Helper()
	o.Timeout = time.Second
	list, err := suiteOf(t).Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// outcome is a result in a line.
func outcome(r TestResult) string {
	what := "ok"
	switch {
	case r.Todo:
		what = "todo"
	case r.Err != nil:
		what = r.Err.Error()
	case r.Failed:
		what = "fails"
		if r.At != nil {
			what += " at " + r.At.Text
		}
	}
	return strings.TrimPrefix(r.Name, "data.policies.user_test.") + ": " + what
}

func outcomes(list []TestResult) []string {
	var all []string
	for _, r := range list {
		all = append(all, outcome(r))
	}
	return all
}

// Each test and each case of one is a result, in the order in which they are
// written; what loops and what breaks off fail by their names.
func TestTestSuite(t *testing.T) {
	want := []string{
		"test_found: ok",
		"test_each/none/at all: fails at count(user.findings) == case.want with input as case",
		"test_each/one: ok",
		"test_level: ok",
		"test_level#01: fails at found == data.want",
		"todo_test_later: todo",
		`test_fails_to_evaluate: user/a_test.rego:25: eval_builtin_error: to_number: strconv.ParseFloat: parsing "low": invalid syntax`,
		"test_endless: stopped after 1s: it does not terminate, or needs more time (--timeout)",
	}
	for _, parallel := range []int{1, 4} {
		list := ran(t, TestOptions{Parallel: parallel, Coverage: NewCoverage()})
		if diff := cmp.Diff(outcomes(list), want); diff != "" {
			t.Errorf("%d at a time: %s", parallel, diff)
		}
		second := list[4]
		if second.At.Line != 20 || second.At.Col != 2 || second.Output != "the second\n" || second.File != "user/a_test.rego" || second.Line != 17 {
			t.Errorf("the test that fails is %+v at %+v", second, second.At)
		}
		if values := strings.Join(second.At.Values, "\n"); !strings.Contains(values, `"high"`) {
			t.Errorf("the values are\n%s", values)
		}
		if second.Trace != nil {
			t.Error("a trace that nobody asked for")
		}
	}
}

const several = `package policies.user_test

test_all[kind][case] if {
	some kind, list in {"even": [0, 2], "odd": [1, 3]}
	some i, n in list
	case := sprintf("%d", [i])
	n % 2 == {"even": 0, "odd": 1}[kind]
}

test_some[kind][case] if {
	some kind, list in {"even": [0, 3], "odd": [1]}
	some i, n in list
	case := sprintf("%d", [i])
	n % 2 == {"even": 0, "odd": 1}[kind]
}

test_numbers[n] if {
	some n in [1, 2]
	n > 0
}

test_breaks_off[name] if {
	some name in ["a"]
	to_number(name) > 0
}

test_no_case[name] if {
	some name in ["a"]
	name == data.want
}

test_no_truth := "yes"

test_printed[name] if {
	some name in ["a"]
	print("said", name)
}
`

// What is evaluated without OPA's runner comes out as OPA's runner has it, and
// what is left to it is little.
func TestQuickly(t *testing.T) {
	ctx := context.Background()
	s, err := CompileTests(map[string]string{"user/a.rego": tested},
		map[string]string{"user/a_test.rego": tests, "user/b_test.rego": several}, map[string]any{"want": "low"})
	if err == nil {
		err = s.compile(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	o := TestOptions{Timeout: time.Second}
	quick, left, err := s.quickly(ctx, s.Names(), o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range quick {
		names = append(names, fullName(r))
	}
	theirs, err := s.run(ctx, names, o, false)
	if err != nil {
		t.Fatal(err)
	}
	plain := func(list []*tester.Result) []string {
		var all []string
		for _, r := range list {
			for _, one := range results(r, nil, o) {
				all = append(all, fmt.Sprintf("%s:%d %s %q", one.File, one.Line, outcome(one), one.Output))
			}
		}
		slices.Sort(all)
		return all
	}
	if diff := cmp.Diff(plain(quick), plain(theirs)); diff != "" {
		t.Errorf("differently from OPA's runner (-quick +OPA):\n%s", diff)
	}
	slices.Sort(left)
	want := []string{"test_each", "test_level#01", "test_no_case", "test_no_truth", "test_numbers", "test_some"}
	for i, name := range left {
		left[i] = strings.TrimPrefix(name, "data.policies.user_test.")
	}
	if diff := cmp.Diff(left, want); diff != "" {
		t.Errorf("left to OPA's runner: %s", diff)
	}
}

// Whatever is selected is what comes back, down to a case.
func TestSelected(t *testing.T) {
	for pattern, want := range map[string][]string{
		"test_each/one":  {"test_each/one: ok"},
		"test_found":     {"test_found: ok"},
		"test_level":     {"test_level: ok", "test_level#01: fails at found == data.want"},
		"nothing":        nil,
		"todo_test_late": {"todo_test_later: todo"},
	} {
		list := ran(t, TestOptions{Selected: func(name string) bool { return strings.Contains(name, pattern) }, Trace: true})
		if got := outcomes(list); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	list := ran(t, TestOptions{Selected: func(name string) bool { return strings.Contains(name, "none/at all") }, Trace: true})
	if len(list) != 1 || !strings.Contains(strings.Join(list[0].Trace, "\n"), "Enter data.policies.user.findings") {
		t.Errorf("%+v", list)
	}
}

// Lines that tests do not reach are listed, and lines of tests are not among them.
func TestCoverage(t *testing.T) {
	c := NewCoverage()
	ran(t, TestOptions{Coverage: c, Selected: func(name string) bool { return !strings.HasSuffix(name, "test_endless") }})
	lines, err := c.Lines(map[string]string{"user/a.rego": tested})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Lines{"user/a.rego": {Covered: []int{3, 5, 8, 11, 15, 16, 17}, Missed: []int{10, 12}}}
	if diff := cmp.Diff(lines, want); diff != "" {
		t.Error(diff)
	}
}

// A host notes what its decisions reach, and decides the same.
func TestCoverHost(t *testing.T) {
	module := map[string]string{"base/a.rego": `package reviewer

decision := {"decision": "block", "enforced": "block"} if {
	input.phase == "pre"
} else := {"decision": "allow", "enforced": "allow"}
`}
	ctx := context.Background()
	h, err := Compile(ctx, module, map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	covered, err := h.Reopen(ctx, map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	c := NewCoverage()
	covered.Cover(c)
	in := call(engine.Action{})
	a, errA := h.Decide(ctx, &in, nil)
	b, errB := covered.Decide(ctx, &in, nil)
	if diff := cmp.Diff(a, b); diff != "" || errA != nil || errB != nil {
		t.Errorf("%s (%v, %v)", diff, errA, errB)
	}
	lines, err := c.Lines(module)
	if want := (Lines{Covered: []int{3, 4}, Missed: []int{5}}); err != nil || cmp.Diff(lines["base/a.rego"], want) != "" {
		t.Errorf("%+v, want %+v (%v)", lines, want, err)
	}
}

// All that does not compile is said at once, under production's restrictions.
func TestTestsDoNotCompile(t *testing.T) {
	for name, test := range map[string]struct{ tests, want string }{
		"syntax":    {"package a_test\n\ntest_a if {", "user/a_test.rego:3: rego_parse_error"},
		"unsafe":    {"package a_test\n\ntest_a if x == 1", "user/a_test.rego:3: rego_unsafe_var_error"},
		"forbidden": {"package a_test\n\ntest_a if time.now_ns() > 0", "undefined function time.now_ns: not available, since a decision that uses it could not be recomputed"},
		"a cycle":   {"package a_test\n\ntest_a if test_b\n\ntest_b if test_a", "rego_recursion_error"},
	} {
		s, err := CompileTests(map[string]string{"user/a.rego": tested}, map[string]string{"user/a_test.rego": test.tests}, map[string]any{})
		if err == nil {
			_, err = s.Run(context.Background(), TestOptions{})
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// A test does not run if the names of its cases are written in it and none is selected.
func TestChosenByCases(t *testing.T) {
	suite, err := CompileTests(nil, map[string]string{"own/a_test.rego": `package a_test

import rego.v1

test_plain if true

test_written[name] if {
	some name, case in {"first": 1, "second": 2}
	case > 0
}

test_elsewhere[name] if {
	some name, case in object.union({"first": 1}, {})
	case > 0
}

test_in_two_places[name] if {
	some name, case in {"third": 1}
	case > 0
}

test_in_two_places[name] if {
	some name in ["fourth"]
}

test_nested[kind][name] if {
	some kind, cases in {"fifth": {"first": 1}}
	some name, _ in cases
}
`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	unknown := []string{"data.a_test.test_elsewhere", "data.a_test.test_in_two_places", "data.a_test.test_nested"}
	for pattern, want := range map[string][]string{
		"plain$":   {"data.a_test.test_plain"},
		"second":   {"data.a_test.test_written"},
		"third":    nil,
		"cases/":   nil,
		"written":  {"data.a_test.test_written"},
		"written$": {"data.a_test.test_written"},
		"/first$":  {"data.a_test.test_written"},
	} {
		want = append(want, unknown...)
		got := suite.chosen(TestOptions{Selected: regexp.MustCompile(pattern).MatchString})
		slices.Sort(got)
		slices.Sort(want)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}
