package shipped

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

var updateInterventions = flag.Bool("update-interventions", false, "write the runs of docs/interventions.md again")

const (
	interventionsPage  = root + "/docs/interventions.md"
	interventionsBegin = "<!-- written by go test ./cmd/reviewer/shipped -run TestInterventionsDoc -update-interventions -->\n"
	interventionsEnd   = "<!-- end -->\n"
)

// runsOfInterventions are the cases that the page shows, one for each kind.
func runsOfInterventions() map[string]string {
	return map[string]string{
		engine.SoftCorrection:       "repeated searches for a file that does not exist",
		engine.ContextReinforcement: "a reminder repeats what the user forbade",
		engine.ResourceThrottling:   "the limits of a throttled session apply until the next prompt",
		engine.CheckpointRollback:   "an error loop ends in a rollback to the state before its first error",
		engine.EmergencyStop:        "a denied action is tried in another way, twice, and the session stops",
	}
}

// The page shows a run of each kind, as the policy decides it now.
func TestInterventionsDoc(t *testing.T) {
	runner, list := shippedCases(t)
	var b strings.Builder
	for _, kind := range engine.Interventions() {
		name := runsOfInterventions()[kind]
		if name == "" {
			continue
		}
		i := slices.IndexFunc(list, func(c cases.Case) bool {
			return strings.HasPrefix(c.File, "cases/session/") && c.Name == name
		})
		if i < 0 {
			t.Fatalf("there is no case %q", name)
		}
		result, err := runner.Run(context.Background(), list[i])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n### %s: %s\n\n```text\n%s```\n", kind, name, shownRun(result.Chain))
	}
	compareInterventions(t, interventionsBegin, b.String()+"\n", interventionsEnd)
}

// compareInterventions compares a part of the page with what it is to be, or writes it.
func compareInterventions(t *testing.T, begin, part, end string) {
	t.Helper()
	raw, err := os.ReadFile(interventionsPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(raw), begin)
	_, tail, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no lines %q and %q", interventionsPage, begin, end)
	}
	want := head + begin + part + end + tail
	if *updateInterventions {
		if err := os.WriteFile(interventionsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("%s says something else: go test ./cmd/reviewer/shipped -run %s -update-interventions", interventionsPage, t.Name())
	}
}

// withOutcome fills in what came of a rollback, from the record that follows.
func withOutcome(a engine.Answer, after []*engine.Record) string {
	for _, r := range after {
		if r.Act != nil && r.Act.Of == a.ID && r.Act.Rollback != nil {
			return strings.ReplaceAll(a.Text, "{outcome}", r.Act.Rollback.Text)
		}
	}
	return a.Text
}

// shownRun prints each call with what was answered and what the agent was told, and where prompts are.
func shownRun(records []*engine.Record) string {
	var b strings.Builder
	for i, r := range records {
		if r.Phase == engine.PhasePrompt && b.Len() > 0 {
			b.WriteString("prompt\n")
		}
		if r.Decision == nil || r.Action == nil {
			continue
		}
		when := map[engine.Phase]string{engine.PhasePre: "before", engine.PhasePost: "after"}[r.Phase]
		if when == "after" && r.Decision.Enforced == engine.Allow {
			continue
		}
		fmt.Fprintf(&b, "%-7s %-6s %s\n", when, r.Decision.Enforced, cmp.Or(r.Action.Resource, r.Event.Tool))
		for line := range strings.Lines(withOutcome(engine.AnswerOf(r), records[i+1:])) {
			fmt.Fprintf(&b, "          %s\n", strings.TrimSuffix(line, "\n"))
		}
	}
	return b.String()
}

// A policy that stops no session by itself stops none for what happened in another one.
func TestStopsStayWhereNothingIsStopped(t *testing.T) {
	for settings, want := range map[string]string{
		"# nothing":                                  "unattended",
		"interventions: {enabled: false}":            "session",
		"interventions: {hard_stop: false}":          "session",
		"enforcement: observe":                       "session",
		"enforcement: warn":                          "session",
		"enabled: false":                             "session",
		"interventions: {stops: {scope: workspace}}": "workspace",
	} {
		if got := wiringtest.PolicyOf(t, wiringtest.LayerOf(bundles.User, "settings.yaml", settings+"\n")).Inherit.Scope; got != want {
			t.Errorf("%s: the scope is %s, want %s", settings, got, want)
		}
	}
}
