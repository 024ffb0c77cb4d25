package safeclaw

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/foreign"
)

func anything(string) error { return nil }

func imported(t *testing.T, raw string, read foreign.Reader) *foreign.Policy {
	t.Helper()
	p, err := Import("p.json", []byte(raw), read)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return p
}

// show writes a rule on one line.
func show(r bundles.AccessRule) string {
	parts := []string{r.Effect}
	if r.Actions != nil {
		parts = append(parts, "actions "+strings.Join(r.Actions, ","))
	}
	if r.When != "" {
		parts = append(parts, "when "+r.When)
	}
	if r.Schedule != nil {
		parts = append(parts, fmt.Sprint("schedule ", r.Schedule.Hours, r.Schedule.Weekdays))
	}
	if r.ExpiresAt != "" {
		parts = append(parts, "until "+r.ExpiresAt)
	}
	return strings.Join(parts, "; ")
}

const (
	code = `{"field": "action.type", "operator": "eq", "value": "code.exec"}`
	etc  = `{"field": "action.resource", "operator": "startsWith", "value": "/etc"}`
	look = `{"field": "action.resource", "operator": "matches", "value": "^(?!x)"}`
)

// ruleCases are rules and their translations for one that allows; empty: left out.
var ruleCases = []struct{ rule, allow, remark string }{
	{`"condition": ` + code, "allow; actions code.exec", ""},
	{`"condition": {"field": "action.type", "operator": "startsWith", "value": "code."}`, "allow; actions code.*", ""},
	{`"condition": {"any": [` + code + `, {"field": "action.type", "operator": "in", "value": ["a.b", 5, "code.exec"]}]}`, "allow; actions code.exec,a.b", ""},
	{`"condition": {"all": [` + code + `, ` + etc + `]}`, `allow; actions code.exec; when action.resource.startsWith("/etc")`, "action.resource differs from SafeClaw's"},
	{`"condition": {"any": [` + code + `, ` + etc + `]}`, `allow; when action.name == "code.exec" || action.resource.startsWith("/etc")`, "action.resource differs from SafeClaw's"},
	{`"condition": {"all": [` + etc + `, ` + code + `, {"field": "action.type", "operator": "in", "value": "a,b"}]}`,
		`allow; actions code.exec; when action.resource.startsWith("/etc") && (action.name == "a" || action.name == "b")`, "action.resource differs from SafeClaw's"},
	{`"condition": {"field": "action.type", "operator": "eq", "value": "a*"}`, `allow; when action.name == "a*"`, ""},
	{`"condition": {"field": "action.type", "operator": "contains", "value": ""}`, "allow", ""},
	{`"condition": {"any": []}`, "allow; when false", "any is empty, so the rule never applies"},
	{`"condition": {"all": []}`, "allow", "all is empty, so the rule always applies"},
	{`"condition": {"any": null, "all": [` + code + `]}`, "allow; actions code.exec", ""},
	{`"condition": {"any": [` + code + `], "all": [` + etc + `]}`, "allow; actions code.exec", "all is not read"},
	{`"condition": {"any": "x"}`, "", "any is a string, not a list"},
	{`"condition": {}`, "allow; when false", "field is not given"},
	{`"condition": [1]`, "allow; when false", "condition is a list and never matches"},
	{`"description": "nothing more"`, "", "without a condition"},
	{`"condition": {"all": [{"any": [` + code + `]}]}`, "allow; when false", "any is not read"},
	{`"condition": {"all": [null, ` + code + `]}`, "", "a predicate is null"},
	{`"condition": {"field": "action.typ", "operator": "eq", "value": "x"}`, "allow; when false", `did you mean "action.type"?`},
	{`"condition": {"field": "principal.id", "operator": "eq", "value": "x"}`, "allow; when false", "expected one of action.type, action.resource"},
	{`"condition": {"field": "action.type", "operator": "startswith", "value": "x"}`, "allow; when false", `did you mean "startsWith"?`},
	{`"condition": {"field": "action.type", "operator": "eq", "value": 5}`, "allow; when false", ""},
	{`"condition": {"field": "action.type", "operator": "startsWith", "value": 5}`, "", "the value of startsWith is a number"},
	{`"condition": {"field": "action.type", "operator": "contains"}`, "", "the value of contains is nothing"},
	{`"condition": {"field": "action.type", "operator": "in", "value": "a, b"}`, "", "white space around the commas"},
	{`"condition": {"field": "action.type", "operator": "in", "value": {}}`, "", "the value of in is an object"},
	{`"condition": ` + look, "", "is a lookaround"},
	{`"condition": {"all": [` + code + `, ` + look + `]}`, "", "is a lookaround"},
	{`"condition": {"any": [` + code + `, ` + look + `]}`, "", "is a lookaround"},
	{`"condition": {"field": "action.resource", "operator": "matches", "value": "(a+)+"}`, "allow; when false", `to turn it on, write a condition with the same meaning yourself, such as when: action.resource.matches("(a+)+")`},
	{`"condition": {"field": "action.resource", "operator": "matches", "value": "("}`, "", "missing closing )"},
	{`"condition": {"field": "action.resource", "operator": "matches", "value": "(a+b)+"}`, "", "may refuse the pattern"},
	{`"condition": {"field": "action.resource", "operator": "matches", "value": "((a)+)+"}`, `allow; when action.resource.matches("((a)+)+")`, "differs from"},

	{`"condition": ` + code + `, "schedule": {"hoursUtc": [22, 6], "daysOfWeek": [6, 0]}`, "allow; actions code.exec; schedule [22 6] [sunday saturday]", ""},
	{`"condition": ` + code + `, "schedule": {"hoursUtc": [9, 24]}`, "allow; actions code.exec; schedule [9 0] []", ""},
	{`"condition": ` + code + `, "schedule": {"hoursUtc": [9.5, 24]}`, "", "two whole numbers"},
	{`"condition": ` + code + `, "schedule": {"hoursUtc": [9, 25]}`, "", "two whole numbers"},
	{`"condition": ` + code + `, "schedule": {"hoursUtc": [0, 24], "daysOfWeek": [0,1,2,3,4,5,6]}`, "allow; actions code.exec", ""},
	{`"condition": ` + code + `, "schedule": {"hoursUtc": [9, 9]}`, "allow; when false", "contains no hour"},
	{`"condition": ` + code + `, "schedule": {"hoursUtc": [9]}`, "", "hoursUtc is [9]"},
	{`"condition": ` + code + `, "schedule": {"hoursUtc": ["9", "17"], "daysOfWeek": [1]}`, "", "expected two whole numbers"},
	{`"condition": ` + code + `, "schedule": {"daysOfWeek": []}`, "", "daysOfWeek is []"},
	{`"condition": ` + code + `, "schedule": {"daysOfWeek": [7]}`, "", "daysOfWeek contains 7"},
	{`"condition": ` + code + `, "schedule": {"daysOfWeek": ["1"]}`, "", `daysOfWeek contains "1"`},
	{`"condition": ` + code + `, "schedule": "nights"`, "", "schedule is a string"},
	{`"condition": ` + code + `, "schedule": {"hours": [1, 2]}`, "allow; actions code.exec", "hours is not read"},
	{`"condition": ` + code + `, "schedule": null, "expiresAt": ""`, "allow; actions code.exec", ""},
	{`"condition": ` + code + `, "expiresAt": "2027-01-31"`, "allow; actions code.exec; until 2027-01-31T00:00:00Z", ""},
	{`"condition": ` + code + `, "expiresAt": "2027"`, "", "expected a date"},
	{`"condition": ` + code + `, "expiresAt": "2027-01-31T10:00:00.1239+02:00"`, "allow; actions code.exec; until 2027-01-31T08:00:00.123Z", ""},
	{`"condition": ` + code + `, "expiresAt": 1800000000000`, "allow; actions code.exec; until 2027-01-15T08:00:00Z", ""},
	{`"condition": ` + code + `, "expiresAt": 1e300`, "", "expected a date"},
	{`"condition": ` + code + `, "expiresAt": "1969-01-01"`, "allow; when false", "expired in 1969"},
	{`"condition": ` + code + `, "expiresAt": "never"`, "", "expiresAt is \"never\": expected a date"},
	{`"condition": ` + code + `, "expiresAt": "2027-13-01"`, "", "expected a date"},
	{`"condition": ` + code + `, "expiresAt": "2027-01-31T10:00:00"`, "", "expected a date"},
	{`"condition": ` + code + `, "expiresAt": "2027-02-30"`, "", "expected a date"},
	{`"condition": ` + code + `, "expiresAt": [1]`, "", "expiresAt is [1]"},
	{`"condition": ` + code + `, "expiresAt": 0`, "", "expiresAt is 0"},

	{`"condition": {"field": "action.type", "operator": "in", "value": "unknown.MultiEdit"}`, "allow; actions unknown.MultiEdit", "MultiEdit are named filesystem.write here"},
	{`"condition": {"field": "action.type", "operator": "startsWith", "value": "unknown."}`, "allow; actions unknown.*", "KillShell (code.exec.kill)"},
	{`"condition": {"field": "action.type", "operator": "eq", "value": "mcp.a.b.c"}`, "allow; actions mcp.a.b.c", "is called mcp.server.a__b here"},
	{`"condition": ` + code + `, "expires": "2027"`, "allow; actions code.exec", "expires is not read"},
}

