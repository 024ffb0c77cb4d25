package rego

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/open-policy-agent/opa/v1/ast"
)

// entry decides by the strictest rule that fires, as the default policy does.
const entry = `package reviewer

import data.reviewer.fired

order := ["allow", "warn", "modify", "ask", "block"]

decided := order[max(array.concat([0], [i | some r in fired.rules; some i, v in order; v == r.decision]))]

decision := {"decision": decided, "enforced": answered, "rules": fired.rules, "reason": "a reason", "text": "a text", "alternatives": ["a way"]}

answered := "allow" if data.reviewer.enforcement == "observe" else := decided
`

const firedModule = `package reviewer.fired

rules contains {"id": id, "decision": data.reviewer.catalog[id].decision} if some id in fires

rules contains {"id": object.get(f, "id", ""), "decision": "warn"} if some f in data.policies.user.findings
`

func rows(verdicts map[string]string) map[string]any {
	catalog := map[string]any{}
	for id, v := range verdicts {
		catalog[id] = map[string]any{"decision": v, "severity": "high"}
	}
	return catalog
}

// failing compiles a policy whose rules are the text, over a catalogue of one
// rule of each verdict.
func failing(t *testing.T, rules string, enforcement string) *Host {
	t.Helper()
	return compiled(t,
		map[string]string{"base/a.rego": entry, "base/policy/fired.rego": firedModule, "base/rules/r.rego": "package reviewer.fired\n" + rules},
		map[string]any{"reviewer": map[string]any{
			"enforcement": enforcement,
			"catalog":     rows(map[string]string{"warns": "warn", "modifies": "modify", "asks": "ask", "blocks": "block"}),
		}, "policies": map[string]any{}})
}

