package prompt

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/google/go-cmp/cmp"
)

var updateWords = flag.Bool("update-words", false, "rewrite docs/words.md")

// TestWordsPage: docs/words.md shows how sentences about each act are read.
func TestWordsPage(t *testing.T) {
	const page = "../../../docs/words.md"
	var b strings.Builder
	b.WriteString(pageHead)
	for _, act := range lexiconOf(classifytest.Rows(), true).acts {
		fmt.Fprintf(&b, "## %s\n\n| sentence | read as |\n|---|---|\n", act)
		for _, p := range examplesOf(t, act) {
			fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(p, "|", "\\|"), renderStatements(statementsOf(p)))
		}
		b.WriteByte('\n')
	}
	b.WriteString("## Orders and permissions\n\n| sentence | read as |\n|---|---|\n")
	for _, p := range phrasings(t, "orders.txt") {
		if said := renderStatements(statementsOf(p.text)); !p.held && said != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", p.text, said)
		}
	}
	b.WriteString("\n## Sentences that forbid and permit nothing\n\n")
	for i, p := range phrasings(t, "ordinary.txt") {
		if !p.held && i%10 == 0 {
			fmt.Fprintf(&b, "- %s\n", p.text)
		}
	}
	if *updateWords {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(raw), b.String()); diff != "" {
		t.Errorf("docs/words.md is out of date; run go test ./engine/classify/prompt -run TestWordsPage -update-words\n%s", diff)
	}
}

// examplesOf are phrasings of an act: three in English, and one in each other language that has some.
func examplesOf(t *testing.T, act string) []string {
	var list []string
	for _, lang := range []string{"en", "de", "fr", "es", "pt", "it", "nl", "ja", "zh"} {
		n := 1
		if lang == "en" {
			n = 3
		}
		for _, p := range phrasings(t, lang+".txt") {
			if p.act == act && !p.held && n > 0 {
				list = append(list, p.text)
				n--
			}
		}
	}
	return list
}

const pageHead = `# What reviewer understands of prompts

A person's prompt can forbid an act, order it, permit it, or lift what was forbidden. The words are rows
([bundles/default/words/acts.yaml](../bundles/default/words/acts.yaml) and
[statements.yaml](../bundles/default/words/statements.yaml)); an organisation's layer can add to them ([teaching.md](teaching.md)).

- A sentence orders, permits or lifts something only if all of its words are known. A prohibition with other words in it leads to
  a question about its act. Of people who did not know the words, eight of ten usual prohibitions and five of ten others
  (testdata/forbidden), and four of ten orders (testdata/orders) were found, so limits that must hold belong in the policy.
- A list under one negation forbids each of its acts. "Merge it when CI is green", "can you push now?" and "fix the tests and push"
  order; "can you push without a key?" does not.
- "It", or no object at all, means what was named before: "a.go is mine, don't overwrite".
- A prohibition holds for the whole session, also for sub-agents and after a compaction, until the person orders or permits
  the same act. That allows it once; "you may always" allows it for the session. Some acts, such as changing files, are
  allowed for the session at once.
- "Ask me before", and an end that is not clear ("until the tests pass"), lead to a question instead of a denial.
- The answer to a question that the client itself puts before the person, and an approved plan, order what the sentence that asks,
  the label of the chosen option (if the question is about work), or a line of the plan names: once, unless the answer says
  "always". Descriptions, headers and questions that name more than three acts do not count, nor does an answer that another hook
  or program could give.
- "Go ahead" and "continue", and "yes" where the prompt says nothing else, lift only that the agent is to wait or to change
  nothing, and nothing that was forbidden with "never".
- An order for a time that is to come ("deploy at 22:00", "push it tonight") permits nothing now; with "I do that myself" it forbids
  the act.
- A permission with other words in it ("you can stop the one on the pi now") ends, once, that the act had to wait, for a call that
  has one of those words. It answers no other question.
- A command that only reads, and a dry run, is not the act: ` + "`grep deploy src` and `git push --dry-run`" + ` pass.
- Quotations, logs, diffs and code are not read. What follows a heading or a line that ends with a colon, and long paragraphs,
  can forbid, but order and permit nothing.

` + "`reviewer session says` lists the statements that hold in a session, and `--lift` ends one." + `

This page is written by ` + "`go test ./engine/classify/prompt -run TestWordsPage -update-words`" + `.

`
