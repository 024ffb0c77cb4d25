package cases

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

func parse(t *testing.T, text string) []Case {
	t.Helper()
	list, err := Parse("a.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func names(list []Case) []string {
	var all []string
	for _, c := range list {
		all = append(all, c.Name)
	}
	return all
}

// Documents, lists in documents, and tables all give cases, in order.
func TestParse(t *testing.T) {
	list := parse(t, `
- name: one
  events: [{Bash: ls, expect: {decision: allow}}]
- name: table
  todo: later
  events: [{prompt: go}]
  cases:
    - {Bash: rm a, decision: warn}
    - {name: named, todo: sooner, Write: b.txt, decision: allow, at: +1m}
---
# nothing but a comment
---
name: last
events: [{Bash: ls, expect: {rules_exactly: []}}]
`)
	if diff := cmp.Diff(names(list), []string{"one", "table: Bash rm a", "table: named", "last"}); diff != "" {
		t.Error(diff)
	}
	row := list[2]
	if len(row.Events) != 2 || row.Events[0].Prompt != "go" || row.Events[1].At != "+1m" || row.Events[1].Expect.Decision != engine.Allow {
		t.Errorf("the row is %+v", row.Events)
	}
	if row.Line != 9 || row.File != "a.yaml" || list[3].Line != 13 {
		t.Errorf("the cases are at %s:%d and line %d", row.File, row.Line, list[3].Line)
	}
	var ids []string
	for _, c := range list {
		ids = append(ids, c.ID()+" "+c.Todo)
	}
	if diff := cmp.Diff(ids, []string{"one ", "table/1 later", "table/2 sooner", "last "}); diff != "" {
		t.Error(diff)
	}
	if e := list[3].Events[0].Expect; e.RulesExactly == nil || e.Rules != nil {
		t.Errorf("an empty list and none are the same: %+v", e)
	}
}

// Each mistake is said with its line, what was meant, and all at once.
func TestParseErrors(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"unknown keys":               {"name: a\nevent: []\nevents:\n  - {Bash: ls, expekt: {decision: allow}}", []string{`a.yaml:2: unknown key "event"; did you mean "events"?`, `a.yaml:4: unknown key "expekt"; did you mean "expect"?`}},
		"unknown word":               {"name: a\ncases:\n  - {Bash: ls, decision: alow}", []string{`a.yaml:3: decision: unknown word "alow"; did you mean "allow"?`}},
		"unknown phase":              {"name: a\nevents: [{phase: pre}]", []string{`unknown word "pre"`}},
		"unknown git state":          {"name: a\ngit: {b: dirtty}\ncases: [{Bash: ls, decision: allow}]", []string{`git.b: unknown word "dirtty"; did you mean "dirty"?`}},
		"no name":                    {"cases: [{Bash: ls, decision: allow}]", []string{"a.yaml:1: the case: name is missing"}},
		"nothing expected":           {"name: a\nevents: [{Bash: ls}]", []string{`a.yaml:1: case "a" has no expectations`}},
		"an empty expectation":       {"name: a\nevents: [{Bash: ls, expect: {}}]", []string{"expect has no expectations: expected one of decision, answer"}},
		"a row without any":          {"name: a\ncases: [{Bash: ls}]", []string{"the row has no expectations"}},
		"a row without a call":       {"name: a\ncases: [{prompt: go, decision: allow}]", []string{"the row has no tool call"}},
		"expect in a row":            {"name: a\ncases: [{Bash: ls, expect: {decision: allow}}]", []string{"expect: put its keys directly in the row"}},
		"no event":                   {"name: a\nevents: [{at: +5s, expect: {decision: allow}}]", []string{"the event is empty"}},
		"two events":                 {"name: a\nevents: [{prompt: go, stop: enough}]", []string{"the event combines prompt, stop"}},
		"two tools":                  {"name: a\nevents: [{Bash: ls, Read: a}]", []string{`unknown key "Read"`}},
		"a tool twice":               {"name: a\nevents: [{Bash: ls, tool: Read}]", []string{"tool: the event already names the tool Bash with its arguments"}},
		"an unknown short form":      {"name: a\nevents: [{NotebookEdit: a.ipynb}]", []string{"NotebookEdit: expected its arguments, such as {key: value}"}},
		"arguments alone":            {"name: a\nevents: [{args: {a: 1}, prompt: x}]", []string{"args: tool is missing"}},
		"an expectation on a choice": {"name: a\nevents: [{stop: enough, expect: {decision: block}}]", []string{"a person's choice is not reviewed"}},
		"an invalid result":          {"name: a\nevents: [{Bash: ls, result: fine}]", []string{`result: expected ok, failed, or`}},
		"call elsewhere":             {"name: a\nevents: [{prompt: x, call: 1}]", []string{"call: only result and allow"}},
		"times elsewhere":            {"name: a\nevents: [{prompt: x, times: 2}]", []string{"times: only a tool call"}},
		"too often":                  {"name: a\nevents: [{Bash: ls, times: 100000}]", []string{"times: expected 1 to 1000, got 100000"}},
		"an invalid time":            {"name: a\nevents: [{prompt: x, at: soon}]", []string{`expected a time such as +5s or 2026-03-02T09:00:00Z, got "soon"`}},
		"an invalid now":             {"name: a\nnow: +5s\ncases: [{Bash: ls, decision: allow}]", []string{"now: expected a time such as"}},
		"a relative workspace":       {"name: a\nworkspace: shop\ncases: [{Bash: ls, decision: allow}]", []string{`"shop": expected an absolute path`}},
		"a key twice":                {"name: a\nname: b\ncases: [{Bash: ls, decision: allow}]", []string{"a.yaml:2: duplicate key name, first in line 1"}},
		"an alias":                   {"name: a\nmode: &m default\ncases: [{Bash: *m, decision: allow}]", []string{"aliases are not allowed here"}},
		"a date":                     {"name: a\ncases: [{Bash: {command: ls, on: 2026-01-01}, decision: allow}]", []string{"2026-01-01 is not a string; quote it"}},
		"an empty string":            {"name: a\nevents: [{prompt: }]", []string{"prompt is empty"}},
		"text for a list":            {"name: a\ncases: [{Bash: ls, rules: x}]", []string{`rules: expected a list such as [a, b], got "x"`}},
		"text for a number":          {"name: a\ncases: [{Bash: ls, risk: {above: much}}]", []string{`above: expected a number, got "much"`}},
		"an infinite number":         {"name: a\ncases: [{Bash: ls, risk: {above: .inf}}]", []string{`above: expected a number`}},
		"a file as a folder":         {"name: a\nfiles: {src/: text}\ncases: [{Bash: ls, decision: allow}]", []string{"files.src/: a path that ends in / is a folder"}},
		"settings twice":             {"name: a\nsettings: {grant: true}\nlayers: {user: {settings.yaml: x}}\ncases: [{Bash: ls, decision: allow}]", []string{"use one of the two"}},
		"not YAML":                   {"name: a\n  b: c: d", []string{"a.yaml:2:"}},
		"several":                    {"name: a\nmod: x\nevents:\n  - {Bash: ls, at: soon}\n  - {prompt: x, expect: {decison: allow}}", []string{"a.yaml:2:", "a.yaml:4:", "a.yaml:5:"}},
	} {
		list, err := Parse("a.yaml", []byte(test.text))
		if err == nil {
			t.Errorf("%s: no error, but %+v", name, list)
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: want %q in\n%v", name, want, err)
			}
		}
	}
}

