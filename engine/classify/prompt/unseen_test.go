package prompt

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// TestFurtherPhrasings measures prohibitions of ten acts: those for which words were added (further), and those that were written
// before that and read only to count them (unseen).
func TestFurtherPhrasings(t *testing.T) {
	var tuned share
	for _, file := range []string{"en", "other"} {
		for _, p := range phrasings(t, "../further/"+file+".txt") {
			tuned.count(p.holds())
		}
	}
	t.Logf("%.1f %% of %d", tuned.percent(), tuned.all)
	if tuned.percent() < 90 {
		t.Error("fewer are held than before")
	}
	for _, lang := range []string{"en", "de", "fr", "es", "pt", "it", "nl", "ja", "zh"} {
		var held share
		for _, p := range phrasings(t, "../unseen/"+lang+".txt") {
			held.count(p.holds())
		}
		t.Logf("%s: kept apart: %.1f %% of %d", lang, held.percent(), held.all)
		if held.percent() < 80 {
			t.Errorf("%s: fewer are held than before", lang)
		}
	}
}

// holds reports whether a prohibition of an act is read, and of one of the objects that may be meant.
func (p phrasing) holds() bool {
	_, act, _ := strings.Cut(p.act, " ")
	if act, _, _ = strings.Cut(act, " "); p.want != "" {
		act = p.want
	}
	acts, objects, _ := strings.Cut(act, " ")
	return slices.ContainsFunc(statementsOf(p.text), func(s engine.Statement) bool {
		named := objects == "" || slices.ContainsFunc(s.Objects, func(o string) bool { return slices.Contains(strings.Split(objects, "|"), o) })
		return s.Kind == engine.Forbids && slices.Contains(strings.Split(acts, "|"), s.Act) && named
	})
}

// TestEverydayPrompts: what people write otherwise, with pasted issues, mails and logs, orders, permits and lifts nothing but what
// is said here, and forbids something only in what was handed over.
func TestEverydayPrompts(t *testing.T) {
	raw, err := os.ReadFile("testdata/unseen/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	prompts := strings.Split(string(raw), "\n====\n")
	for _, text := range prompts {
		for _, s := range statementsOf(text) {
			handed := s.Kind == engine.Forbids && strings.Contains(text, "\n")
			if !handed && !strings.Contains(text, "直してください") { // that orders a change
				t.Errorf("%s\n%s", text, renderStatements([]engine.Statement{s}))
			}
		}
	}
	t.Logf("%d prompts", len(prompts))
}

// TestUnread: sentences that look like a prohibition and were not understood are kept, masked and shortened.
func TestUnread(t *testing.T) {
	for text, want := range map[string]bool{
		"The deploys, well, never on that fridge again.":   true,
		"Fix it. I'd say the gizmo commit is not ours yet": true,
		"Don't push.":                              false,
		"Why is nothing committed?":                false,
		"Fix the login form.":                      false,
		"Fix the bug, don't change anything else.": true,
	} {
		if got := goalOf(text).Unread; len(got) > 0 != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// TestLimited: sentences that limit an act, or all work, to something other than files.
func TestLimited(t *testing.T) {
	for text, want := range map[string]string{
		"push only the tools for now":                  "forbids only_push tools until asked",
		"Roll it out, but only on web-2.":              "orders deploy; forbids only_at web-2 until asked",
		"roll it out, aber nur auf web-2":              "orders deploy; forbids only_at web-2 until asked",
		"push only the sdk for now":                    "forbids only_push sdk until asked",
		"nur ns2!":                                     "forbids only_at ns2 until asked",
		"only on staging":                              "forbids only_at staging until asked",
		"run against the local container only":         "forbids only_at local container until asked",
		"Nur auf staging deployen.":                    "forbids only_deploy staging until asked",
		"only src/a.py":                                "forbids only_in src/a.py",
		"Only staging is affected.":                    "",
		"just push it":                                 "orders push",
		"don't touch the timeout key in config.yaml":   "forbids change config.yaml until asked",
		"don't change `retries` in config.json":        "forbids change config.json until asked",
		"Don't change the signature of Parse in a.go.": "",
		"Fix src/a.go, don't touch other files.":       "forbids only_in src/a.go",
		"Stop.":                                        "forbids wait",
		"Stop everything.":                             "forbids wait",
		"stop right there":                             "forbids wait",
		"Ok do the deploy, then stop.":                 "orders deploy",
		"stop the server":                              "orders process",
		"Never run `npm publish`.":                     "forbids command npm publish never",
		"Prepare the deploy but don't do it.":          "forbids deploy",
	} {
		if got := renderStatements(statementsOf(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
