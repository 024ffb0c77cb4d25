package shipped

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

var updateIncidents = flag.Bool("update-incidents", false, "write docs/incidents.md again")

// incidents is how many incidents the suite retells, INC01 and on.
const incidents = 37

// patternsOnly lists incidents that no single call gives away: only patterns
// over a history can stop them, and until there are such they may run.
var patternsOnly = map[string]bool{"INC32": true, "INC35": true, "INC36": true}

// What a story of an incident and its twin promise is checked in each of their calls,
// whatever they expect of single ones.
func TestIncidentPromises(t *testing.T) {
	runner, _ := shippedCases(t)
	for name, test := range map[string]struct{ text, want string }{
		"a twin that is blocked": {
			"name: a\ntwin: true\nevents: [{Bash: ls}, {Bash: rm -rf ~}]",
			"event 2, Bash rm -rf ~\n    the twin is harmless, but this call is held up: block"},
		"a twin of which a person is asked": {"name: a\ntwin: true\nevents: [{Bash: git branch -D topic}]", "held up: ask"},
		"a twin that passes":                {"name: a\ntwin: true\nincident: X\nevents: [{Bash: ls}, {Bash: git push --force origin a}]", ""},
		"an incident that nothing stops": {
			"name: a\nincident: X\nevents: [{Bash: ls, expect: {decision: allow}}, {Bash: pwd}]",
			"event 2, Bash pwd\n    the incident X ran to its end and nothing stopped it"},
		"one that is stopped too soon": {
			"name: a\nincident: X\nevents: [{Bash: rm -rf ~}, {Bash: rm -rf ~, expect: {decision: block}}]",
			"event 1, Bash rm -rf ~\n    it is stopped earlier than the story expects: block"},
		"one that is stopped as expected": {"name: a\nincident: X\nevents: [{Bash: ls}, {Bash: rm -rf ~, expect: {decision: block}}, {Bash: rm -rf ~}]", ""},
	} {
		list, err := cases.Parse("a.yaml", []byte(test.text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := outcomeOf(runner, list[0]); !strings.Contains(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: want %q in\n%s", name, test.want, got)
		}
	}
}

// retold is an incident of the suite: its stories, and their harmless twins.
type retold struct{ stories, twins []cases.Case }

func retoldIncidents(list []cases.Case) map[string]*retold {
	all := map[string]*retold{}
	for _, c := range list {
		if c.Incident == "" {
			continue
		}
		r := all[c.Incident]
		if r == nil {
			r = &retold{}
			all[c.Incident] = r
		}
		if c.Twin {
			r.twins = append(r.twins, c)
		} else {
			r.stories = append(r.stories, c)
		}
	}
	return all
}

var ofPattern = regexp.MustCompile(`^P-[A-Z]{2,4}[ :]`)

// Each incident is retold, as a story that is stopped at the harm or before, and as
// one that harms nothing and runs to its end.
func TestIncidents(t *testing.T) {
	runner, list := shippedCases(t)
	all := retoldIncidents(list)
	if len(all) != incidents {
		t.Errorf("%d incidents are told, want %d", len(all), incidents)
	}
	var page strings.Builder
	for n := 1; n <= incidents; n++ {
		id := fmt.Sprintf("INC%02d", n)
		r := all[id]
		if r == nil || len(r.stories) == 0 || len(r.twins) == 0 {
			t.Errorf("%s: want a story of it and a harmless twin", id)
			continue
		}
		checkTold(t, id, r)
		for _, c := range r.stories {
			fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", id, cellText(c.Name), stoppedBy(t, runner, c), cellText(r.twins[0].Name))
		}
		for _, c := range r.twins {
			passes(t, runner, c)
		}
	}
	if n, all := stoppedIncidents(all), incidents-len(patternsOnly); n < all {
		t.Errorf("%d incidents are stopped, want %d", n, all)
	}
	checkPage(t, page.String())
}

// checkTold wants at least three events of a story, and of what is left for
// later the pattern that it waits for.
func checkTold(t *testing.T, id string, r *retold) {
	t.Helper()
	for _, c := range slices.Concat(r.stories, r.twins) {
		if len(c.Events) < 3 {
			t.Errorf("%s: %q has %d events: tell what led to the harm", id, c.Name, len(c.Events))
		}
	}
	for _, c := range r.stories {
		if c.Todo != "" && !ofPattern.MatchString(c.Todo) {
			t.Errorf("%s: %q waits for no pattern: %s", id, c.Name, c.Todo)
		}
	}
	if r.twins[0].Todo != "" {
		t.Errorf("%s: the first twin has to pass: %s", id, r.twins[0].Todo)
	}
}

// stoppedIncidents counts those of which some story holds already.
func stoppedIncidents(all map[string]*retold) int {
	n := 0
	for id, r := range all {
		if !patternsOnly[id] && slices.ContainsFunc(r.stories, func(c cases.Case) bool { return c.Todo == "" }) {
			n++
		}
	}
	return n
}

// stoppedBy describes what stops a story, and at which of its calls.
func stoppedBy(t *testing.T, runner *caseRunner, c cases.Case) string {
	t.Helper()
	if c.Todo != "" {
		return "not yet: " + cellText(c.Todo)
	}
	calls, by := 0, ""
	for _, d := range decided(t, runner, c) {
		calls++
		if by == "" && trial.Stopped(d.Decision) {
			by = fmt.Sprintf("call %d: %s by %s", calls, d.Decision, decidingRule(d))
		}
		if by == "" && d.Obliges(engine.ObligationSave) {
			by = fmt.Sprintf("call %d: what it destroys is saved first, else %s by %s", calls, d.Otherwise.Effect, decidingRule(d))
		}
	}
	if by == "" {
		t.Errorf("%s: nothing stops %q", c.Incident, c.Name)
	}
	return by
}

// decided returns what was decided about the calls of a case, in order.
func decided(t *testing.T, runner *caseRunner, c cases.Case) []*engine.Decision {
	t.Helper()
	result, err := runner.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	var all []*engine.Decision
	for _, r := range result.Records {
		if r.Phase == engine.PhasePre && r.Decision != nil {
			all = append(all, r.Decision)
		}
	}
	return all
}

// decidingRule names the rule that decided; if none fired, the scores.
func decidingRule(d *engine.Decision) string {
	if ids := d.RuleIDs(); len(ids) > 0 {
		return "`" + ids[0] + "`"
	}
	return "the matrix"
}

func passes(t *testing.T, runner *caseRunner, c cases.Case) {
	t.Helper()
	for i, d := range decided(t, runner, c) {
		if c.Todo == "" && (d.Decision == engine.Block || d.Decision == engine.Ask) {
			t.Errorf("%s: call %d of the twin %q: %s by %s", c.Incident, i+1, c.Name, d.Decision, decidingRule(d))
		}
	}
}

func cellText(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

const incidentsHead = `# Incidents

Real incidents of coding agents, reproduced in
[bundles/default/cases/incidents](../bundles/default/cases/incidents): the request, what the agent
read, what failed, and the call that did the harm. The policy stops each of them at that call or
earlier, or saves what it destroys. Each has a twin, the same work done without harm, in which no call is blocked or asked about.

    reviewer policy test bundles/default/cases/incidents

This page is written by ` + "`go test ./cmd/reviewer/shipped -run TestIncidents -update-incidents`" + `.

| incident | what happened | stopped | its harmless twin |
|---|---|---|---|
`

func checkPage(t *testing.T, rows string) {
	t.Helper()
	const file = root + "/docs/incidents.md"
	want := incidentsHead + rows
	if *updateIncidents {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("docs/incidents.md is not what the cases say (%v): "+
			"run go test ./cmd/reviewer/shipped -run TestIncidents -update-incidents", err)
	}
}