func TestParseArchive(t *testing.T) {
	text := "A note.\n\n-- notes.txt --\nideas\n-- case.yaml --\nname: a\nfiles: {src/: null}\ncases: [{Bash: ls, decision: allow}]\n"
	list, err := Parse("a.txtar", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]File{"notes.txt": {Content: "ideas\n"}, "src/": {Folder: true}}
	if diff := cmp.Diff(list[0].Files, want); diff != "" {
		t.Error(diff)
	}
	for name, test := range map[string][2]string{
		"the line in the archive": {strings.Replace(text, "decision", "decison", 1), "a.txtar:8: "},
		"a file twice":            {strings.Replace(text, "src/: null", "notes.txt: x", 1), "a.txtar:6: files.notes.txt is also in the archive"},
		"no case":                 {"-- notes.txt --\nideas\n", "a.txtar:1: the archive has no file case.yaml"},
	} {
		if _, err := Parse("a.txtar", []byte(test[0])); err == nil || !strings.Contains(err.Error(), test[1]) {
			t.Errorf("%s: %v, want %q in it", name, err, test[1])
		}
	}
}

func TestLoad(t *testing.T) {
	row := []byte("name: x\ncases: [{Bash: ls, decision: allow}]")
	list, err := Load(fstest.MapFS{
		"b/b.yaml": {Data: row}, "a.yaml": {Data: row}, "README.md": {Data: []byte("# Cases")}, ".x/a.yaml": {Data: []byte("nothing")},
	})
	if err != nil || len(list) != 2 || list[0].File != "a.yaml" || list[1].File != "b/b.yaml" {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = Load(fstest.MapFS{"a.yml": {Data: []byte("name: a")}, "b.json": {Data: row}, "c.yaml": {Data: []byte("x")}})
	for _, want := range []string{"a.yml:1: case", "b.json: nothing reads this file", "c.yaml:1: the case: expected keys"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

// What the package's documentation shows is a case.
func TestDocumentation(t *testing.T) {
	raw, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var examples []string
	for line := range strings.Lines(string(raw)) {
		code, ok := strings.CutPrefix(line, "//\t")
		switch {
		case ok && strings.HasPrefix(code, "name:"):
			examples = append(examples, code)
		case ok:
			examples[len(examples)-1] += code
		}
	}
	if len(examples) != 2 {
		t.Fatalf("%d examples, want 2", len(examples))
	}
	for _, text := range examples {
		for _, c := range parse(t, text) {
			if _, err := c.Steps(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Whatever the text, there is a case or an error, each with a place.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"name: a\ncases: [{Bash: ls, decision: allow}]",
		"- name: a\n  files: {a: x, b/: null, c: {link: a}}\n  git: {a: clean}\n  events: [{Bash: ls, times: 3, result: failed}, {allow: once, call: 2}, {stop: x}, {mcp__a__b: {x: [1, {y: 2.5}]}, at: +1h, expect: {risk: {level: low, above: 0.1}, rewritten: {x: 1}}}]",
		"name: [&a x, *a]", "<<: {name: a}", "name: a\nname: b", "? [a]\n: b", "!!binary x", "name: a\ncases: [null, {null: null}]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse("a.yaml", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "a.yaml:") || list != nil {
				t.Errorf("%v with %d cases", err, len(list))
			}
			return
		}
		for _, c := range list {
			steps, err := c.Steps()
			if err == nil && len(steps) <= len(c.Events) && len(c.Events) > 0 {
				t.Errorf("%d events become %d steps", len(c.Events), len(steps))
			}
			for i := 1; i < len(steps); i++ {
				if steps[i].Time < steps[i-1].Time {
					t.Errorf("step %d is before step %d", i, i-1)
				}
			}
		}
	})
}
