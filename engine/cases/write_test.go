package cases

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sameStory compares cases without the places where they are written.
func sameStory() cmp.Options {
	return cmp.Options{
		cmpopts.IgnoreFields(Case{}, "File", "Line"), cmpopts.IgnoreUnexported(Case{}),
		cmpopts.IgnoreUnexported(Event{}),
		cmp.Transformer("asJSON", func(m map[string]any) string { // 8. and 8 are one number there
			text, err := json.Marshal(m)
			if err != nil {
				return err.Error()
			}
			return string(text)
		}),
	}
}

func rewritten(t *testing.T, list []Case) []Case {
	t.Helper()
	text, err := Write([]string{"a comment"}, list...)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("a.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return again
}

// What is written is read again as it was, for every built-in case.
func TestWriteShipped(t *testing.T) {
	list, err := Load(os.DirFS("../../bundles/default/cases"))
	if len(list) == 0 {
		t.Fatal("no cases", err)
	}
	if diff := cmp.Diff(list, rewritten(t, list), sameStory()); diff != "" {
		t.Error(diff)
	}
}

func TestWrite(t *testing.T) {
	list, err := Parse("a.yaml", []byte(`
name: a story
workspace: /srv/shop
files: {src/a.txt: "text\nof two lines\n", dir/: null, current: {link: src}, none: ""}
git: {src/a.txt: clean}
settings: {risk: {high_threshold: 0.75}}
events:
  - prompt: "yes"
  - {Write: src/b.txt, result: ok, files: {src/b.txt: "x"}}
  - {tool: Read, args: {file_path: b.txt}, result: {failed: no such file}}
  - {Bash: make, at: +1.5s, cwd: src, expect: {decision: allow, rules_exactly: []}}
  - {result: {output: done, args: {command: make all}}}
  - {TodoWrite: {todos: [{content: a, status: pending}]}, expect: {risk: {below: 0.3, level: minimal}, rewritten: {command: ls}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(list, rewritten(t, list), sameStory()); diff != "" {
		t.Error(diff)
	}
	text, err := Write([]string{"from a log"}, list...)
	want := `# from a log
- name: a story
  files:
    current: {link: src}
    dir/: null
    none: ""
    src/a.txt: |
      text
      of two lines
  git: {src/a.txt: clean}
  settings: {risk: {high_threshold: 0.75}}
  events:
    - {prompt: "yes"}
    - {Write: src/b.txt, result: ok, files: {src/b.txt: x}}
    - {tool: Read, args: {file_path: b.txt}, result: {failed: no such file}}
    - {Bash: make, at: +1.5s, cwd: src, expect: {decision: allow, rules_exactly: []}}
    - {result: {output: done, args: {command: make all}}}
`
	if got := string(text); err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}

// Whatever can be read can be written, and is reproduced.
func FuzzWrite(f *testing.F) {
	f.Add("name: a\ncases: [{Bash: ls, decision: allow}]")
	f.Add("name: a\nfiles: {a: \"\\0\"}\nevents: [{Write: {file_path: a, content: \"\"}, expect: {rules: []}}]")
	f.Add("name: a\nevents: [{A: {A: [8.]}, expect: {decision: allow}}]")
	f.Add("name: 1\nevents: [{result: failed}, {mcp__a__b: {x: [1, null, 1.5]}, times: 2, expect: {text: '# x'}}]")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse("a.yaml", []byte(text))
		if err != nil || len(list) == 0 {
			return
		}
		if diff := cmp.Diff(list, rewritten(t, list), sameStory()); diff != "" {
			t.Error(diff)
		}
	})
}
