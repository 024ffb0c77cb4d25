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
