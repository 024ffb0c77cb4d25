package classify

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// TestPromptDigests: two texts have a digest in common if one can be the other, or a long paragraph of it.
func TestPromptDigests(t *testing.T) {
	forty := "Write to the team: it works, all of them" // 40 characters
	for name, c := range map[string]struct {
		given, prompt string
		same          bool
	}{
		"the same":                    {"go on", "go on", true},
		"another":                     {"go on", "go on now", false},
		"capital letters":             {"go on", "Go on!", true},
		"letters of another alphabet": {"go on", "gо оn", true},
		"characters nobody sees":      {"go on", "go\u200b on", true},
		"nothing":                     {"", "", false},
		"only white space":            {" \n", "\t", false},
		"white space around":          {"go  on\n", " go on", true},
		"line endings of Windows":     {"go\r\non", "go on", true},
		"40 characters":               {forty, "Hi.\n\n" + forty, true},
		"39 characters":               {forty[1:], "Hi.\n\n" + forty[1:], false},
		"40 characters of any":        {strings.Repeat("ü", 40), "Hi.\n\n" + strings.Repeat("ü", 40), true},
		"a paragraph of each":         {"Hi.\n\n" + forty, forty + "\n\nBye.", true},
		"a blank line of white space": {"Hi.\n \t\n" + forty, forty, true},
		"a paragraph in two lines":    {"Hi.\n\n" + strings.Replace(forty, ": ", ":\n", 1), forty, true},
		"a line of a paragraph":       {"Hi.\n" + forty, forty, false},
		"a tag around it":             {forty, "<note from=\"a\">\n" + forty + "\n</note>", true},
		"a rule above it":             {forty, "---\n" + forty + "\n***", true},
		"a fence around it":           {forty, "~~~\n" + forty + "\n~~~", true},
	} {
		given, prompt := PromptDigests(classifytest.MAC, c.given), PromptDigests(classifytest.MAC, c.prompt)
		if same := slices.ContainsFunc(prompt, func(d string) bool { return slices.Contains(given, d) }); same != c.same {
			t.Errorf("%s: %v, want %v", name, same, c.same)
		}
	}
}

// The other folders that are open in the client count as named by the person; the whole disk does not.
func TestOtherRoots(t *testing.T) {
	c := &Classifier{World: nowhere(), MAC: classifytest.MAC, Rows: classifytest.Rows()}
	for _, prompt := range []string{"", "Fix the sums in cart.go."} {
		e := engine.Event{Phase: engine.PhasePrompt, Prompt: prompt, CWD: "/srv/shop", Roots: []string{"/srv/till", "/", "/srv", "lib", `C:\work\till`}}
		facts, err := c.Classify(t.Context(), e, "/srv/shop")
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"/srv/till", "C:/work/till"}
		if got := facts.Event.Goal; got == nil || !slices.Equal(got.Names[max(0, len(got.Names)-2):], want) {
			t.Errorf("%q: %+v, want the names %q", prompt, got, want)
		}
	}
}
