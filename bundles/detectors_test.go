package bundles

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const examples = "examples: {match: [a], no_match: [b]}\n"

func TestParseDetectors(t *testing.T) {
	list, err := ParseDetectors("detectors/a.yaml", []byte(`# Rows and documents.
- id: text.orders
  title: Orders
  description: Phrases.
  pattern: '(?i)ignore'
  in: [results, contents]
  tools: [Read, "mcp__*"]
  max: 3
  examples:
    match: ["Ignore"]
    no_match: [a, b]
---
id: other
title: Other
patterns:
  - a
  - 'b: c'
examples: {match: [a], no_match: [x]}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Detector{
		{ID: "text.orders", Title: "Orders", Description: "Phrases.", Pattern: "(?i)ignore", In: []string{"results", "contents"},
			Tools: []string{"Read", "mcp__*"}, Max: 3, Examples: DetectorExamples{[]string{"Ignore"}, []string{"a", "b"}}},
		{ID: "other", Title: "Other", Patterns: []string{"a", "b: c"}, Max: 100, Examples: DetectorExamples{[]string{"a"}, []string{"x"}}},
	}
	if d := cmp.Diff(want, list, cmpopts.IgnoreUnexported(Detector{})); d != "" {
		t.Fatal(d)
	}
	for got, want := range map[string]string{
		list[0].PatternPlace(0): "detectors/a.yaml:5", list[1].PatternPlace(1): "detectors/a.yaml:17",
		list[0].ExamplePlace(0): "detectors/a.yaml:10", list[0].ExamplePlace(2): "detectors/a.yaml:11",
	} {
		if got != want {
			t.Errorf("got the place %s, want %s", got, want)
		}
	}
	if d := cmp.Diff([]string{"(?i)ignore"}, list[0].All()); d != "" {
		t.Error(d)
	}
}

func TestParseDetectorsErrors(t *testing.T) {
	const head = "id: a\ntitle: A\n"
	for _, test := range []struct{ yaml, want string }{
		{head + "patern: a\n" + examples, `f.yaml:3: unknown key "patern"; did you mean "pattern"?`},
		{head + "pattern: a\npattern: b\n" + examples, `f.yaml:4: duplicate key pattern, first in line 3`},
		{head + examples, `f.yaml:1: a: expected either pattern, or patterns`},
		{head + "pattern: a\npatterns: [b]\n" + examples, `f.yaml:1: a: expected either pattern, or patterns`},
		{head + "patterns: []\n" + examples, `f.yaml:3: patterns is empty`},
		{head + "patterns: a\n" + examples, `f.yaml:3: patterns: expected a list such as [a, b], got "a"`},
		{head + "pattern: a\nin: [result]\n" + examples, `f.yaml:4: in: unknown word "result"; did you mean "results"?`},
		{head + "pattern: a\nin: []\n" + examples, `f.yaml:4: in is empty`},
		{head + "pattern: a\ntools: [m*p]\n" + examples, `f.yaml:4: tools: "m*p": a * can only be at the end`},
		{head + "pattern: a\nmax: 0\n" + examples, `f.yaml:4: max: 0 is not between 1 and 10000`},
		{head + "pattern: a\nmax: 10001\n" + examples, `f.yaml:4: max: 10001 is not between 1 and 10000`},
		{head + "pattern: a\nmax: many\n" + examples, `f.yaml:4: max: expected a whole number, got "many"`},
		{head + "pattern: a\n", `f.yaml:1: the detector: examples is missing`},
		{head + "pattern: a\nexamples: {match: [a]}", `f.yaml:4: examples: no_match is missing`},
		{head + "pattern: a\nexamples: {match: [], no_match: [b]}", `f.yaml:4: match is empty`},
		{"id: A\ntitle: A\npattern: a\n" + examples, `f.yaml:1: id "A": expected lower-case words`},
		{"id: " + strings.Repeat("a", 41) + "\ntitle: A\npattern: a\n" + examples, `f.yaml:1: id ` + strings.Repeat("a", 41) + ` has 41 bytes, at most 40`},
		{"id: a\npattern: a\n" + examples, `f.yaml:1: the detector: title is missing`},
		{head + "pattern: a\n" + examples + "---\n" + head + "pattern: a\n" + examples, `f.yaml:6: duplicate id a, first in line 1`},
		{"- a", `f.yaml:1: the detector: expected keys with values, got "a"`},
		{head + "pattern: &x a\ndescription: *x\n" + examples, `f.yaml:4: description: aliases are not allowed here; write the value in full`},
	} {
		list, err := ParseDetectors("f.yaml", []byte(test.yaml))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || list != nil {
			t.Errorf("%s\n got %v\nwant %s", test.yaml, err, test.want)
		}
	}
	_, err := ParseDetectors("f.yaml", []byte("- {id: a}\n- {id: b, title: B, pattern: a, max: 0, examples: {match: [a], no_match: [b]}}\n"))
	if err == nil || strings.Count(err.Error(), "f.yaml:") != 3 {
		t.Errorf("got %v, want three errors: two missing keys and max", err)
	}
}

// Whatever is accepted can be pointed at, and has an id.
func FuzzParseDetectors(f *testing.F) {
	f.Add("- id: a\n  title: A\n  patterns: [a, b]\n  max: 4\n  examples: {match: [a], no_match: [b]}")
	f.Add("id: a\ntitle: A\npattern: |\n  a\nexamples: {match: [a, ''], no_match: [[b]]}")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseDetectors("f.yaml", []byte(text))
		if err != nil && (list != nil || !strings.HasPrefix(err.Error(), "f.yaml:")) {
			t.Fatalf("%q: %d detectors and %v", text, len(list), err)
		}
		for _, d := range list {
			if d.ID == "" || d.Max < 1 || len(d.All()) == 0 || len(d.patterns) != len(d.All()) || len(d.matches) != len(d.Examples.Match)+len(d.Examples.NoMatch) {
				t.Fatalf("%q: %+v", text, d)
			}
		}
	})
}

func detectorsOf(ids ...string) string {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "- {id: %s, title: About %s, pattern: a, examples: {match: [a], no_match: [b]}}\n", id, id)
	}
	return b.String()
}

// layerWith makes a layer of one file after the other: name, content.
func layerWith(t *testing.T, layer string, files ...string) *Bundle {
	t.Helper()
	all := map[string][]byte{}
	for i := 0; i < len(files); i += 2 {
		all[files[i]] = []byte(files[i+1])
	}
	b, err := FromFiles(all, layer)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Layers add detectors; they come in the order of layers, files and rows.
func TestDetectorsOfLayers(t *testing.T) {
	base, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	organisation := layerWith(t, Organisation, "detectors/b.yaml", detectorsOf("org.c"), "detectors/a/x.yaml", detectorsOf("org.b", "org.a"))
	user := layerWith(t, User, "detectors/a.yaml", detectorsOf("mine"))
	e, err := Assemble(base, organisation, user)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range e.Detectors()[len(base.Detectors):] {
		ids = append(ids, d.ID)
	}
	if d := cmp.Diff([]string{"org.b", "org.a", "org.c", "mine"}, ids); d != "" {
		t.Error(d)
	}
	policies := e.Data["policies"].(map[string]any)
	want := map[string]any{"mine": map[string]any{"title": "About mine"}}
	if d := cmp.Diff(want, policies[User].(map[string]any)["detectors"]); d != "" {
		t.Error(d)
	}
	if got := len(e.Data["reviewer"].(map[string]any)["detectors"].(map[string]any)); got != len(base.Detectors) || got == 0 {
		t.Errorf("policy sees %d detectors of the base layer, want %d", got, len(base.Detectors))
	}
}

func TestDetectorsOfLayersErrors(t *testing.T) {
	base, err := Default()
	if err != nil {
		t.Fatal(err)
	}
	taken := base.Detectors[0].ID
	for name, test := range map[string]struct {
		file, content, want string
	}{
		"an id of another layer": {"detectors/a.yaml", detectorsOf("mine", taken), "user/detectors/a.yaml:2: detector \"" + taken + "\" already exists in the base layer"},
		"a rule about none": {"rules/a.yaml", "- {id: x, severity: low, match: {detected: [text.hiden]}}",
			`user/rules/a.yaml:1: rule x: unknown detector "text.hiden"; did you mean "text.hidden"?`},
	} {
		if _, err := Assemble(base, layerWith(t, User, test.file, test.content)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	_, err = FromFiles(map[string][]byte{"data.yaml": []byte("policies: {user: {detectors: {}}}")}, User)
	if err == nil || !strings.Contains(err.Error(), "detectors/**.yaml") {
		t.Errorf("titles in data: %v", err)
	}
}
