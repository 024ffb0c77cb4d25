package shipped

import (
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine/cases"
)

// longestAnswer is how many characters a denial or question may have, with the
// values filled in that the cases have.
const longestAnswer = 500

// threeParts is how a denial or question is built: what was stopped and why, a
// safer way, and what not to do.
var threeParts = regexp.MustCompile(`(?s)^(Blocked by rule \S+:|Needs approval \(rule \S+\):) \S.*Safer: [^ .].*\.\n` +
	`(Do not|Without approval, do not) try to achieve the same effect in another way[.:] .*\.$`)

// checkAnswers wants answers that say what was stopped and why, name a safer way, say what not to do, and are
// short. It is measured over the answers that the cases produce.
func checkAnswers(t *testing.T, list []cases.Case, results []*ran) {
	t.Helper()
	answers, longest := 0, 0
	for i, c := range list {
		if hasOwnTexts(c) {
			continue
		}
		for _, d := range results[i].denials {
			if len(d.rules) > 0 && d.rules[0] == "session_stopped" {
				continue // a stop has a text of its own
			}
			answers++
			length := utf8.RuneCountInString(d.text)
			longest = max(longest, length)
			if length >= longestAnswer || !threeParts.MatchString(d.text) {
				t.Errorf("%s:%d: %d characters of rules %v: %s", c.File, c.Line, length, d.rules, d.text)
			}
		}
	}
	if t.Logf("%d answers, the longest of %d characters", answers, longest); answers < 3000 {
		t.Errorf("the cases produce only %d denials and questions", answers)
	}
}

// hasOwnTexts reports whether a case replaces templates or brings rules of its own,
// whose texts are not those of the built-in policy.
func hasOwnTexts(c cases.Case) bool {
	return c.Settings["messages"] != nil || len(c.Layers) > 0 || c.Todo != ""
}