func TestFailingRules(t *testing.T) {
	const number, pattern = `to_number("x")`, `regex.match("(", "x")`
	for name, test := range map[string]struct {
		rules    string
		mode     string
		decision engine.Verdict
		enforced engine.Verdict
		reason   string // beginning
		ids      []string
		failed   []string // rules of the errors
	}{
		"the rule itself": {
			rules:    `fires contains "asks" if ` + number + ` > 1`,
			decision: engine.Ask, enforced: engine.Ask, reason: "rule could not be evaluated", ids: []string{"asks"}, failed: []string{"asks"},
		},
		"a function that it calls": {
			rules:    "fires contains \"blocks\" if f(input.agent)\nf(x) if g(x) > 1\ng(x) := to_number(x)",
			decision: engine.Block, enforced: engine.Block, reason: "rule could not be evaluated", ids: []string{"blocks"}, failed: []string{"blocks"},
		},
		"a rule that it looks at": {
			rules:    "fires contains \"blocks\" if helper\nhelper if " + pattern,
			decision: engine.Block, enforced: engine.Block, reason: "rule could not be evaluated", ids: []string{"blocks"}, failed: []string{"blocks"},
		},
		"others fire too": {
			rules:    "fires contains \"warns\" if " + pattern + "\nfires contains \"asks\"",
			decision: engine.Ask, enforced: engine.Ask, reason: "a reason", ids: []string{"warns", "asks"}, failed: []string{"warns"},
		},
		"two fail": {
			rules:    "fires contains \"warns\" if " + pattern + "\nfires contains \"asks\" if " + number + " > 1",
			decision: engine.Ask, enforced: engine.Ask, ids: []string{"asks", "warns"}, failed: []string{"asks", "warns"},
		},
		"it fires by another body": {
			rules:    "fires contains \"warns\" if " + pattern + "\nfires contains \"warns\" if input.agent",
			decision: engine.Warn, enforced: engine.Warn, reason: "a reason", ids: []string{"warns"}, failed: []string{"warns"},
		},
		"into what it modifies is not known": {
			rules:    `fires contains "modifies" if ` + pattern,
			decision: engine.Block, enforced: engine.Block, ids: []string{"modifies"}, failed: []string{"modifies"},
		},
		"no row": {
			rules:    `fires contains "unknown" if ` + pattern,
			decision: engine.Block, enforced: engine.Block, ids: []string{"unknown"}, failed: []string{"unknown"},
		},
		"no name": {
			rules:    "fires contains id if { some id in [\"warns\"]; " + pattern + " }",
			decision: engine.Block, enforced: engine.Block, ids: []string{""}, failed: []string{""},
		},
		"a policy that watches": {
			rules: "fires contains \"asks\" if " + pattern + "\nfires contains \"blocks\"", mode: "observe",
			decision: engine.Block, enforced: engine.Ask, reason: "a reason", ids: []string{"asks", "blocks"}, failed: []string{"asks"},
		},
	} {
		d, err := failing(t, test.rules, test.mode).Decide(context.Background(), &engine.Input{Agent: "main"}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d.Decision != test.decision || d.Enforced != test.enforced || !strings.HasPrefix(d.Reason, test.reason) {
			t.Errorf("%s: %s, answered %s because %q", name, d.Decision, d.Enforced, d.Reason)
		}
		var failed []string
		for _, e := range d.Errors {
			failed = append(failed, e.Rule)
			if e.Message == "" {
				t.Errorf("%s: an error that says nothing", name)
			}
		}
		sorted := cmpopts.SortSlices(func(a, b string) bool { return a < b })
		if diff := cmp.Diff(test.failed, failed, sorted) + cmp.Diff(test.ids, d.RuleIDs(), sorted); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(d.Alternatives) == 0 || d.Text == "" {
			t.Errorf("%s: nothing is said to the agent: %+v", name, d)
		}
	}
}

// The words for a rule that fails replace those of the policy only where its
// outcome is what is answered.
func TestFailingRuleIsTold(t *testing.T) {
	strict := failing(t, "fires contains \"blocks\" if to_number(input.agent) > 1\nfires contains \"warns\"", "")
	mild := failing(t, "fires contains \"warns\" if to_number(input.agent) > 1\nfires contains \"asks\"", "")
	for want, h := range map[string]*Host{"A rule of the policy (blocks) could not be evaluated": strict, "a text": mild} {
		d, err := h.Decide(context.Background(), &engine.Input{Agent: "main"}, nil)
		if err != nil || !strings.HasPrefix(d.Text, want) {
			t.Errorf("the text is %q (%v), want %q", d.Text, err, want)
		}
	}
}

// A rule of another layer is named as well: its member is an object.
func TestFailingRuleOfALayer(t *testing.T) {
	for name, test := range map[string]struct {
		member  string
		verdict engine.Verdict
		id      string
	}{
		"with a row":     {`{"id": "ours"}`, engine.Ask, "ours"},
		"without a row":  {`{"id": "theirs", "decision": "warn"}`, engine.Block, "theirs"},
		"without a name": {`{"decision": "warn"}`, engine.Block, ""},
	} {
		h := compiled(t,
			map[string]string{"base/a.rego": entry, "base/b.rego": firedModule, "base/c.rego": "package reviewer.fired\nfires contains \"never\" if input.agent == \"nobody\"",
				"user/u.rego": "package policies.user\nfindings contains " + test.member + " if to_number(input.agent) > 1"},
			map[string]any{"reviewer": map[string]any{"catalog": map[string]any{}},
				"policies": map[string]any{"user": map[string]any{"catalog": rows(map[string]string{"ours": "ask"})}}})
		d, err := h.Decide(context.Background(), &engine.Input{Agent: "main"}, nil)
		if err != nil || d.Decision != test.verdict || len(d.Errors) != 1 || d.Errors[0].Rule != test.id {
			t.Errorf("%s: %s, %+v, %v", name, d.Decision, d.Errors, err)
		}
	}
}

// A conflict is an error of the whole policy: nothing is decided.
func TestConflictDecidesNothing(t *testing.T) {
	h := failing(t, "fires contains \"warns\" if f(1) == 2\nf(x) := 2 if x > 0\nf(x) := 3 if x < 2", "")
	if d, err := h.Decide(context.Background(), &engine.Input{}, nil); err == nil {
		t.Errorf("decided %s", d.Decision)
	}
}

// A finding of which a part is absent is made of its other parts, with the strictest value of those
// that decide. Conditions that read what is absent stay conditions.
func TestFindingsThatCannotBeMade(t *testing.T) {
	const said = "Rule x fired, but its message could not be made, because this is absent: "
	finding := func(more map[string]any) map[string]any {
		f := map[string]any{"id": "x", "decision": "block", "message": said + "input.event.result.content"}
		for key, v := range more {
			if v == nil {
				delete(f, key)
				continue
			}
			f[key] = v
		}
		return f
	}
	made := func(message string) map[string]any { return finding(map[string]any{"message": message}) }
	const head = `findings contains {"id": "x", "decision": "block", "message": `
	for name, test := range map[string]struct {
		rules string
		want  []map[string]any
	}{
		"the message is there":      {head + `sprintf("%v", [input.event.tool])} if input.phase == "pre"`, []map[string]any{made("Bash")}},
		"nothing is read":           {head + `"m"} if input.phase == "pre"`, []map[string]any{made("m")}},
		"the condition is not true": {head + `sprintf("%v", [input.event.result.content])} if input.phase == "post"`, nil},
		"the message":               {head + `sprintf("%v", [input.event.result.content])} if input.phase == "pre"`, []map[string]any{finding(nil)}},
		"a field as it is":          {head + `input.event.result.content} if input.phase == "pre"`, []map[string]any{finding(nil)}},
		"without a body":            {`findings contains {"id": "x", "decision": "block", "message": input.event.result.content}`, []map[string]any{finding(nil)}},
		"some of what it reads":     {head + `concat(" ", [input.event.tool, input.event.result.content])} if input.phase == "pre"`, []map[string]any{finding(nil)}},
		"several": {
			head + `concat(" ", [input.nothing.here, input.event.result.content])} if input.phase == "pre"`,
			[]map[string]any{made(said + "input.nothing.here, input.event.result.content")},
		},
		"a comprehension is empty": {head + `concat(" ", [c | c := input.event.result.content])} if input.phase == "pre"`, []map[string]any{made("")}},
		"a template string":        {head + `$"got {input.event.result.content}"} if input.phase == "pre"`, []map[string]any{made("got <undefined>")}},
		"a function of the policy": {
			head + `_text(input.event)} if input.phase == "pre"` + "\n" + `_text(e) := "long" if e.size > 3`,
			[]map[string]any{made(said + "data.policies.user._text(input.event)")},
		},
		"a function with else": {
			head + `_text(input.event)} if input.phase == "pre"` + "\n" + `_text(e) := "long" if e.size > 3 else := "short"`,
			[]map[string]any{made("short")},
		},
		"a rule of the policy": {
			head + `_text} if input.phase == "pre"` + "\n" + `_text := "long" if input.size > 3`,
			[]map[string]any{made(said + "data.policies.user._text")},
		},
		"a built-in function without a value": {
			head + `regex.find_n("z", input.event.tool, 1)[0]} if input.phase == "pre"`,
			[]map[string]any{made(said + `regex.find_n("z", input.event.tool, 1)[0]`)},
		},
		"a part of a variable": {
			head + "split(e.short, \"/\")[3]} if some e in input.effects",
			[]map[string]any{made(said + `split(e.short, "/")[3]`), made(said + `split(e.short, "/")[3], e.short`)},
		},
		"each of several effects": {
			head + `sprintf("%s", [e.short])} if some e in input.effects`,
			[]map[string]any{made("./a"), made(said + "e.short")},
		},
		"what the body assigns for the message": {
			head + "msg} if {\n input.phase == \"pre\"\n msg := sprintf(\"%v\", [input.event.result.content])\n}",
			[]map[string]any{finding(nil)},
		},
		"by two assignments": {
			head + "msg} if {\n input.phase == \"pre\"\n c := input.event.result.content\n msg := sprintf(\"%v\", [c])\n}",
			[]map[string]any{finding(nil)},
		},
		"for the message and the remediation": {
			`findings contains {"id": "x", "decision": "block", "message": a, "remediation": b} if {` +
				"\n input.phase == \"pre\"\n a := input.event.result.content\n b := upper(input.event.tool)\n}",
			[]map[string]any{finding(map[string]any{"remediation": "BASH"})},
		},
		"the whole finding is assigned": {
			"findings contains f if {\n input.phase == \"pre\"\n f := {\"id\": \"x\", \"decision\": \"block\", \"message\": input.event.result.content}\n}",
			[]map[string]any{finding(nil)},
		},
		"an assignment that is used in a condition": {head + "c} if {\n input.phase == \"pre\"\n c := input.event.result.content\n c != \"\"\n}", nil},
		"an assignment that is the only condition":  {head + "c} if c := input.event.result.content", nil},
		"an assignment that looks for a value":      {head + "c} if {\n input.phase == \"pre\"\n c := input.none[_]\n}", nil},
		"an assignment by a function of the policy": {head + "c} if {\n input.phase == \"pre\"\n c := _bad(input.event)\n}\n_bad(e) := e.tool if e.size > 3", nil},
		"an assignment next to a test of absence":   {head + "c} if {\n not input.event.result.content\n c := input.event.tool\n}", []map[string]any{made("Bash")}},
		"the decision": {
			`findings contains {"id": "x", "decision": input.verdict, "message": "m", "severity": input.level} if input.phase == "pre"`,
			[]map[string]any{finding(map[string]any{"severity": "critical", "message": said + "input.verdict, input.level"})},
		},
		"the decision is a row's": {
			`findings contains {"id": "x", "message": input.text} if input.phase == "pre"`,
			[]map[string]any{finding(map[string]any{"decision": nil, "message": said + "input.text"})},
		},
		"the id": {
			`findings contains {"id": concat(".", ["x", input.kind]), "decision": "ask", "message": "m"} if input.phase == "pre"`,
			[]map[string]any{{"id": "user.unnamed", "decision": "ask", "message": "A rule of the user layer fired, but its message could not be made, because this is absent: input.kind"}},
		},
		"an id that is there": {
			`findings contains {"id": concat(".", ["x", input.event.tool]), "decision": "ask", "message": input.kind} if input.phase == "pre"`,
			[]map[string]any{{"id": "x.Bash", "decision": "ask", "message": "A rule of the user layer fired, but its message could not be made, because this is absent: input.kind"}},
		},
		"one of two bodies": {
			head + `input.kind} if input.phase == "pre"` + "\n" + `findings contains {"id": "x", "decision": "warn", "message": "m"} if input.phase == "pre"`,
			[]map[string]any{made(said + "input.kind"), finding(map[string]any{"decision": "warn", "message": "m"})},
		},
		"a function as the whole finding decides itself": {
			"findings contains _f(e) if some e in input.effects\n_f(e) := {\"id\": \"x\", \"message\": e.short} if e.short == \"./a\"",
			[]map[string]any{{"id": "x", "message": "./a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := compiled(t, map[string]string{
				"base/a.rego": entry, "base/policy/fired.rego": firedModule + "\nfires := set()\n",
				"user/a.rego": "package policies.user\n\n" + test.rules + "\n",
			}, map[string]any{"reviewer": map[string]any{"catalog": map[string]any{}}, "policies": map[string]any{"user": map[string]any{}}})
			q, err := h.queryOf(t.Context(), "data.policies.user.findings")
			if err != nil {
				t.Fatal(err)
			}
			term, err := h.eval(t.Context(), q, ast.MustParseTerm(
				`{"phase": "pre", "event": {"tool": "Bash"}, "effects": [{"short": "./a"}, {"host": "b"}], "none": []}`).Value)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ast.JSON(term.Value)
			if err != nil {
				t.Fatal(err)
			}
			want := []any{}
			for _, f := range test.want {
				want = append(want, f)
			}
			sorted := cmpopts.SortSlices(func(a, b any) bool { return fmt.Sprint(a) < fmt.Sprint(b) })
			if d := cmp.Diff(want, got, sorted); d != "" {
				t.Error(d)
			}
		})
	}
}

