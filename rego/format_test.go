package rego

import (
	"strings"
	"testing"
)

// A form that says something else is refused, and the place named.
func TestFormatKeepsTheMeaning(t *testing.T) {
	const head = "package x\n\nimport data.a\nimport data.b\nimport data.c\n\n"
	for name, test := range map[string]struct{ body, want, wrong string }{
		"as it is":         {"p if a == b\n", "p if a == b\n", ""},
		"blanks":           {"p   if   a == b\n", "p if a == b\n", ""},
		"arithmetic":       {"p := a * (b + c)\n", "p := a * (b + c)\n", ""},
		"a body in a line": {"p if { a; b }\n", "p if {\n\ta\n\tb\n}\n", ""},
		"brackets":         {"q if a\n\np if a == (b == c)\n", "", "x.rego:9: OPA's formatter would change"},
	} {
		got, err := Format("x.rego", []byte(head+test.body))
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("%s: error is %v, want %q in it", name, err, test.wrong)
			}
			continue
		}
		if err != nil || string(got) != head+test.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, head+test.want)
		}
	}
}
