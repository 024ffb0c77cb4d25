package prompt

import (
	"os"
	"strings"
	"testing"
)

// What a prohibition refers to may be named before it: PROMPT => STATEMENTS.
func TestReferences(t *testing.T) {
	raw, err := os.ReadFile("testdata/references.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		text, want, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if strings.HasPrefix(line, "#") || !ok {
			continue
		}
		n++
		if got := renderStatements(statementsOf(text)); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	if n < 15 {
		t.Errorf("only %d lines", n)
	}
}