// A rule that nothing reads, with a name like one that would be read, keeps the policy from being
// loaded: a misspelt deny would let every call pass.
func TestMisnamedRules(t *testing.T) {
	const member = ` contains {"id": "x", "decision": "block", "message": "m"} if input.phase == "pre"`
	for name, test := range map[string]struct {
		files []string // name, content
		wrong string
	}{
		"findings":           {[]string{"a.rego", "package policies.user\nfindings" + member}, ""},
		"one letter less":    {[]string{"a.rego", "package policies.user\nfinding" + member}, `user/a.rego:2: rego_compile_error: nothing reads finding, so it has no effect; did you mean "findings"?`},
		"another case":       {[]string{"a.rego", "package policies.user\nFindings" + member}, `did you mean "findings"?`},
		"private":            {[]string{"a.rego", "package policies.user\n_findings" + member}, `did you mean "findings"?`},
		"an exception":       {[]string{"a.rego", "package policies.user\nexception contains {\"rule\": \"x\"} if input.phase == \"pre\""}, `did you mean "exceptions"?`},
		"an operation":       {[]string{"a.rego", "package policies.user\noperation[\"x\"] := [] if input.phase == \"pre\""}, `did you mean "operations"?`},
		"a ladder":           {[]string{"a.rego", "package policies.user\nladder[\"x\"] := [\"soft_correction\"]"}, `did you mean "ladders"?`},
		"in a package below": {[]string{"a.rego", "package policies.user.shop\nfindings" + member}, "only those of package policies.user count"},
		"the package below is read": {[]string{"a.rego", "package policies.user.shop\nfindings" + member,
			"b.rego", "package policies.user\nimport data.policies.user.shop\nfindings contains f if some f in shop.findings"}, ""},
		"all packages below are read": {[]string{"a.rego", "package policies.user.shop\nfindings" + member,
			"b.rego", "package policies.user.all\nimport data.policies.user\nfound contains f if {\n\tsome p\n\tsome f in user[p].findings\n}"}, ""},
		"it is read":            {[]string{"a.rego", "package policies.user\nfinding" + member + "\nfindings contains f if some f in finding"}, ""},
		"it is a function":      {[]string{"a.rego", "package policies.user\nfinding(x) := {\"id\": x}\nfindings contains finding(\"x\") if input.phase == \"pre\""}, ""},
		"only a test reads it":  {[]string{"a.rego", "package policies.user\nfinding" + member, "a_test.rego", "package policies.user\ntest_x if count(finding) == 0"}, `did you mean "findings"?`},
		"the built-in policy's": {[]string{"a.rego", "package policies.user\nfires contains \"x\" if input.phase == \"pre\""}, `did you mean "findings"?`},
		"another tool's":        {[]string{"a.rego", "package policies.user\ndeny contains \"no\" if input.phase == \"pre\""}, `nothing reads deny, so it has no effect; did you mean "findings"?`},
		"another name":          {[]string{"a.rego", "package policies.user\ndeployments contains \"x\" if input.phase == \"pre\""}, ""},
	} {
		modules := map[string]string{"base/a.rego": entry, "base/policy/fired.rego": firedModule + "\nfires := set()\n"}
		for i := 0; i < len(test.files); i += 2 {
			modules["user/"+test.files[i]] = test.files[i+1] + "\n"
		}
		_, err := Compile(t.Context(), modules, map[string]any{"reviewer": map[string]any{}, "policies": map[string]any{}})
		if (err == nil) != (test.wrong == "") || !strings.Contains(fmt.Sprint(err), test.wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A rule of a family that fails is told apart from the others, though it is evaluated in another module.
func TestFailingFamily(t *testing.T) {
	h := compiled(t, map[string]string{
		"base/a.rego":            entry,
		"base/policy/fired.rego": strings.ReplaceAll(firedModule, "some id in fires", "some id in data.reviewer.firing.ids"),
		"base/policy/firing.rego": `package reviewer.firing

ids contains id if {
	some family, id
	data.reviewer.families[family][id] == true
}`,
		"base/rules/shop/shop.rego": `package reviewer.families.shop

warns if input.agent == "main"

asks if _number(input.agent) > 1

blocks if input.agent == "other"

_number(x) := to_number(x)`,
	}, map[string]any{"reviewer": map[string]any{
		"enforcement": "", "catalog": rows(map[string]string{"warns": "warn", "asks": "ask", "blocks": "block"}),
	}, "policies": map[string]any{}})
	d, err := h.Decide(context.Background(), &engine.Input{Agent: "main"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Enforced != engine.Ask || len(d.Errors) != 1 || d.Errors[0].Rule != "asks" {
		t.Errorf("%s, %+v; want ask, since asks failed", d.Enforced, d.Errors)
	}
}
