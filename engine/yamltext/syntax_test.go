package yamltext

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const head = "- id: mine\n  title: Mine\n"

// Each mistake is found where it was made.
func TestExplain(t *testing.T) {
	for text, want := range map[string]string{
		head + "  message: \"open\n  severity: high\n- id: b\n  message: \"fine\"\n": `3:12: this quote is not closed; write the same quote at the end of the value`,
		head + "  message: 'open\n  severity: high\n":                                `3:12: this quote is not closed; write the same quote at the end of the value`,
		head + "   severity: high\n":                                                 `3:4: the indentation matches no line above, whose key already has a value; expected column 1 or 3`,
		head + " severity: high\n  decision: ask\n":                                  `3:2: the indentation matches no line above; expected column 1 or 3`,
		head + "\tseverity: high\n":                                                  `3:1: a tab indents this line, but YAML allows only spaces; replace the tab with spaces`,
		head + "  match:\n\tphases: [pre]\n":                                         `4:1: a tab indents this line, but YAML allows only spaces; replace the tab with spaces`,
		head + "  match:\n    phases: [pre]\n   tools: [Bash]\n":                     `5:4: the indentation matches no line above; expected column 1 or 3 or 5`,
		head + "  match: {phases: [pre}\n":                                           `3:23: expected ] before this }, for the bracket in line 3`,
		head + "  match: {phases: [pre]\n  decision: ask\n":                          `3:10: this { is not closed; write } at its end`,
		head + "  tags: [a,\n    b\n  decision: ask\n":                               `3:9: this [ is not closed; write ] at its end`,
		head + "  match: {tools: [\"Bash, Read]}\n  decision: ask\n":                 `3:19: this quote is not closed; write the same quote at the end of the value`,
		head + "  message: stop: now\n":                                              `3:16: a colon followed by a space ends a key, but this is inside a value; quote the value`,
		head + "  message: @all\n":                                                   `3:12: a value cannot start with @; quote it`,
		head + "  message: %d files\n":                                               `3:12: a value cannot start with %; quote it`,
		head + "  message: *.tmp\n":                                                  `3:12: a * at the start refers to an anchor, which is not supported here; quote the value`,
		head + "  message:now\n  decision: ask\n":                                    `3:10: there is no space after the colon; write message: now`,
		head + "  when: \"pre\" == phase\n":                                          `3:15: something follows the closing quote; put quotes around the whole value, or write it in a block below |`,
		head + "severity: high\n":                                                    `3:1: a key is among the items of a list; indent it, or start an item with a dash`,
		"id: mine\n- title: x\n":                                                     `2:1: a list item is among keys; indent it under the key that it belongs to`,
		"id: mine\njust words\n":                                                     `2:1: expected a key followed by a colon and a space, or a dash and a space`,
		"a: é \"\nb: \"x\" y\n":                                                      `2:8: something follows the closing quote; put quotes around the whole value, or write it in a block below |`,
		head + "  match: {tools: a b: c}\n":                                          `3:21: a colon followed by a space ends a key, but this is inside a value; quote the value, or write a comma before the next key`,
		head + "  match: {\"tools\" \"Bash\"}\n":                                     `3:19: something follows the end of a value; write a comma before it, or put quotes around the whole value`,
		head + "  match: {tools: [Bash] phases: [pre]}\n":                            `3:25: something follows the end of a value; write a comma before it, or put quotes around the whole value`,
		head + "  match: {tools: [Bash,, Read]}\n":                                   `3:24: there is nothing before this comma; remove it`,
		head + "  match: {, tools: [Bash]}\n":                                        `3:11: there is nothing before this comma; remove it`,
	} {
		var n yaml.Node
		err := yaml.Unmarshal([]byte(text), &n)
		if err == nil {
			t.Errorf("%q is YAML", text)
			continue
		}
		f := Explain(text, err)
		if got := fmt.Sprintf("%d:%d: %s", f.Line, f.Col, f.Message); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// Nothing is found in what is YAML: the built-in policy has every form that
// policies have.
func TestNothingWrong(t *testing.T) {
	n := 0
	err := filepath.WalkDir("../../bundles/default", func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".yaml" {
			return err
		}
		n++
		text, err := os.ReadFile(file)
		if f := Explain(string(text), fmt.Errorf("yaml: line 1: none")); f.Message != "none" {
			t.Errorf("%s:%d:%d: %s", strings.TrimPrefix(file, "../../"), f.Line, f.Col, f.Message)
		}
		return err
	})
	if err != nil || n < 100 {
		t.Errorf("%d files, %v", n, err)
	}
}

// Whatever the text, it ends, and the place is one of the text.
func FuzzExplain(f *testing.F) {
	f.Add(head)
	f.Add("a: [\n - {\n")
	f.Add("- - \"x\n'")
	f.Fuzz(func(t *testing.T, text string) {
		got := Explain(text, fmt.Errorf("yaml: line 1: none"))
		if lines := strings.Count(text, "\n") + 1; got.Line < 1 || got.Line > lines || got.Col < 0 {
			t.Errorf("%q: %+v", text, got)
		}
	})
}
