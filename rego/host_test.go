package rego

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// policy is a module of the base layer that decides what its text says.
func policy(body string) map[string]string {
	return map[string]string{"base/a.rego": "package reviewer\n" + body}
}

const allows = `
decision := {"decision": "allow", "enforced": "allow"}
`

func compiled(t *testing.T, modules map[string]string, data map[string]any) *Host {
	t.Helper()
	h, err := Compile(context.Background(), modules, data)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestDecide(t *testing.T) {
	h := compiled(t, policy(`
decision := {
	"decision": "warn", "enforced": "warn", "text": input.agent,
	"reasons": [data.reviewer.words[input.phase]], "rules": [{"id": f, "decision": "warn"} | some f in input.findings],
}
`), map[string]any{"reviewer": map[string]any{"words": map[string]any{"pre": "because"}}})
	got, err := h.Decide(context.Background(), &engine.Input{Phase: engine.PhasePre, Agent: "main"}, []engine.Finding{{ID: "a"}, {ID: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Decision{
		Decision: engine.Warn, Enforced: engine.Warn, Text: "main", Reasons: []string{"because"},
		Rules: []engine.RuleResult{{ID: "a", Decision: engine.Warn}, {ID: "b", Decision: engine.Warn}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Modules that were compiled before are not compiled again, and decide by the data that they are
// opened over; other modules, and a broken one, are never taken for them. All at once.
func TestCompilationsAreShared(t *testing.T) {
	decision := func(agent string, n int) map[string]string {
		return policy(fmt.Sprintf(`decision := {"decision": "warn", "enforced": "warn", "text": sprintf("%s %d %%v", [data.reviewer.x])}`, agent, n))
	}
	if a, b := compiled(t, decision("a", 0), nil), compiled(t, decision("a", 0), nil); a.compiler != b.compiler {
		t.Error("the same modules were compiled twice")
	}
	if h, err := CompileKnown(context.Background(), policy("decision := 1"), nil); err != nil || h.compiler == compiled(t, policy("decision := 1"), nil).compiler {
		t.Errorf("modules that were compiled without checks count as checked, %v", err)
	}
	var all sync.WaitGroup
	for i := range 4 * maxCompilations {
		all.Go(func() {
			for _, n := range []int{i % (maxCompilations + 2), 0} {
				h, err := Compile(context.Background(), decision("n", n), map[string]any{"reviewer": map[string]any{"x": i}})
				if err != nil {
					t.Error(err)
					return
				}
				got, err := h.Decide(context.Background(), &engine.Input{}, nil)
				if want := fmt.Sprintf("n %d %d", n, i); err != nil || got.Text != want {
					t.Errorf("%q, want %q, %v", got.Text, want, err)
				}
			}
		})
	}
	all.Wait()
	for range 2 {
		if _, err := Compile(context.Background(), policy("decision := nothing"), nil); err == nil {
			t.Error("a broken module was compiled")
		}
	}
	if len(compilations.kept) > maxCompilations {
		t.Errorf("%d compilations are kept", len(compilations.kept))
	}
}

// A condition that could not be evaluated is listed: its rule has fired already.
func TestDecideListsFailedConditions(t *testing.T) {
	h := compiled(t, policy(allows), nil)
	got, err := h.Decide(context.Background(), &engine.Input{}, []engine.Finding{{ID: "a"}, {ID: "b", Error: "no such key"}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]engine.RuleError{{Rule: "b", Message: "no such key"}}, got.Errors); d != "" {
		t.Error(d)
	}
}

// What could come out otherwise in another run, place or time is not in the
// language at all.
func TestForbiddenFunctions(t *testing.T) {
	for _, call := range []string{
		`http.send({"method": "get", "url": "http://127.0.0.1"})`, `time.now_ns()`, `rand.intn("a", 5)`, `uuid.rfc4122("a")`,
		`opa.runtime()`, `net.lookup_ip_addr("localhost")`, `rego.parse_module("a", "package a")`, `trace("a")`,
		`io.jwt.decode_verify("a", {})`, `io.jwt.encode_sign({}, {}, {})`, `io.jwt.encode_sign_raw("", "", "")`,
		`json.match_schema({}, {})`, `json.verify_schema({})`,
		`crypto.x509.parse_and_verify_certificates("a")`, `crypto.x509.parse_and_verify_certificates_with_options("a", {})`,
		`time.clock([0, "Local"])`, `time.date([0, "Local"])`, `time.weekday([0, "Local"])`, `time.format([0, "Local"])`,
		`time.diff([0, "Local"], 0)`, `time.add_date([0, "Local"], 0, 0, 1)`, `time.parse_ns("RFC822", "02 Jan 06 15:04 CET")`,
	} {
		name, _, _ := strings.Cut(call, "(")
		_, err := Compile(context.Background(), policy(allows+"x := "+call), nil)
		if err == nil || !strings.Contains(err.Error(), "base/a.rego:4") || !strings.Contains(err.Error(), "undefined function "+name+": not available") {
			t.Errorf("%s: %v, want a compile error that names it", call, err)
		}
	}
}

func TestAllowedFunctions(t *testing.T) {
	for _, call := range []string{
		`regex.match("a+", input.agent)`, `time.parse_rfc3339_ns("2026-01-01T00:00:00Z")`, `time.parse_duration_ns("5m")`,
		`glob.match("*.go", [], input.agent)`, `net.cidr_contains("10.0.0.0/8", "10.1.1.1")`, `crypto.sha256(input.agent)`, `semver.compare("1.0.0", "1.0.1")`,
	} {
		if _, err := Compile(context.Background(), policy(allows+"x := "+call), nil); err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for name, test := range map[string]struct {
		modules map[string]string
		want    []string
	}{
		"syntax": {policy("x := ["), []string{"base/a.rego:2", "rego_parse_error"}},
		"two files": {
			map[string]string{"base/a.rego": "package reviewer\nx := [", "user/b.rego": "package policies.user\ny := {"},
			[]string{"base/a.rego:2", "user/b.rego:2"},
		},
		"more than ten":   {policy(strings.Repeat("x if nothing()\n", 12)), []string{"base/a.rego:2:", "base/a.rego:13:"}},
		"unsafe variable": {policy("x := y"), []string{"base/a.rego:2", "unsafe"}},
		"unused variable": {policy("x if { y := 1 }"), []string{"base/a.rego:2", "assigned var y unused"}},
		"unused import":   {policy("import data.reviewer.b\n" + allows), []string{"base/a.rego:2", "unused"}},
		"base elsewhere": {
			map[string]string{"base/x/a.rego": "# a comment\npackage other\nx := 1"},
			[]string{"base/x/a.rego:2: package other is outside reviewer, the root of the base layer"},
		},
		"a name that begins alike": {
			map[string]string{"base/a.rego": "package reviewers\nx := 1"},
			[]string{"package reviewers is outside reviewer"},
		},
		"user in the base's root": {
			map[string]string{"user/a.rego": "package reviewer.fired\nx := 1"},
			[]string{"user/a.rego:1: package reviewer.fired is outside policies.user, the root of the user layer"},
		},
		"user in the project's root": {
			map[string]string{"user/a.rego": "package policies.project\nx := 1"},
			[]string{"package policies.project is outside policies.user"},
		},
		"no decision": {policy("x := 1"), nil}, // found when it is asked
		"empty file":  {map[string]string{"base/a.rego": ""}, []string{"base/a.rego"}},
	} {
		_, err := Compile(context.Background(), test.modules, nil)
		if test.want == nil {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error is %v, want %q in it", name, err, want)
			}
		}
	}
}

// Nothing is decided where the policy does not say exactly one thing.
func TestDecideErrors(t *testing.T) {
	for name, test := range map[string]struct{ body, want string }{
		"no decision":       {"x := 1", "does not define data.reviewer.decision"},
		"not for this":      {`decision := {"decision": "allow", "enforced": "allow"} if input.phase == "post"`, "does not define data.reviewer.decision"},
		"two decisions":     {`decision := {"decision": "allow", "enforced": x} if some x in ["allow", "block"]`, "eval_conflict_error"},
		"two rules at odds": {"decision := {\"decision\": \"allow\", \"enforced\": x} if { x := f(1) }\nf(y) := \"allow\" if y > 0\nf(y) := \"block\" if y < 2", "eval_conflict_error"},
		"no object":         {"decision := 7", "is not an object"},
		"a set":             {`decision contains "allow"`, "is not an object"},
	} {
		h := compiled(t, policy(test.body), nil)
		d, err := h.Decide(context.Background(), &engine.Input{Phase: engine.PhasePre}, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if d.Decision == engine.Allow {
			t.Errorf("%s: allowed in spite of an error", name)
		}
	}
}

func TestDecideEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h := compiled(t, policy(allows), nil)
	if d, err := h.Decide(ctx, &engine.Input{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %+v, %v", d, err)
	}
	endless := compiled(t, policy(`
decision := {"decision": "allow", "enforced": "allow"} if {
	some x in numbers.range(1, 5000)
	some y in numbers.range(1, 5000)
	x * y < 0
}
`), nil)
	ctx, cancel = context.WithCancel(context.Background())
	go cancel()
	if _, err := endless.Decide(ctx, &engine.Input{}, nil); err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Errorf("a context that ends meanwhile: %v", err)
	}
}

// Many calls at once, of which some fail, do not disturb each other.
func TestDecideConcurrently(t *testing.T) {
	h := compiled(t, policy(`
decision := {"decision": d, "enforced": d, "text": input.agent, "rules": [{"id": r, "decision": "block"} | some r in fires]} if {
	d := {true: "block", false: "allow"}["x" in fires]
}
fires contains "x" if regex.match(sprintf("^%s$", [input.agent]), "odd")
`), map[string]any{"reviewer": map[string]any{"catalog": map[string]any{"x": map[string]any{"decision": "block"}}}})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			agent := []string{"odd", "even", "("}[i%3]
			d, err := h.Decide(context.Background(), &engine.Input{Agent: agent}, nil)
			want := []engine.Verdict{engine.Block, engine.Allow, engine.Block}[i%3]
			if err != nil || d.Decision != want || (i%3 == 2) != (len(d.Errors) == 1) {
				t.Errorf("%s: %+v, %v", agent, d, err)
			}
		})
	}
	wg.Wait()
}