// One rule, and its conversion: where its meaning is unknown it is left out, whatever
// its effect.
func TestRules(t *testing.T) {
	for _, test := range ruleCases {
		for _, effect := range bundles.Effects() {
			p := imported(t, `{"defaultEffect": "allow", "rules": [{"id": "r", "effect": "`+effect+`", `+test.rule+`}]}`, anything)
			got, want := "", test.allow
			if want != "" {
				want = effect + strings.TrimPrefix(want, "allow")
			}
			for _, r := range p.List.Rules {
				got += show(r)
			}
			if got != want {
				t.Errorf("%s %s\n got %s\nwant %s", effect, test.rule, got, want)
			}
			counts := foreign.Counts{Carried: 1}
			if want == "" {
				counts = foreign.Counts{Left: 1}
			}
			if p.Counts != counts {
				t.Errorf("%s %s: %+v, want %+v", effect, test.rule, p.Counts, counts)
			}
			p.Remarks = slices.DeleteFunc(p.Remarks, func(r foreign.Remark) bool { return strings.Contains(r.Text, "add a condition on event.tool") })
			if text := fmt.Sprint(p.Remarks); test.remark != "" && !strings.Contains(text, test.remark) || test.remark == "" && len(p.Remarks) > 0 {
				t.Errorf("%s %s: the remarks are %s, want %q", effect, test.rule, text, test.remark)
			}
		}
	}
}

