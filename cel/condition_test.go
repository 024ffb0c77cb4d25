package cel

import (
	"errors"
	"strings"
	"testing"
)

func TestCompileErrors(t *testing.T) {
	for _, test := range []struct {
		c    Condition
		want string
	}{
		{Condition{When: "true"}, "condition : id: is missing: give each condition an id of its own"},
		{Condition{ID: "a"}, "condition a: when: is missing: without when, measure or match the condition would be true for everything"},
		{Condition{ID: "a", When: "true", Threshold: 3}, "condition a: threshold: has no effect without a measure"},
		{Condition{ID: "a", When: "true", Levels: []Level{{1, "low"}}}, "condition a: levels: have no effect without a measure"},
		{Condition{ID: "a", Measure: "1", Threshold: 3, Levels: []Level{{2, "low"}}}, "condition a: levels: low at 2 is below the threshold 3 and can never be given"},
		{Condition{ID: "a", Measure: "1", Levels: []Level{{2, "low"}, {2, "high"}}}, "condition a: levels: has two steps at 2"},
		{Condition{ID: "a", Measure: "1", Levels: []Level{{2, ""}}}, "condition a: levels: the step at 2 has no level"},
		{Condition{ID: "a", Match: Match{Phases: []string{"PreToolUse"}}}, `condition a: match: phases: unknown word "PreToolUse"; expected one of start, prompt, pre,`},
		{Condition{ID: "a", Match: Match{Signals: []string{"git_forcepush"}}}, `condition a: match: signals: unknown word "git_forcepush"; did you mean "git_force_push"?`},
		{Condition{ID: "a", Match: Match{Types: []string{"file_delete"}}}, `condition a: match: types: unknown word "file_delete"; expected one of`},
		{Condition{ID: "a", Match: Match{Tools: []string{"mcp__*__create"}}}, `condition a: match: tools: "mcp__*__create": a * can only be at the end`},
		{Condition{ID: "a", Match: Match{Commands: []string{"git*"}}}, `condition a: match: commands: "git*": patterns are not supported here`},
		{Condition{ID: "a", Match: Match{Actions: []string{"code.*.kill"}}}, `condition a: match: actions: "code.*.kill": a * can only be at the end`},
		{Condition{ID: "a", Match: Match{Weekdays: []string{"friady"}}}, `condition a: match: weekdays: unknown word "friady"; did you mean "friday"?`},
		{Condition{ID: "a", Match: Match{Hours: []int64{9}}}, `condition a: match: hours: expected a start and a different end, got [9]`},
		{Condition{ID: "a", Match: Match{Hours: []int64{9, 9}}}, `condition a: match: hours: expected a start and a different end, got [9 9]`},
		{Condition{ID: "a", Match: Match{Tools: []string{""}}}, "condition a: match: tools: an empty word matches nothing; leave the list out to match anything"},
	} {
		_, err := Compile([]Condition{test.c})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%+v:\n got %v\nwant %s", test.c, err, test.want)
		}
	}
	_, err := Compile([]Condition{{ID: "a", When: "true"}, {ID: "a", When: "false"}})
	var e *Error
	if !errors.As(err, &e) || e.ID != "a" || e.Part != "id" {
		t.Errorf("two conditions of one name: %v", err)
	}
}

// Errors of expressions report the place, what was expected, and a suggestion.
func TestCheckErrors(t *testing.T) {
	for _, test := range []struct{ when, want string }{
		{`action.effects.exists(e, e.knd == "x")`, `when:1:27: unknown field "knd"; did you mean "kind"?`},
		{`action.effects[0].knd == "x"`, `when:1:18: unknown field "knd"; did you mean "kind"?`},
		{`history.windows.recent.evnts > 1`, `when:1:23: unknown field "evnts"; did you mean "events"?`},
		{"true &&\n  session.action > 1", `when:2:10: unknown field "action"; did you mean "actions"?`},
		{`action.?comands.hasValue()`, `unknown field "comands"; did you mean "commands"?`},
		{`action.risk > 1`, `when:1:7: unknown field "risk"; expected one of name, resource, types,`},
		{`actoin.types.size() > 1`, `when:1:1: unknown name "actoin"; did you mean "action"?`},
		{`input.action.types.size() > 1`, `when:1:1: CEL has no input: its fields are variables, so write action.commands`},
		{`event.args.command`, `when: expected a bool (compare the value with something), got dyn`},
		{`size(action.types)`, `when: expected a bool (compare the value with something), got int`},
		{`1 +`, `when:1:4: syntax error: the expression ends too early`},
		{`true)`, `when:1:5: syntax error: extraneous input ')'`},
		{`action.intent == 1`, `when:1:15: == cannot be applied to (string, int)`},
		{`!action.name`, `when:1:1: ! cannot be applied to (string)`},
		{`action.effects[""].kind == "x"`, `when:1:15: [] cannot be applied to (list(engine.Effect), string)`},
		{`action.types.exists(a, action.types.exists(b, action.types.exists(c, action.types.exists(d, action.types.exists(e, a == e)))))`, `are nested more than`},
		{`action.effects.exists(e, e.kind == "file_delte")`, `when:1:36: kind: unknown word "file_delte"; did you mean "file_delete"?`},
		{`"git_force" in action.signals`, `when:1:1: signals: unknown word "git_force"; did you mean "git_force_push"?`},
		{`action.types.exists(t, t == "write")`, `when:1:29: t: unknown word "write"; expected one of file_read,`},
		{`action.intent in ["file_read", "file_wride"]`, `when:1:32: intent: unknown word "file_wride"; expected one of`},
		{`"delets" in facts`, `when:1:1: facts: unknown word "delets"; did you mean "deletes"?`},
		{`phase == "PreToolUse"`, `when:1:10: phase: unknown word "PreToolUse"; expected one of start,`},
		{`event.args.command.matches("(")`, `when:1:28: the pattern "(" is not a regular expression (RE2): missing closing ): (`},
		{`glob(event.cwd, "/a/**b")`, `when:1:17: glob: ** must be alone between slashes, not in **b`},
		{`glob(event.cwd, "/a/[")`, `when:1:17: glob: [ is not a valid pattern: close the [`},
		{`under(event.cwd)`, `when:1:6: under cannot be applied to (string)`},
		{`{"a": 1}["a"] == 1`, `when:1:1: a map cannot be written in a condition: compare with a list, or use ||`},
		{`engine.Command{name: "a"}.name == "a"`, `when:1:15: an object cannot be built in a condition`},
		{`dyn(action).knd == 1`, `when:1:4: dyn() is not available: it would hide misspelt fields`},
		{`action.effects.all(a, action.effects.all(b, action.effects.all(c, a.target < c.target)))`, `when: could cost`},
		{strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), `when`},
		{strings.Repeat("true && ", 2000) + "true", `when`},
	} {
		problems := host(t, Condition{ID: "x", When: test.when}).Check()
		if len(problems) == 0 {
			t.Errorf("%s: nothing wrong, want %s", test.when, test.want)
			continue
		}
		got := strings.TrimPrefix(problems[0].Error(), "condition x: ")
		if !strings.Contains(got, test.want) {
			t.Errorf("%s:\n got %s\nwant %s", test.when, got, test.want)
		}
	}
	problems := host(t, Condition{ID: "x", Measure: `"a"`}, Condition{ID: "y", When: "fals"}).Check()
	if len(problems) != 2 || problems[0].Message != "expected a number (such as size(list), or double(value)), got string" {
		t.Errorf("got %v", problems)
	}
}
