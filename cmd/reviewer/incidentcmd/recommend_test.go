package incidentcmd

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine/incident"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

func builtIn(t *testing.T) (*bundles.Bundle, map[string]settings.Recommendation) {
	t.Helper()
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	e, err := bundles.Assemble(base)
	if err != nil {
		t.Fatal(err)
	}
	rows := e.Settings.Interventions.Recommendations
	if len(rows) < 2 {
		t.Fatalf("%d rows", len(rows))
	}
	return base, rows
}

// What is recommended about any rule or pattern is a layer that can be put on top of the
// built-in policy, that changes something, and that no other rule's stop makes wrong.
func TestRecommendationsAreAccepted(t *testing.T) {
	base, rows := builtIn(t)
	for _, issue := range append(slices.Sorted(maps.Keys(rows)), "disk_write", "loop") {
		i := &incident.Incident{ID: "0123abcd-4", Session: "s1", Cause: incident.Cause{Issue: issue}}
		if issue == incident.AnyIssue {
			i.Cause.Issue = "delete_broad"
		}
		i.Advise(rows)
		text, err := patch(i)
		if err != nil || text == "" {
			t.Errorf("%s has no configuration, %v", issue, err)
			continue
		}
		layer, err := bundles.Load(fstest.MapFS{"settings.yaml": {Data: []byte(text)}}, bundles.User)
		if err != nil {
			t.Errorf("%s: %v\n%s", issue, err, text)
			continue
		}
		e, err := bundles.Assemble(base, layer)
		if err != nil {
			t.Errorf("%s: %v\n%s", issue, err, text)
			continue
		}
		if without, _ := bundles.Assemble(base); e.Digest == without.Digest {
			t.Errorf("%s changes nothing:\n%s", issue, text)
		}
	}
}

// Recommendations are about rules and patterns that the policy has, and leave no
// placeholder.
func TestRecommendationsAreAboutRules(t *testing.T) {
	base, rows := builtIn(t)
	for id, row := range rows {
		known := slices.ContainsFunc(base.Rules, func(r bundles.Rule) bool { return r.ID == id })
		if id != incident.AnyIssue && !known {
			t.Errorf("%s is neither a rule nor a pattern", id)
		}
		i := &incident.Incident{ID: "0123abcd-4", Session: "s1", Cause: incident.Cause{Issue: "x"}}
		i.Advise(map[string]settings.Recommendation{"x": row})
		for _, text := range append(i.Advice.Immediate, i.Advice.Preventive...) {
			if strings.ContainsAny(text, "{}") {
				t.Errorf("%s: %s", id, text)
			}
		}
	}
}
