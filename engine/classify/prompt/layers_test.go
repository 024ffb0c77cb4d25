package prompt

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// TestAddedWordsOnlyForbid: whatever words of prompts the project's layer adds to
// the lists that it may add to, no prohibition goes away, and nothing is permitted.
func TestAddedWordsOnlyForbid(t *testing.T) {
	var prompts []string
	files, err := filepath.Glob("testdata/goals/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			prompts = append(prompts, strings.TrimSpace(line))
		}
	}
	var lists []string
	for _, name := range classifytest.Rows().Lists() {
		if (strings.HasPrefix(name, "prompt.") || strings.HasPrefix(name, "act.")) && !classifytest.Rows().Loosens(name) {
			lists = append(lists, name)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	more := 0
	for range 300 {
		p := prompts[r.IntN(len(prompts))]
		words := strings.Fields(strings.ToLower(p))
		if len(words) == 0 {
			continue
		}
		name, word := lists[r.IntN(len(lists))], strings.Trim(words[r.IntN(len(words))], ".,:;!?`\"'()")
		own := rows.Layer{Adds: true, Files: map[string][]byte{"words/own.yaml": fmt.Appendf(nil, "%s:\n  phrases:\n    - %q\n", name, word)}}
		before, after := saidOf(classifytest.Rows(), p), saidOf(rows.New(append(classifytest.Layers(), own)), p)
		for _, c := range before {
			if !slices.ContainsFunc(after, func(a engine.Statement) bool { return atLeast(a, c) }) {
				t.Errorf("%s with %q in %s: %v is gone, of %v", p, word, name, c, after)
			}
		}
		for _, c := range after {
			if c.Kind != engine.Forbids && !slices.ContainsFunc(before, c.Same) {
				t.Errorf("%s with %q in %s: %v", p, word, name, c)
			}
		}
		if len(after) > len(before) {
			more++
		}
	}
	if more == 0 {
		t.Error("no word forbade anything")
	}
}

// atLeast reports whether one statement forbids all that another one does.
func atLeast(a, s engine.Statement) bool {
	if a.Kind != s.Kind || a.Act != s.Act {
		return false
	}
	return len(a.Objects) == 0 && s.Kind == engine.Forbids || !slices.ContainsFunc(s.Objects, func(o string) bool { return !slices.Contains(a.Objects, o) })
}

func saidOf(set *rows.Set, prompt string) []engine.Statement {
	m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}
	return GoalOf(set, m, prompt, goalMarker(), "", nil).Statements
}
