package rego

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// A module needs those that define what it names: a rule, parts of it in other modules, a package.
func TestNeeded(t *testing.T) {
	modules := map[string]string{
		"base/wanted.rego": "package a\n\nimport data.b.helper\n\nx if offers[input.id]\n\ny := helper(1)\n\nz := data.c\n",
		"base/part.rego":   "package a\n\noffers.one := [1]\n",
		"base/deep.rego":   "package a\n\noffers.two.three := 1 if input.x\n",
		"base/helper.rego": "package b\n\nhelper(n) := n + data.d.limit\n",
		"base/limit.rego":  "package d\n\nlimit := 3\n",
		"base/whole.rego":  "package c\n\nanything := 1\n",
		"base/broken.rego": "package e\n\n{",
		"base/other.rego":  "package a\n\nother := 1\n",
		"base/last.rego":   "package f\n\nunrelated := 1\n",
	}
	got := slices.Sorted(maps.Keys(Needed(modules, func(text string) bool { return strings.Contains(text, "helper(1)") })))
	want := "base/broken.rego base/deep.rego base/helper.rego base/limit.rego base/part.rego base/wanted.rego base/whole.rego"
	if strings.Join(got, " ") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, " "), want)
	}
}

func TestDetectionsIn(t *testing.T) {
	const head = "package policies.user\n\n"
	for source, want := range map[string][]string{
		`a if input.action.detected["x.one"] > 0`:                                            {"x.one"},
		`a if input.action.detected.two`:                                                     {"two"},
		`a if not input.action.detected["x.one"]`:                                            {"x.one"},
		"a if {\n\tsome id, _ in input.action.detected\n\tstartswith(id, \"x.\")\n}":         {"x.one", "x.other"},
		"a if {\n\tsome id, _ in input.action.detected\n\tnot startswith(id, \"x.\")\n}":     {"x.one", "x.other", "two", "three"},
		"a if {\n\tsome id, _ in input.action.detected\n\tid == \"two\"\n}":                  {"x.one", "x.other", "two", "three"},
		"a if {\n\tnot b\n}\n\nb if {\n\tsome id in [1]\n\tinput.action.detected[id]\n}":     {"x.one", "x.other", "two", "three"},
		`a if count(input.action.detected) > 2`:                                              {"x.one", "x.other", "two", "three"},
		`a if count(object.get(input.action, "starts", [])) > 0`:                             nil,
		`a if count(object.get(input.action, "detected", {})) > 0`:                           {"x.one", "x.other", "two", "three"},
		`a if object.get(input, ["action", "detected", "two"], 0) > 0`:                       {"x.one", "x.other", "two", "three"},
		"import input.action as it\n\na if it.detected.two":                                  {"two"},
		"import input.action.detected as it\n\na if it[\"x.one\"]":                           {"x.one"},
		"a if {\n\tit := input.action\n\tit.detected.two\n}":                                 {"x.one", "x.other", "two", "three"},
		"a if {\n\tsome part in [\"detected\"]\n\tinput.action[part].two\n}":                 {"x.one", "x.other", "two", "three"},
		"a if {\n\twalk(input, [_, v])\n\tv == 3\n}":                                         {"x.one", "x.other", "two", "three"},
		`a if [n | n := input.action.detected.two; n > 0] != []`:                             {"two"},
		`f(x) := x.detected` + "\n\na if f(input.action).two":                                {"x.one", "x.other", "two", "three"},
		`a if input.event.args[input.action.detected["x.one"]]`:                              {"x.one"},
		`a if input.event.tool == "Bash" else := true if input.action.detected["three"] > 1`: {"three"},
		"a if": {"x.one", "x.other", "two", "three"}, // it does not parse
	} {
		d := DetectionsIn(map[string]string{"user/a.rego": head + source + "\n"})
		for _, id := range []string{"x.one", "x.other", "two", "three"} {
			if got := len(d.Readers(id)) > 0; got != slices.Contains(want, id) {
				t.Errorf("%s\nreads %s: %v", source, id, got)
			}
		}
	}
}
