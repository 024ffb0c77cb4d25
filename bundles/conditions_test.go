package bundles

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseConditions(t *testing.T) {
	rules, err := ParseConditions("rules/a.yaml", []byte(`# Rows and documents.
- id: git.push_protected
  title: Force push to a protected branch
  severity: high
  decision: ask
  message: "{command} overwrites what others have"
  references: [https://example.org/a]
  tags: [essential]
  overridable: [user]
  enforcement: warn
  match: {phases: [pre], tools: [Bash, "mcp__*"], signals: [git_force_push], actions: [code.*]}
  when: |
    action.commands.exists(c,
      c.name == "git")
  examples:
    match: [{tool: Bash, args: {command: git push --force origin main}}]
    no_match: [{tool: Bash, args: {command: git push}}]
- id: in_rego
  severity: low
  always: true
---
id: loop
severity: medium
measure: history.windows.recent.max_errors
threshold: 0
levels: [{at: 3, level: medium}, {at: 4.5, level: high}]
---
# nothing
`))
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	want := []Rule{
		{
			ID: "git.push_protected", Title: "Force push to a protected branch", Severity: "high", Decision: "ask",
			Message: "{command} overwrites what others have", References: []string{"https://example.org/a"}, Tags: []string{"essential"},
			Overridable: []string{"user"}, Enforcement: "warn",
			Match: RuleMatch{Phases: []string{"pre"}, Tools: []string{"Bash", "mcp__*"}, Signals: []string{"git_force_push"}, Actions: []string{"code.*"}},
			When:  "action.commands.exists(c,\n  c.name == \"git\")\n",
			Examples: RuleExamples{
				Match:   []map[string]any{{"tool": "Bash", "args": map[string]any{"command": "git push --force origin main"}}},
				NoMatch: []map[string]any{{"tool": "Bash", "args": map[string]any{"command": "git push"}}},
			},
		},
		{ID: "in_rego", Severity: "low", Always: true},
		{
			ID: "loop", Severity: "medium", Measure: "history.windows.recent.max_errors", Threshold: &zero,
			Levels: []RuleLevel{{3, "medium"}, {4.5, "high"}},
		},
	}
	if d := cmp.Diff(want, rules, cmpopts.IgnoreUnexported(Rule{})); d != "" {
		t.Fatal(d)
	}
	for _, test := range []struct {
		rule int
		key  string
		line int
		want string
	}{
		{0, "when", 2, "rules/a.yaml:14"}, {0, "when", 0, "rules/a.yaml:13"}, {0, "match", 0, "rules/a.yaml:11"},
		{0, "measure", 1, "rules/a.yaml:2"}, {1, "id", 0, "rules/a.yaml:18"}, {2, "measure", 1, "rules/a.yaml:24"},
	} {
		if got := rules[test.rule].Place(test.key, test.line); got != test.want {
			t.Errorf("Place(%q, %d) of %s = %s, want %s", test.key, test.line, rules[test.rule].ID, got, test.want)
		}
	}
	if !rules[0].Conditional() || rules[1].Conditional() || !rules[2].Conditional() {
		t.Error("Conditional does not say which rows have a condition")
	}
}

