package prompt

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// TestPassing measures what is held of prohibitions that people write in passing, and that descriptions are not read
// as any.
func TestPassing(t *testing.T) {
	raw, err := os.ReadFile("testdata/life.txt")
	if err != nil {
		t.Fatal(err)
	}
	var tuned, held share
	part := &tuned
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		text, want, ok := strings.Cut(line, " =>")
		switch {
		case line == "#held":
			part = &held
			continue
		case line == "#nothing":
			part = nil
			continue
		case !ok, strings.HasPrefix(line, "#"):
			continue
		}
		said := statementsOf(text)
		if part == nil {
			if slices.ContainsFunc(said, func(s engine.Statement) bool { return s.Kind == engine.Forbids }) {
				t.Errorf("%s: read as %s", text, renderStatements(said))
			}
			continue
		}
		right := true
		for _, act := range strings.Split(strings.TrimSpace(want), ", ") {
			right = right && slices.ContainsFunc(said, func(s engine.Statement) bool {
				return s.Kind == engine.Forbids && slices.Contains(strings.Split(act, "|"), s.Act)
			})
		}
		if part.count(right); !right {
			t.Logf("%s: %s", text, renderStatements(said))
		}
	}
	t.Logf("%.1f %% of %d; kept apart: %.1f %% of %d", tuned.percent(), tuned.all, held.percent(), held.all)
	if tuned.percent() < 86 || held.percent() < 80 {
		t.Error("fewer are held than before")
	}
}
