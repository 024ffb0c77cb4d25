package cases

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// pushed is the record of a force push that runs in another form.
func pushed() *engine.Record {
	return &engine.Record{
		Chain: strings.Repeat("a", 32), N: 3, Phase: engine.PhasePre, Source: "prefilter",
		Findings: []engine.Finding{{ID: "git_force_push", Level: "high"}},
		Decision: &engine.Decision{
			Decision: engine.Modify, Enforced: engine.Modify, Reason: "High risk action", Reasons: []string{"High risk action", "A force push"},
			Rules: []engine.RuleResult{{ID: "git_force_push", Decision: engine.Modify, Message: "A force push", Harm: "outward"}, {ID: "warn_external_network", Decision: engine.Warn}},
			Risk:  &engine.Risk{Score: 0.8, Level: "high", Factors: []string{"reversibility"}}, Rationality: &engine.Rationality{Score: 0.6, Level: "medium"},
			SideEffects: &engine.SideEffects{Severity: "medium"}, Alternatives: []string{"push with --force-with-lease"},
			Obligations: []string{"checkpoint"}, Intervention: &engine.Intervention{Kind: "emergency_stop"}, Text: "it ran in another form ({id})",
		},
		Action: &engine.Action{Effects: []engine.Effect{
			{Kind: engine.EffectFileWrite, Short: "./a"}, {Kind: engine.EffectFileDelete, Short: "./b", Recursive: true}, {Kind: engine.EffectFileRead, Short: "./r"},
		}},
		Answer: &engine.AnswerFacts{Effect: engine.Modify, Mode: engine.ModeEnforced},
		Rewritten: &engine.Rewritten{
			Args: map[string]any{"command": "git push --force-with-lease", "timeout": int64(5)}, Action: &engine.Action{Resource: "git push --force-with-lease"},
		},
	}
}

// expected reads what is in the brackets of expect.
func expected(t *testing.T, text string) *Expect {
	t.Helper()
	return parse(t, "name: a\nevents: [{Bash: ls, asks: true, expect: {"+text+"}}]")[0].Events[0].Expect
}

// Each key of an expectation holds for what is so, and differs, under its own
// name, for what is not.
func TestCompare(t *testing.T) {
	tried := map[string]bool{}
	for _, test := range []struct{ key, holds, differs, got string }{
		{"decision", "modify", "allow", "modify"},
		{"answer", "modify", "block", "modify"},
		{"rule", "git_force_push", "warn_external_network", "git_force_push, warn_external_network"},
		{"harm", "outward", "loss", "outward"},
		{"rules", "[warn_external_network]", "[git_discard]", "git_force_push, warn_external_network"},
		{"rules", "[git_force_push]", "[]", "git_force_push, warn_external_network"},
		{"rules_exactly", "[warn_external_network, git_force_push]", "[git_force_push]", "git_force_push, warn_external_network"},
		{"rules_exactly", "[warn_external_network, git_force_push]", "[]", "git_force_push, warn_external_network"},
		{"not_rules", "[git_discard]", "[git_discard, git_force_push]", "git_force_push, warn_external_network"},
		{"findings", "[git_force_push]", "[git_discard]", "git_force_push"},
		{"not_findings", "[git_discard]", "[git_force_push]", "git_force_push"},
		{"levels.git_force_push", "{git_force_push: high}", "{git_force_push: low}", "high"},
		{"levels.git_discard", "{git_force_push: high}", "{git_discard: high}", "nothing"},
		{"reason", "High risk", "Low rationality", `"High risk action"`},
		{"reasons", "[High risk, A force push]", "[High risk, Low rationality]", `"High risk action; A force push"`},
		{"text", "(aaaaaaaa-3)", "blocked", `"it ran in another form (aaaaaaaa-3)"`},
		{"alternative", "with-lease", "stash", `"push with --force-with-lease"`},
		{"risk.level", "{level: high}", "{level: low}", "high"},
		{"risk.above", "{above: 0.7}", "{above: 0.8}", "0.8"},
		{"risk.below", "{below: 0.9}", "{below: 0.8}", "0.8"},
		{"risk.factors", "{factors: [reversibility]}", "{factors: []}", "reversibility"},
		{"rationality.level", "{level: medium, factors: []}", "{level: low}", "medium"},
		{"side_effects", "medium", "critical", "medium"},
		{"rewritten", "git push --force-with-lease", "git push", "git push --force-with-lease"},
		{"rewritten.timeout", "{timeout: 5}", "{timeout: 6}", "5"},
		{"obligations", "[checkpoint]", "[]", "checkpoint"},
		{"changes", "[./a, ./b/c]", "[./c]", "./a, ./b"},
		{"changes", "[./b]", "[]", "./a, ./b"},
		{"not_changes", "[./c, ./ab, ./r]", "[./b/d]", "./a, ./b"},
		{"intervention", "emergency_stop", "throttle", "emergency_stop"},
		{"source", "prefilter", "transcript", "prefilter"},
		{"granted", `"no"`, "reads", "no"},
	} {
		top, _, _ := strings.Cut(test.key, ".")
		tried[top] = true
		if found := expected(t, top+": "+test.holds).Compare(pushed()); len(found) > 0 {
			t.Errorf("%s: %s: %v", top, test.holds, found)
		}
		found := expected(t, top+": "+test.differs).Compare(pushed())
		if len(found) != 1 || found[0].Key != test.key || found[0].Got != test.got {
			t.Errorf("%s: %s: %v, want one of %s with %s", top, test.differs, found, test.key, test.got)
		}
	}
	tried["failure"] = true // see TestCompareFailure
	for _, key := range expectations() {
		if !tried[key] {
			t.Errorf("nothing tries the key %s", key)
		}
	}
}

