package shipped

import (
	"context"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// longestAnswer is how many characters a denial or question may have, with the
// values filled in that the cases have.
const longestAnswer = 500

// threeParts is how a denial or question is built: what was stopped and why, a
// safer way, and what not to do.
var threeParts = regexp.MustCompile(`(?s)^(Blocked by rule \S+:|Needs approval \(rule \S+\):) \S.*Safer: [^ .].*\.\n` +
	`(Do not|Without approval, do not) try to achieve the same effect in another way[.:] .*\.$`)

// What the agent is told when a call is blocked or needs approval says what was
// stopped and why, names a safer way, says what not to do, and is short. It is
// measured over the answers that the cases produce.
func TestAnswersHaveThreeParts(t *testing.T) {
	runner, list := shippedCases(t)
	answers, longest := 0, 0
	for i, c := range list {
		if !sweep.Has(i, 4) || hasOwnTexts(c) {
			continue
		}
		for _, d := range blockedOrAsked(t, runner, c) {
			answers++
			length := utf8.RuneCountInString(d.Text)
			longest = max(longest, length)
			if length >= longestAnswer || !threeParts.MatchString(d.Text) {
				t.Errorf("%s:%d: %d characters of rules %v: %s", c.File, c.Line, length, d.RuleIDs(), d.Text)
			}
		}
	}
	if t.Logf("%d answers, the longest of %d characters", answers, longest); answers < sweep.Some(600, 3000) {
		t.Errorf("the cases produce only %d denials and questions", answers)
	}
}

// hasOwnTexts reports whether a case replaces templates or brings rules of its own,
// whose texts are not those of the built-in policy.
func hasOwnTexts(c cases.Case) bool {
	return c.Settings["messages"] != nil || len(c.Layers) > 0 || c.Todo != ""
}

// blockedOrAsked returns the decisions of a case that block a call or ask about it. A
// stop has a string of its own.
func blockedOrAsked(t *testing.T, runner *caseRunner, c cases.Case) []*engine.Decision {
	t.Helper()
	result, err := runner.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	var list []*engine.Decision
	for _, r := range result.Records {
		if d := r.Decision; r.Phase == engine.PhasePre && d != nil && (d.Enforced == engine.Block || d.Enforced == engine.Ask) {
			if ids := d.RuleIDs(); !d.Stops() && (len(ids) == 0 || ids[0] != "session_stopped") {
				list = append(list, d)
			}
		}
	}
	return list
}