// An expression that the host does not accept cannot be converted.
func TestUnreadable(t *testing.T) {
	refuse := func(string) error { return errors.New("too long") }
	p := imported(t, `{"defaultEffect": "allow", "rules": [{"id": "r", "effect": "deny", "condition": {"all": [`+code+`, `+etc+`]}}]}`, refuse)
	if len(p.List.Rules) != 0 || p.Counts.Left != 1 || !strings.Contains(p.Remarks[0].Text, "too long") {
		t.Errorf("%+v", p)
	}
}

func TestEffects(t *testing.T) {
	for word, want := range map[string]string{`"allow"`: "allow", `"deny"`: "deny", `"require_approval"`: "require_approval", `"allowed"`: "allow", `"denied"`: "deny",
		`"Allow"`: "deny", `"ask"`: "deny", `5`: "deny", `null`: "deny"} {
		p := imported(t, `{"defaultEffect": `+word+`, "rules": [{"id": "r", "effect": `+word+`, "condition": `+code+`}]}`, anything)
		if p.List.Default != want || p.List.Rules[0].Effect != want {
			t.Errorf("%s: default %s, rule %s, want %s", word, p.List.Default, p.List.Rules[0].Effect, want)
		}
	}
	if p := imported(t, `{"rules": []}`, anything); p.List.Default != "deny" {
		t.Errorf("no defaultEffect: %s, want deny", p.List.Default)
	}
}

// A rule that never decides, since the one before it matches wherever it does, is left
// out: a list with it does not pass policy check.
func TestRepeated(t *testing.T) {
	p := imported(t, `{"rules": [{"id": "a", "effect": "allow", "condition": `+code+`}, {"id": "b", "effect": "deny", "condition": `+code+`}]}`, anything)
	if len(p.List.Rules) != 1 || (p.Counts != foreign.Counts{Carried: 1, Idle: 1}) || !strings.Contains(fmt.Sprint(p.Remarks), "rule a before it") {
		t.Errorf("%+v", p)
	}
}

func TestNames(t *testing.T) {
	about := func(name string) string {
		return `"effect": "deny", "condition": {"field": "action.type", "operator": "eq", "value": "` + name + `"}`
	}
	p := imported(t, `{"id": "My Team!", "defaultEffect": "deny", "rules": [
		{`+about("a")+`}, {"id": "A b", `+about("b")+`}, {"id": "a_b", `+about("c")+`}, {"id": "default", `+about("d")+`},
		{"id": "all", "effect": "deny", "condition": {"all": []}}, {"id": "late", `+about("e")+`}]}`, anything)
	var ids []string
	for _, r := range p.List.Rules {
		ids = append(ids, r.ID)
	}
	if got, want := strings.Join(ids, " "), "rule_1 a_b a_b_2 default_2 all"; got != want || p.List.ID != "my_team" {
		t.Errorf("list %s: %s, want %s", p.List.ID, got, want)
	}
	content, err := p.YAML("head")
	if err != nil || !strings.Contains(string(content), "left out: it never decides anything: rule all before it matches wherever it does") {
		t.Errorf("%v\n%s", err, content)
	}
	if lists, err := bundles.ParseAccess("x.yaml", content); err != nil || len(lists) != 1 {
		t.Errorf("%v\n%s", err, content)
	}
}

func TestNoPolicy(t *testing.T) {
	for raw, want := range map[string]string{
		``:                                 "p.json:1: the document ends in the middle",
		"{\n\"rules\": [\n,]}":             "p.json:3: invalid character ','",
		`[]`:                               "p.json:1: expected a policy of SafeClaw, an object with rules, got a list",
		`{"rule": []}`:                     `p.json:1: rules: expected a list of rules, got nothing; is it "rule"?`,
		"{\n\"rules\": {}}":                "p.json:2: rules: expected a list of rules, got an object",
		"{\"rules\": [\n{},\n5]}":          "p.json:3: rules[1]: expected a rule, an object, got a number",
		"{\"rules\": [],\n\"rules\": [1]}": `p.json:2: duplicate key "rules", first in line 1`,
		"{}\n{}":                           "p.json:2: text after the document",
		"{\"a\":\n\"\xff\"}":               "p.json:2: not UTF-8",
	} {
		if _, err := Import("p.json", []byte(raw), anything); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", raw, err, want)
		}
	}
}
