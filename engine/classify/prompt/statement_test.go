package prompt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// here are the bare names that exist in the workspace of the phrasings.
var here = []string{"tools", "migrations", "fixtures", "build", "backups", "docs", "old-skill", "old-stuff", "script", "skript", "スクリプト", "脚本"}

func statementsOf(prompt string) []engine.Statement { return goalOf(prompt).Statements }

func goalOf(prompt string) *engine.Goal {
	m := &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}
	return GoalOf(classifytest.Rows(), m, prompt, goalMarker(), "", func(s string) bool { return slices.Contains(here, s) })
}

// phrasing is a line of testdata/statements.
type phrasing struct {
	text, want string // want: what is expected instead of the act
	act        string
	held       bool // it is not looked at while the tables are changed
}

func phrasings(t *testing.T, file string) []phrasing {
	raw, err := os.ReadFile(filepath.Join("testdata/statements", file))
	if err != nil {
		t.Fatal(err)
	}
	var list []phrasing
	act, held := "", false
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "== "):
			act, held = line[3:], false
		case line == "#held":
			held = true
		case line != "":
			text, want, _ := strings.Cut(line, " => ")
			list = append(list, phrasing{text: text, want: want, act: act, held: held})
		}
	}
	return list
}

// share counts how many of some phrasings are read rightly.
type share struct{ right, all int }

func (s *share) count(ok bool) {
	s.all++
	if ok {
		s.right++
	}
}

func (s *share) percent() float64 { return 100 * float64(s.right) / float64(max(s.all, 1)) }

// TestProhibitions measures how many phrasings of each language are held: those for which the tables
// were made, and a third that was kept apart.
func TestProhibitions(t *testing.T) {
	for _, lang := range []string{"en", "de", "fr", "es", "pt", "it", "nl", "ja", "zh"} {
		var tuned, held share
		for _, p := range phrasings(t, lang+".txt") {
			said := statementsOf(p.text)
			wrong := forbidden(p, said)
			if p.held {
				held.count(wrong == "")
			} else if tuned.count(wrong == ""); wrong != "" {
				t.Logf("%s %s: %s: %s", lang, p.act, p.text, wrong)
			}
			for _, s := range said {
				if s.Kind != engine.Forbids && !strings.Contains(p.text, "just push the branch") && !strings.Contains(p.text, "commit it but") && !p.held {
					t.Logf("%s: %s: %s %s", lang, p.text, s.Kind, s.Act)
				}
			}
		}
		goal := 90.0
		if lang == "en" {
			goal = 95
		}
		t.Logf("%s: %.1f %% of %d; kept apart: %.1f %% of %d", lang, tuned.percent(), tuned.all, held.percent(), held.all)
		if tuned.percent() < goal || held.percent() < goal {
			t.Errorf("%s: fewer than %v %% are held", lang, goal)
		}
	}
}

// forbidden says what is wrong with the statements of a prohibition.
func forbidden(p phrasing, said []engine.Statement) string {
	want := p.want
	if want == "" {
		want = p.act
	}
	var acts []string
	for _, w := range strings.Split(want, ", ") {
		asked := strings.HasPrefix(w, "ask ")
		act, object, _ := strings.Cut(strings.TrimPrefix(w, "ask "), " ")
		either := strings.Split(act, "|")
		acts = append(acts, either...)
		if !slices.ContainsFunc(said, func(s engine.Statement) bool {
			return s.Kind == engine.Forbids && slices.Contains(either, s.Act) && (!asked || s.Until == engine.UntilAsked) &&
				(object == "" && len(s.Objects) == 0 || object == "" && !needsObject(s.Act) || slices.Contains(s.Objects, object))
		}) {
			return "not read: " + renderStatements(said)
		}
	}
	for _, s := range said {
		if s.Kind == engine.Forbids && !slices.Contains(acts, s.Act) {
			return "too much: " + renderStatements(said)
		}
	}
	return ""
}

// needsObject: for these acts, a prohibition of everything differs from one that names something.
func needsObject(act string) bool { return act == "change" || act == "only_in" }