func TestParseConditionsErrors(t *testing.T) {
	const head = "id: a\nseverity: low\n"
	for _, test := range []struct{ yaml, want string }{
		{head + "wen: 'true'", `f.yaml:3: unknown key "wen"; did you mean "when"?`},
		{head + "verdict: block", `f.yaml:3: unknown key "verdict"; expected one of id, title,`},
		{head + "match: {signal: [a]}", `f.yaml:3: unknown key "signal"; did you mean "signals"?`},
		{head + "match: {signals: [git_forcepush]}", `f.yaml:3: signals: unknown word "git_forcepush"; did you mean "git_force_push"?`},
		{head + "match:\n  phases:\n  - PreToolUse", `f.yaml:5: phases: unknown word "PreToolUse"; expected one of start,`},
		{head + "match: {actions: ['*.write']}", `f.yaml:3: actions: "*.write": a * can only be at the end`},
		{head + "match: {tools: Bash}", `f.yaml:3: tools: expected a list such as [a, b], got "Bash"`},
		{"id: a\nseverity: hihg\nwhen: 'true'", `f.yaml:2: severity: unknown word "hihg"; did you mean "high"?`},
		{"severity: low\nwhen: 'true'", `f.yaml:1: the rule: id is missing`},
		{"id: a\nwhen: 'true'", `f.yaml:1: the rule: severity is missing`},
		{"id: A b\nseverity: low", `f.yaml:1: id "A b": expected lower-case words joined by`},
		{head + "decision: deny\nmessage: m", `f.yaml:3: decision: unknown word "deny"; expected one of allow, warn, modify, ask, block`},
		{head + "decision: block", `f.yaml:1: a: message is missing: an answer of "block" needs a reason`},
		{head + "message: 'at {targt}'", `f.yaml:3: message: unknown field "targt"; did you mean "target"?`},
		{head + "overridable: [base]", `f.yaml:3: overridable: unknown word "base"; expected one of organisation, user, project`},
		{head + "enforcement: enforced", `f.yaml:3: enforcement: unknown word "enforced"; did you mean "enforce"?`},
		{head + "always: sometimes", `f.yaml:3: always: expected true or false, got "sometimes"`},
		{head + "measure: '1'", `f.yaml:3: measure: threshold is missing: give the minimum value for which the rule applies`},
		{head + "threshold: 3", `f.yaml:3: threshold: has no effect without measure`},
		{head + "levels: [{at: 1, level: low}]", `f.yaml:3: levels: has no effect without measure`},
		{head + "measure: '1'\nthreshold: many", `f.yaml:4: threshold: expected a number, got "many"`},
		{head + "measure: '1'\nthreshold: .nan", `f.yaml:4: threshold: expected a finite number, got .nan`},
		{head + "measure: '1'\nthreshold: 2\nlevels: [{at: 1, level: low}]", `f.yaml:5: levels: low at 1 is below the threshold 2 and can never be given`},
		{head + "measure: '1'\nthreshold: 2\nlevels: [{at: 3, level: low}, {at: 3, level: high}]", `f.yaml:5: levels: 3 after 3: expected increasing values`},
		{head + "measure: '1'\nthreshold: 2\nlevels: [{at: 3}]", `f.yaml:5: levels: level is missing`},
		{head + "when:", `f.yaml:3: when is empty; give it a value or remove it`},
		{head + "when: ' '", `f.yaml:3: when is empty; give it a value or remove it`},
		{head + "when: {a: b}", `f.yaml:3: when: expected text, got keys with values (quote a string that contains ': ' or starts with {)`},
		{head + "id: b", `f.yaml:3: duplicate key id, first in line 1`},
		{head + "examples: {match: [ls]}\nwhen: 'true'", `f.yaml:3: match: expected an event such as`},
		{head + "examples: {match: [{tool: a, tool: b}]}\nwhen: 'true'", `f.yaml:3: duplicate key tool, first in line 3`},
		{head + "examples: {match: [{1: a}]}\nwhen: 'true'", `f.yaml:3: match: the key 1 is not a string; quote it`},
		{"- &r\n  id: a\n  severity: low\n- *r", `f.yaml:4: the rule: aliases are not allowed here; write the value in full`},
		{"- {id: a, severity: low}\n- {id: a, severity: low}", `f.yaml:2: duplicate id a, first in line 1`},
		{head + "---\n" + head, `f.yaml:4: duplicate id a, first in line 1`},
		{"just text", `f.yaml:1: the rule: expected keys with values, got "just text"`},
		{"id: a\n\tseverity: low", `f.yaml:2: `},
		{"id: [a", `f.yaml:1: `},
	} {
		rules, err := ParseConditions("f.yaml", []byte(test.yaml))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || rules != nil {
			t.Errorf("%s\n got %v\nwant %s", test.yaml, err, test.want)
		}
	}
}

// All errors of a file come at once.
func TestParseConditionsReportsAll(t *testing.T) {
	_, err := ParseConditions("f.yaml", []byte("- {id: a}\n- {id: b, severity: x}\n- {id: c, severity: low, wen: a}\n"))
	if err == nil || strings.Count(err.Error(), "f.yaml:") != 3 {
		t.Errorf("got %v, want three errors", err)
	}
}

// Whatever is accepted is accepted as it was written, and never without an id.
func FuzzParseConditions(f *testing.F) {
	f.Add("id: a\nseverity: low\nmatch: {signals: [dry_run]}")
	f.Add("- id: a\n  severity: low\n  when: |\n    true\n---\nid: b\nseverity: high\nmeasure: '1'\nthreshold: 1e3")
	f.Add("&a [*a]")
	f.Add("? {a: b}\n: c")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := ParseConditions("f.yaml", []byte(text))
		if err != nil && (rules != nil || !strings.HasPrefix(err.Error(), "f.yaml:")) {
			t.Fatalf("%q: %d rules and %v", text, len(rules), err)
		}
		for _, r := range rules {
			if r.ID == "" || r.Severity == "" || !strings.Contains(text, r.Severity) {
				t.Fatalf("%q: %+v", text, r)
			}
		}
	})
}