// A call that could not be reviewed is as expected only where the case says so.
func TestCompareFailure(t *testing.T) {
	failed := &engine.Record{Phase: engine.PhasePre, Answer: &engine.AnswerFacts{Effect: engine.Block, Mode: engine.ModeDegraded, Failure: "no such policy"}}
	unchanged := pushed()
	unchanged.Rewritten, unchanged.Answer.Effect = &engine.Rewritten{Failure: "it comes from sh-c"}, engine.Ask
	for name, test := range map[string]struct {
		record *engine.Record
		expect string
		keys   []string
	}{
		"not expected":   {failed, "answer: block", []string{"failure"}},
		"expected":       {failed, "answer: block, failure: no such", nil},
		"another":        {failed, "failure: a deadline", []string{"failure"}},
		"no decision":    {failed, "decision: block, risk: {level: high}, failure: no such", []string{"decision", "risk"}},
		"no other form":  {unchanged, "decision: modify, answer: ask, failure: sh-c", nil},
		"a missing form": {unchanged, "rewritten: git push", []string{"rewritten"}},
		"none":           {pushed(), "failure: sh-c", []string{"failure"}},
	} {
		var keys []string
		for _, d := range expected(t, test.expect).Compare(test.record) {
			keys = append(keys, d.Key)
		}
		if !slices.Equal(keys, test.keys) {
			t.Errorf("%s: %v differ, want %v", name, keys, test.keys)
		}
	}
}

func TestWhy(t *testing.T) {
	why := strings.Join(Why(pushed()), "\n")
	for _, want := range []string{"risk 0.8 high [reversibility], rationality 0.6 medium", "rule git_force_push says modify: A force push"} {
		if !strings.Contains(why, want) {
			t.Errorf("want %q in\n%s", want, why)
		}
	}
	if why := Why(&engine.Record{}); !slices.Equal(why, []string{"no decision: policy does not review this event"}) {
		t.Errorf("of a record without a decision: %q", why)
	}
}

// Every key of a case file is read into its field by one form of the text.
func TestEveryKeyIsRead(t *testing.T) {
	c := parse(t, `
name: n
todo: t
incident: INC01
twin: true
workspace: /w
home: /h
now: 2026-01-01T00:00:00Z
mode: plan
harness: codex
checkpoints: true
files: {a: b}
git: {a: clean}
settings: {grant: true}
layers: {project: {a.rego: x}}
events:
  - {tool: Bash, args: {command: ls}, asks: true, result: {failed: f, output: o}, times: 2, at: +1s, mode: m, cwd: c, agent: a, files: {a: b},
     expect: {decision: allow, answer: allow, rule: r, harm: h, rules: [r], rules_exactly: [r], not_rules: [r], findings: [r], not_findings: [r], levels: {r: high},
       reason: r, reasons: [r], text: t, alternative: a, risk: {level: l, above: 1, below: 1, factors: [f]}, rationality: {level: l},
       side_effects: s, rewritten: r, obligations: [o], changes: [./p], not_changes: [./p], intervention: i, source: s, granted: reads, failure: f}}
`)[0]
	c.Rows = []Row{{}}
	for _, v := range []any{c, *c.Events[0].Expect, *c.Events[0].Expect.Risk} {
		for i := range reflect.TypeOf(v).NumField() {
			f := reflect.TypeOf(v).Field(i)
			if f.Tag.Get("json") != "" && reflect.ValueOf(v).Field(i).IsZero() {
				t.Errorf("%s.%s was not read", reflect.TypeOf(v), f.Name)
			}
		}
	}
}
