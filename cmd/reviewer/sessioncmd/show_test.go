package sessioncmd

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/timeline"
	"github.com/agent-reviewer/reviewer/engine"
)

// On a terminal lines are cut to its width, whatever is in them; the
// terminal acts on nothing but our own colours.
func TestMomentsAreSafeToPrint(t *testing.T) {
	evil := "\x1b]0;title\x07\r\n\u202eevil\u2028 " + strings.Repeat("längs ", 100)
	m := &timeline.Entry{ID: "f8dc9b3b-35", Agent: evil, Tool: evil, What: evil, Answer: engine.Block, Outcome: engine.OutcomeDenied, Error: evil,
		Failure: evil, Form: evil, Written: []string{evil}, Rules: []engine.RuleResult{{ID: evil, Message: evil}},
		Patterns: []engine.Finding{{ID: "loop", Level: "high", Details: evil}}, Labels: []engine.Label{engine.LabelSecret}}
	var plain, coloured bytes.Buffer
	printEntry(&plain, term.Paint{}, 80, m)
	printEntry(&coloured, term.Paint{On: true}, 80, m)
	for text := range strings.Lines(plain.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(text, "\n")); n > 80 || strings.ContainsAny(text, "\x1b\x07\r\u202e\u2028") {
			t.Errorf("a line has %d characters: %q", n, text)
		}
	}
	if !strings.Contains(coloured.String(), "\x1b[31;1mblock") || strings.Contains(coloured.String(), "\x1b]") {
		t.Errorf("on a terminal it is %q", coloured.String())
	}
	var whole bytes.Buffer
	printEntry(&whole, term.Paint{}, (&cli.App{Streams: term.Streams{Env: func(string) string { return "" }}}).Width(&term.Output{}), m)
	if !strings.Contains(whole.String(), strings.Repeat("längs ", 99)) {
		t.Error("a line is cut where no terminal cuts it")
	}
}
