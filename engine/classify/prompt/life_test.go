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

// TestTyped measures the same over prompts that somebody wrote who had seen neither tables nor tests: 31 % were held
// when they came, and 2 of 100 others were read as prohibitions.
func TestTyped(t *testing.T) {
	raw, err := os.ReadFile("testdata/typed.txt")
	if err != nil {
		t.Fatal(err)
	}
	var held, others share
	nothing := false
	for line := range strings.Lines(string(raw)) {
		text, act, ok := strings.Cut(strings.TrimSpace(line), " =>")
		if nothing = nothing || text == "#nothing"; !ok || text[0] == '#' {
			continue
		}
		said := statementsOf(text)
		if act = strings.TrimSpace(act); nothing {
			others.count(len(said) == 0)
			continue
		}
		held.count(slices.ContainsFunc(said, func(s engine.Statement) bool {
			return s.Kind == engine.Forbids && (s.Act == act || act == "wait" && s.Act == "change" || act == "change" && s.Act == "only_in")
		}))
		if slices.ContainsFunc(said, func(s engine.Statement) bool { return s.Kind != engine.Forbids && s.Act == act }) {
			t.Errorf("%s: orders or permits what it forbids", text)
		}
	}
	t.Logf("%d of %d are held; %d of %d others are read wrongly", held.right, held.all, others.all-others.right, others.all)
	if held.right < 50 || others.all-others.right > 2 {
		t.Error("fewer are held than before, or more are read wrongly")
	}
}

// coveredBy are acts whose prohibition also holds another one.
var coveredBy = map[string][]string{
	"change": {"only_in", "freeze"}, "delete": {"remove_branch", "change"}, "migrate": {"database", "run"}, "release": {"deploy"}, "wait": {"change"},
}

// TestForbiddenAsTyped measures prohibitions in prompts that others wrote. What is forbidden is never read as ordered.
func TestForbiddenAsTyped(t *testing.T) {
	for file, want := range map[string]struct{ held, read int }{"first": {295, 4}, "second": {156, 2}, "third": {198, 8}, "usual": {145, 0}} {
		raw, err := os.ReadFile("testdata/forbidden/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var held, others share
		for line := range strings.Lines(string(raw)) {
			text, acts, ok := strings.Cut(strings.TrimSpace(line), " => ")
			if !ok || text[0] == '#' {
				continue
			}
			kinds := map[engine.StatementKind][]string{}
			for _, s := range statementsOf(text) {
				kinds[s.Kind] = append(kinds[s.Kind], s.Act)
			}
			if acts == "nothing" {
				others.count(len(kinds[engine.Forbids]) == 0)
				continue
			}
			for act := range strings.SplitSeq(acts, ", ") {
				ok := slices.ContainsFunc(kinds[engine.Forbids], func(a string) bool {
					return a == act || a == "wait" || a == "ask_first" || slices.Contains(coveredBy[act], a)
				})
				if held.count(ok); !ok && slices.Contains(kinds[engine.Orders], act) {
					t.Errorf("%s: %s is read as ordered", text, act)
				}
			}
		}
		t.Logf("%s: %d of %d are held (%.0f %%); %d of %d others are read as a prohibition",
			file, held.right, held.all, held.percent(), others.all-others.right, others.all)
		if held.right < want.held || others.all-others.right > want.read {
			t.Errorf("%s: fewer are held than before, or more are read wrongly", file)
		}
	}
}
