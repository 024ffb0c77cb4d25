package bundles

import (
	"fmt"
	"strings"
	"testing"
)

// A place in an expression is one of the file, in whatever form YAML has the text.
func TestFoldedPlaces(t *testing.T) {
	const head = "- id: a.b\n  severity: low\n  decision: ask\n  message: m\n  "
	for name, value := range map[string]string{
		"plain":           "when: phase == X",
		"plain, joined":   "when: phase == \"pre\" &&\n    session.stopped ==\n      X",
		"folded":          "when: >-\n    phase == \"pre\" &&\n    session.stopped == X\n",
		"folded, kept":    "when: >+\n    phase == \"pre\"\n\n      && action.name\n    == X\n\n",
		"block":           "when: |\n    phase ==\n      X\n",
		"single quotes":   "when: 'phase == \"pre\" && action.name == ''a'' && X'",
		"double quotes":   "when: \"phase == \\\"pre\\\" && action.name == \\\"é\\\" && X\"",
		"quotes, joined":  "when: \"phase == \\\"pre\\\" &&\n    X\"",
		"folded, accents": "when: >-\n    action.name == \"é\" &&\n    \"éé\" == X\n",
	} {
		text := head + value
		rows, err := ParseConditions("rules/a.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		before, _, _ := strings.Cut(rows[0].When, "X")
		line := strings.Count(before, "\n") + 1
		col := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
		before, _, _ = strings.Cut(text, "X")
		want := fmt.Sprintf("%d:%d", strings.Count(before, "\n")+1, len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))+1)
		if _, l, c := rows[0].Spot("when", line, col); fmt.Sprintf("%d:%d", l, c) != want {
			t.Errorf("%s: %d:%d of the text is said to be at %d:%d, want %s", name, line, col, l, c, want)
		}
	}
}
