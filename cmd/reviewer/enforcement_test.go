package main

import (
	"strings"
	"testing"
)

func TestWithKey(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"nothing there", "", "enforcement: warn\n"},
		{"only a comment", "# mine\n", "# mine\nenforcement: warn\n"},
		{"another value", "a: 1\n\nenforcement: observe # for a week\n\nb:\n    - 2\n", "a: 1\n\nenforcement: warn # for a week\n\nb:\n    - 2\n"},
		{"quoted", "enforcement: \"observe\"\n", "enforcement: warn\n"},
		{"the same", "enforcement: warn", "enforcement: warn"},
		{"last line without an end", "a: 1", "a: 1\nenforcement: warn\n"},
		{"a key of that name inside", "a:\n  enforcement: x\n", "a:\n  enforcement: x\nenforcement: warn\n"},
		{"carriage returns", "enforcement: observe\r\na: 1\r\n", "enforcement: warn\r\na: 1\r\n"},
	} {
		got, err := withKey([]byte(c.before), "enforcement", "warn")
		if err != nil || string(got) != c.after {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.after)
		}
	}
}

func TestWithKeyLeavesAlone(t *testing.T) {
	for _, before := range []string{"- a\n", "a: [\n", "{a: 1}\n", "{enforcement: observe, a: 1}\n", "enforcement: 'a b'\n", "enforcement:\n  - observe\n", "a: 1\n...\n"} {
		got, err := withKey([]byte(before), "enforcement", "warn")
		if err == nil {
			t.Errorf("%q became %q, want an error", before, got)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error has several lines: %v", before, err)
		}
	}
}
