package cel

import (
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// An effect may be on a folder if its target is in it, is above it with everything in it, or can be expanded to it.
func TestConcerns(t *testing.T) {
	exact, glob, prefix := engine.CertaintyExact, engine.CertaintyGlob, engine.CertaintyPrefix
	for _, test := range []struct {
		short     string
		certainty engine.Certainty
		recursive bool
		dir       string
		want      bool
	}{
		{"./billing/a.go", exact, false, "./billing", true},
		{"./billing/a.go", exact, false, "billing", true},
		{"./billing2/a.go", exact, false, "./billing", false},
		{".", exact, true, "./billing", true},
		{".", exact, false, "./billing", false},
		{"./src", exact, true, "./src/billing", true},
		{"./bil*", glob, false, "./billing", true},
		{"./bil*", glob, true, "./billing/invoices", true},
		{"./bil*", glob, false, "./billing/invoices", false},
		{"./b?lling/x/*", glob, false, "./billing", true},
		{"./doc*", glob, true, "./billing", false},
		{"./*", glob, true, "./billing", true},
		{"./*/a.go", glob, false, "./billing", true},
		{"./src/*/a.go", glob, false, "./billing", false},
		{"./**/a.go", glob, false, "./billing", true},
		{"./src/**", glob, false, "./billing", false},
		{"./bil?", prefix, false, "./billing", true},
		{"./billing/x?", prefix, false, "./billing", true},
		{"./doc?", prefix, false, "./billing", false},
		{"~/.ssh/id*", glob, false, "~/.ssh", true},
		{"", engine.CertaintyUnknown, true, "./billing", false},
		{"./a", exact, false, "", false},
	} {
		e := engine.Effect{Short: test.short, Certainty: test.certainty, Recursive: test.recursive}
		if got := concerns(e, test.dir); got != test.want {
			t.Errorf("%s (%s, recursive %v) on %s: %v", test.short, test.certainty, test.recursive, test.dir, got)
		}
	}
}
