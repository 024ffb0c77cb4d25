package auditcmd

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// A table keeps to the width of the terminal as far as its numbers let it.
func TestTableWidths(t *testing.T) {
	wide := table{heads: []string{"TOOL", "OF", "CALLS"}, texts: 2}
	wide.add(strings.Repeat("é", 60), strings.Repeat("x", 30), "123456")
	wide.add("Bash\x1b[31m\n", "", "7")
	for line, want := range map[int]int{200: 100, 100: 100, 80: 80, 30: 30, 10: 26} {
		var b bytes.Buffer
		wide.write(&b, term.Paint{}, line)
		longest := 0
		for text := range strings.Lines(b.String()) {
			longest = max(longest, utf8.RuneCountInString(strings.TrimSuffix(text, "\n")))
		}
		if longest != want || strings.Count(b.String(), "\n") != 3 || strings.Contains(b.String(), "\x1b") {
			t.Errorf("of %d characters: %d, want %d\n%s", line, longest, want, b.String())
		}
	}
}
