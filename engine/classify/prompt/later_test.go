package prompt

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// TestLater measures what later prompts lift, what looks like a prohibition, and what is one.
func TestLater(t *testing.T) {
	var raw []byte
	for _, file := range []string{"testdata/later.txt", "testdata/said.txt"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, text...)
	}
	shares := map[string]*[2]share{}
	var kinds []string
	kind, held := "", 0
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSuffix(line, "\n")
		text, want, ok := strings.Cut(line, " => ")
		switch {
		case strings.HasPrefix(line, "== "):
			if kind, held = line[3:], 0; shares[kind] == nil {
				shares[kind], kinds = &[2]share{}, append(kinds, kind)
			}
			continue
		case line == "#held":
			held = 1
			continue
		case !ok, line[0] == '#':
			continue
		}
		text = strings.ReplaceAll(text, `\n`, "\n")
		said := statementsOf(text)
		if strings.HasPrefix(kind, "resumes") || strings.HasPrefix(kind, "stays en") || strings.HasPrefix(kind, "stays others") {
			said = saidAndResumed(text)
		}
		right := later(want, said)
		if shares[kind][held].count(right); !right {
			t.Logf("%s: %s: %s, not %s", kind, text, renderStatements(said), want)
		}
	}
	var all [2]share
	for _, kind := range kinds {
		s := shares[kind]
		t.Logf("%s: %d of %d; kept apart: %d of %d", kind, s[0].right, s[0].all, s[1].right, s[1].all)
		free := strings.HasPrefix(kind, "stays") || strings.HasPrefix(kind, "interjections") || strings.HasPrefix(kind, "just")
		if s[0].right < s[0].all || free && s[1].right < s[1].all {
			t.Errorf("%s: not all are read rightly", kind)
		}
		for i := range all {
			all[i].right, all[i].all = all[i].right+s[i].right, all[i].all+s[i].all
		}
	}
	t.Logf("%.1f %% of %d; kept apart: %.1f %% of %d", all[0].percent(), all[0].all, all[1].percent(), all[1].all)
	if all[1].percent() < 85 {
		t.Error("fewer are read rightly than before")
	}
}

// later reports whether the statements of a prompt are those wanted: nothing, no prohibition, or this one.
func later(want string, said []engine.Statement) bool {
	switch want {
	case "nothing":
		return len(said) == 0
	case "not forbidden":
		return !slices.ContainsFunc(said, func(s engine.Statement) bool { return s.Kind == engine.Forbids })
	}
	kind, rest, _ := strings.Cut(want, " ")
	acts, object, _ := strings.Cut(rest, " ")
	found := false
	for _, s := range said {
		if string(s.Kind) != kind {
			if s.Kind == engine.Forbids || kind == "forbids" {
				return false
			}
			continue
		}
		if kind == "forbids" && !slices.Contains(strings.Split(acts, "|"), s.Act) && s.Act != "wait" && s.Act != "change" {
			return false
		}
		found = found || slices.Contains(strings.Split(acts, "|"), s.Act) && (object == "" || slices.Contains(s.Objects, object))
	}
	return found
}

// saidAndResumed returns the statements of a prompt; an order of work counts as one that lifts an order to wait.
func saidAndResumed(text string) []engine.Statement {
	g := goalOf(text)
	wait := engine.Statement{Kind: engine.Lifts, Act: "wait"}
	if g.Resumes && !slices.ContainsFunc(g.Statements, wait.Same) {
		return append(g.Statements, wait)
	}
	return g.Statements
}
