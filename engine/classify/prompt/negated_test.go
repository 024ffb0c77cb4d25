package prompt

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// What one negation forbids, in the words of the statements: the acts that are forbidden, and those that are ordered.
func TestNegatedLists(t *testing.T) {
	for text, want := range map[string]string{
		"do not commit, push or open a PR yet":                   "forbids commit pull_request push",
		"do not push, merge or deploy anything":                  "forbids deploy merge push",
		"don't commit, push, deploy":                             "forbids commit deploy push",
		"don't commit,push or deploy":                            "forbids commit deploy push",
		"no commits, pushes and PRs":                             "forbids commit pull_request push",
		"do not commit, push, open PRs, merge or deploy yet":     "forbids commit deploy merge pull_request push",
		"don't push main, merge or deploy":                       "forbids deploy merge push",
		"don't install, upgrade or remove packages":              "forbids delete install",
		"commits, pushes and PRs are mine":                       "forbids commit pull_request push",
		"commits, pushes, deploys: not before I say so":          "forbids commit deploy push",
		"ask me before you commit, push or deploy":               "forbids commit deploy push",
		"fix it without committing, pushing or opening a PR":     "forbids commit pull_request push",
		"nicht committen, pushen oder mergen":                    "forbids commit merge push",
		"weder committen noch pushen":                            "forbids commit push",
		"pas de commit, de push ni de PR":                        "forbids commit pull_request push",
		"no hagas commit, push ni deploy":                        "forbids commit deploy push",
		"não faça commit, push nem deploy":                       "forbids commit deploy push",
		"non fare commit, push o deploy":                         "forbids commit deploy push",
		"niet committen, pushen of deployen":                     "forbids commit deploy push",
		"コミット、プッシュ、マージはしないで":                                     "forbids commit merge push",
		"不要提交、推送或部署":                                             "forbids commit deploy push",
		"don't commit, just push":                                "forbids commit; orders push",
		"don't merge, only push":                                 "forbids merge; orders push",
		"nicht mergen, nur pushen":                               "forbids merge; orders push",
		"don't merge, push and open a PR":                        "forbids merge pull_request push", // or an order: a person is asked
		"commit, push and open a PR":                             "orders commit pull_request push",
		"push my changes":                                        "orders push",
		"commit both and push to main":                           "orders commit push",
		"merge 341 when CI is green":                             "orders merge",
		"if the tests pass, push":                                "orders push",
		"wenn die Tests durch sind, pushen":                      "orders push",
		"fix the typo in the footer, then commit and push":       "orders commit push",
		"faz deploy no staging":                                  "orders deploy",
		"não faz deploy no staging":                              "forbids deploy",
		"committen und pushen":                                   "orders commit push",
		"コミットしてpushして":                                           "orders commit push",
		"merge or deploy, I don't care":                          "",
		"show me the diff before committing":                     "forbids commit",
		"dont stash, work around it":                             "forbids command",
		"don't rebase, stash or amend":                           "forbids command",
		"do not use git stash":                                   "forbids command",
		"it does not rebase cleanly":                             "",
		"we don't rebase here":                                   "",
		"do not:\n- commit\n- push to main\n- open PRs":          "forbids commit pull_request push",
		"bitte nicht:\n- committen\n- pushen":                    "forbids commit push",
		"dont: push, merge, deploy":                              "forbids deploy merge push",
		"no commit/push/merge":                                   "forbids commit merge push",
		"do not, under any circumstances, push, merge or deploy": "forbids deploy merge push",
		"do everything but don't push, merge or deploy":          "forbids deploy merge push",
		"i do the push, merge and deploy":                        "forbids deploy merge push",
		"let me push, merge and deploy":                          "forbids push",
		"not now, commit and push":                               "orders commit push",
		"No, push it":                                            "orders push",
		"do not touch:\n- src/a.go\n- data/":                     "forbids change",
		"only change:\n- src/a.go\n- src/b.go":                   "forbids only_in",
		"leave these files alone:\n- src/a.go":                   "forbids change",
		"**Do not:**\n- commit\n- push":                          "forbids commit push",
		"do not:\n\n- commit\n- push":                            "forbids commit push",
		"## Do not\n* commit\n* push":                            "forbids commit push",
		"push once ok":                                           "",
		"merge unless ci is green":                               "",
		"don't (!) push":                                         "forbids push",
		"_never_ commit":                                         "forbids commit",
		"dont commit n push":                                     "forbids commit push",
		"dont push b4 i looked":                                  "forbids push",
		"no push w/o asking":                                     "forbids push",
		"do NOT, i repeat, do NOT push":                          "forbids push",
		"did you commit, push or merge anything?":                "",
		"it could not commit, push or tag":                       "",
		"when the build is green, don't touch src/a.go":          "",
		"people should not push to main, and must open a PR.":    "",
	} {
		if got := kindsAndActs(statementsOf(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Whatever acts a list has, and however its items are separated, a negation before it forbids all of them and orders none.
func TestListsOrderNothing(t *testing.T) {
	acts := map[string]string{"commit": "commit", "push": "push", "merge": "merge", "deploy": "deploy", "open a PR": "pull_request", "publish": "release"}
	verbs := slices.Sorted(maps.Keys(acts))
	for _, begin := range []string{"do not %s", "please don't %s yet", "never %s", "fix the totals. you must not %s", "don't %s until I say so", "DO NOT: %s"} {
		for i, a := range verbs {
			for k, b := range verbs {
				c := verbs[(i+k+1)%len(verbs)]
				if a == b || c == a || c == b {
					continue
				}
				for _, list := range []string{a + ", " + b + " or " + c, a + ", " + b + ", or " + c, a + " or " + b + " or " + c, a + "," + b + " or " + c} {
					text := strings.Replace(begin, "%s", list, 1)
					said := statementsOf(text)
					for _, act := range []string{acts[a], acts[b], acts[c]} {
						forbidden := slices.ContainsFunc(said, func(s engine.Statement) bool { return s.Act == act && s.Kind == engine.Forbids })
						if !forbidden || slices.ContainsFunc(said, func(s engine.Statement) bool { return s.Kind != engine.Forbids }) {
							t.Errorf("%s: %s", text, renderStatements(said))
							break
						}
					}
				}
			}
		}
	}
}

func kindsAndActs(said []engine.Statement) string {
	var parts []string
	for _, kind := range []engine.StatementKind{engine.Forbids, engine.Orders, engine.Permits, engine.Lifts} {
		var acts []string
		for _, s := range said {
			if s.Kind == kind && !slices.Contains(acts, s.Act) {
				acts = append(acts, s.Act)
			}
		}
		if slices.Sort(acts); len(acts) > 0 {
			parts = append(parts, string(kind)+" "+strings.Join(acts, " "))
		}
	}
	return strings.Join(parts, "; ")
}

// TestListsAsTyped measures lists of acts in prompts that others wrote. What is forbidden is never read as ordered or permitted.
func TestListsAsTyped(t *testing.T) {
	for file, goal := range map[string]float64{"first": 85, "second": 75} {
		raw, err := os.ReadFile("testdata/lists/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var forbidden, ordered share
		for line := range strings.Lines(string(raw)) {
			text, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
			if !ok || strings.HasPrefix(line, "#") {
				continue
			}
			said := statementsOf(text)
			read := func(act string, kinds ...engine.StatementKind) bool {
				return slices.ContainsFunc(said, func(s engine.Statement) bool { return s.Act == act && slices.Contains(kinds, s.Kind) })
			}
			for part := range strings.SplitSeq(want, ", ") {
				kind, act, _ := strings.Cut(part, " ")
				switch kind {
				case "forbids":
					forbidden.count(read(act, engine.Forbids))
					if read(act, engine.Orders, engine.Permits) {
						t.Errorf("%s: %s", text, renderStatements(said))
					}
				case "orders", "permits":
					ordered.count(read(act, engine.Orders, engine.Permits))
				}
			}
		}
		t.Logf("%s: %.1f %% of %d forbidden acts are read, %.1f %% of %d ordered ones", file, forbidden.percent(), forbidden.all, ordered.percent(), ordered.all)
		if forbidden.percent() < goal {
			t.Errorf("%s: fewer than %v %%", file, goal)
		}
	}
}