func renderStatements(said []engine.Statement) string {
	var list []string
	for _, s := range said {
		text := string(s.Kind) + " " + s.Act
		for _, o := range s.Objects {
			text += " " + o
		}
		if s.Until != "" {
			text += " until " + s.Until
		}
		if s.Never {
			text += " never"
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}

// TestOrdinaryPrompts: what people write otherwise forbids, orders and permits nothing.
func TestOrdinaryPrompts(t *testing.T) {
	var tuned, held share
	for _, p := range phrasings(t, "ordinary.txt") {
		said := statementsOf(p.text)
		if p.held {
			held.count(len(said) == 0)
		} else if tuned.count(len(said) == 0); len(said) > 0 {
			t.Logf("%s: %s", p.text, renderStatements(said))
		}
	}
	t.Logf("%d of %d ordinary prompts are read wrongly; kept apart: %d of %d", tuned.all-tuned.right, tuned.all, held.all-held.right, held.all)
	if 500*(tuned.all-tuned.right) > tuned.all || held.right < held.all {
		t.Error("more than 1 in 500 is read wrongly")
	}
}

// TestOrders: what orders and permits something is read, and all of it.
func TestOrders(t *testing.T) {
	var tuned, held share
	for _, p := range phrasings(t, "orders.txt") {
		want := strings.ReplaceAll(strings.ReplaceAll(p.want, ", ", "; "), "always", "until session")
		got := renderStatements(statementsOf(p.text))
		if p.held {
			held.count(got == want)
		} else if tuned.count(got == want); got != want {
			t.Logf("%s: %s, not %s", p.text, got, want)
		}
	}
	t.Logf("%d of %d orders are read rightly; kept apart: %d of %d", tuned.right, tuned.all, held.right, held.all)
	if tuned.right < tuned.all || held.percent() < 80 {
		t.Error("orders are not read")
	}
}

// wrappings are the ways to hand over a text.
func wrappings(t *testing.T) []string {
	raw, err := os.ReadFile("testdata/statements/material.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n====\n")
}

// TestNothingElseOrders: prohibitions, ordinary prompts, and orders in texts that a person hands over order,
// permit and lift nothing.
func TestNothingElseOrders(t *testing.T) {
	prompts := 0
	check := func(text string, but ...string) {
		prompts++
		for _, s := range statementsOf(text) {
			if s.Kind != engine.Forbids && !slices.Contains(but, s.Act) {
				t.Errorf("%s\n%s", text, renderStatements([]engine.Statement{s}))
			}
		}
	}
	for _, lang := range []string{"en", "de", "fr", "es", "pt", "it", "nl", "ja", "zh"} {
		for _, p := range phrasings(t, lang+".txt") {
			check(p.text, besides[p.text]...)
		}
	}
	for _, p := range phrasings(t, "ordinary.txt") {
		check(p.text)
	}
	for _, p := range phrasings(t, "orders.txt") {
		for _, w := range wrappings(t) {
			check(strings.Replace(w, "%s", p.text, 1))
		}
	}
	if prompts < 2000 {
		t.Errorf("%d prompts", prompts)
	}
}

// besides are the orders in prompts that forbid something else; "do it" also says that the work is to go on.
var besides = map[string][]string{
	"Do it without a new branch.":                       {"wait"},
	"Do it without root.":                               {"wait"},
	"pushせずに進めて。":                                       {"wait"},
	"PRは作らずに進めて。":                                       {"wait"},
	"don't open a PR, just push the branch":             {"push"},
	"commit it but don't push it":                       {"commit"},
	"Push the branch without opening a PR.":             {"push"},
	"インストールせずに進めて。":                                     {"wait"},
	"Do the change without committing.":                 {"change"},
	"Without installing anything, get the test to run.": {"run"},
}

// TestStatementsAreLinear: twice the prompt costs twice the work, whatever it consists of. Allocations count it,
// since a clock would not be the same twice.
func TestStatementsAreLinear(t *testing.T) {
	v, l := newVocabulary(classifytest.Rows()), lexiconOf(classifytest.Rows(), true)
	work := func(text string) float64 {
		return testing.AllocsPerRun(1, func() {
			typed, handed := v.ownStatements(spaced(text))
			r := statementReader{lexicon: l}
			for _, s := range v.sentences(typed + handed) {
				r.sentence(s, rawText(s))
			}
		})
	}
	for _, piece := range []string{
		"Don't commit. Fix the test.\n\n", "no ", "please don't push and ", "src/a.go, ", "コミットしないで", "不要提交。", "it is, that, ", "before you ", "\"a\" ", "# x\n", "a\n",
	} {
		one, two := work(strings.Repeat(piece, 300)), work(strings.Repeat(piece, 600))
		if two > 2.5*one+1000 {
			t.Errorf("%q: %v, and %v for twice as much", piece, one, two)
		}
	}
}

// TestDisguisedWords: marks that cannot be seen, letters of other scripts and full width hide no prohibition.
func TestDisguisedWords(t *testing.T) {
	for _, text := range []string{"Don't com\u200bmit.", "D\u043en't c\u043emmit.", "Ｄｏｎ＇ｔ ｃｏｍｍｉｔ.", "Don’t commit."} {
		if got := renderStatements(statementsOf(text)); got != "forbids commit" {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestSaid: a statement has the person's own sentence, masked and shortened.
func TestSaid(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2c3", 6)
	said := statementsOf("Fix it. Don't push " + secret + " to main, ever. " + "Do not commit " + strings.Repeat("anything ", 60) + "please.")
	for _, s := range said {
		if s.Text == "" || len(s.Text) > maxSaid || strings.Contains(s.Text, secret) || strings.Contains(s.Text, "Fix it") {
			t.Errorf("%s: %q", s.Act, s.Text)
		}
	}
	if len(said) == 0 {
		t.Error("nothing is read")
	}
}

// TestFreshPhrasings measures prohibitions of other forms. The second half of each language was kept apart once: 16 % of
// it was held then, and forms that it shows were added to the tables.
func TestFreshPhrasings(t *testing.T) {
	var tuned, held share
	for _, p := range phrasings(t, "fresh.txt") {
		lang := p.act
		p.act, _, _ = strings.Cut(strings.TrimPrefix(p.want, "ask "), " ")
		wrong := forbidden(p, statementsOf(p.text))
		if p.held {
			held.count(wrong == "")
		} else if tuned.count(wrong == ""); wrong != "" {
			t.Logf("%s: %s: %s", lang, p.text, wrong)
		}
	}
	t.Logf("%.1f %% of %d; kept apart: %.1f %% of %d", tuned.percent(), tuned.all, held.percent(), held.all)
	if tuned.percent() < 90 || held.percent() < 75 {
		t.Error("fewer are held than before")
	}
}
