package trial

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

// exampleJobs makes a test of each event that a rule has as an example.
func (t *trial) exampleJobs() []job {
	b := t.bundle()
	if b == nil {
		return nil
	}
	var all []job
	for _, r := range b.Rules {
		for i, event := range r.Examples.Match {
			all = append(all, t.exampleJob(r, event, true, i))
		}
		for i, event := range r.Examples.NoMatch {
			all = append(all, t.exampleJob(r, event, false, i))
		}
	}
	return all
}

func (t *trial) exampleJob(r bundles.Rule, event map[string]any, match bool, i int) job {
	file, line, _ := r.Spot("examples", 0, 0)
	return job{
		file: t.file(file), kind: kindExample, about: r.ID, line: line, name: exampleName(t.name(t.file(file)), r.ID, match, i),
		run: func(ctx context.Context, t *trial) report.Test { return t.tryExample(ctx, r, event, match) },
	}
}

func exampleName(file, id string, match bool, i int) string {
	return fmt.Sprintf("%s/%s/%s/%d", file, id, listName(match), i+1)
}

func listName(match bool) string {
	if match {
		return "match"
	}
	return "no_match"
}

// tryExample reviews an event in a session of its own, and checks whether the rule's
// condition is true for the call or for its result; of a rule in Rego, whether it fires.
func (t *trial) tryExample(ctx context.Context, r bundles.Rule, event map[string]any, match bool) report.Test {
	test := report.Test{Status: report.Pass, Rules: []string{r.ID}}
	c, err := caseOfExample(r.ID, event)
	if err != nil {
		test.Status, test.Message = report.Error, err.Error()
		return test
	}
	result, err := t.runner.Run(ctx, c)
	if err != nil {
		test.Status, test.Message = report.Error, err.Error()
		return test
	}
	if !r.Conditional() {
		return tryFiring(test, result.Records, match)
	}
	f := finding(result.Records, r.ID)
	switch found := f != nil; {
	case found && f.Error != "":
		test.Status, test.Message = report.Error, "its condition cannot be evaluated: "+f.Error
	case found != match:
		test.Status, test.Message = report.Fail, "the condition is false for this example"
		test.Expected, test.Got = "it is true", "it is false"
		if found {
			test.Message, test.Expected, test.Got = "the condition is true for this example, but should not be", test.Got, test.Expected
		}
		test.Why = understood(result.Records)
	case found:
		t.reached.example(*f)
	}
	return test
}

// tryFiring checks whether a rule in Rego fires for an example.
func tryFiring(test report.Test, records []*engine.Record, match bool) report.Test {
	id := test.Rules[0]
	fires := slices.ContainsFunc(records, func(r *engine.Record) bool {
		return r.Decision != nil && slices.ContainsFunc(r.Decision.Rules, func(f engine.RuleResult) bool { return f.ID == id })
	})
	if fires == match {
		return test
	}
	test.Status, test.Message = report.Fail, "the rule does not fire for this example"
	test.Expected, test.Got = "it fires", "it does not fire"
	if fires {
		test.Message, test.Expected, test.Got = "the rule fires for this example, but should not", test.Got, test.Expected
	}
	test.Why = understood(records)
	return test
}

// understood describes how the events of an example were handled.
func understood(records []*engine.Record) []string {
	var all []string
	for _, r := range records {
		all = append(all, facts(r)...)
	}
	return all
}

func finding(records []*engine.Record, id string) *engine.Finding {
	for _, r := range records {
		i := slices.IndexFunc(r.Findings, func(f engine.Finding) bool { return f.ID == id })
		if i >= 0 {
			return &r.Findings[i]
		}
	}
	return nil
}

// caseOfExample makes a case from an event as rules write it, which is an event as
// cases write it.
func caseOfExample(id string, event map[string]any) (cases.Case, error) {
	event = withoutPhase(event)
	event["expect"] = map[string]any{"not_findings": []string{}} // a placeholder: the condition is checked afterwards
	text, err := yaml.Marshal(map[string]any{"name": id, "events": []any{event}})
	if err != nil {
		return cases.Case{}, fmt.Errorf("the example: %w", err)
	}
	list, err := cases.Parse("example.yaml", text)
	if err != nil {
		return cases.Case{}, fmt.Errorf("the example is not an event: %s", withoutPlace(err))
	}
	return list[0], nil
}

// withoutPhase copies an event. In cases, the phase of a call follows from its result.
func withoutPhase(event map[string]any) map[string]any {
	event = maps.Clone(event)
	if event["tool"] == nil {
		return event
	}
	if event["phase"] == string(engine.PhasePost) && event["result"] == nil {
		event["result"] = "ok"
	}
	delete(event, "phase")
	return event
}

// withoutPlace removes the generated places from a string.
func withoutPlace(err error) string {
	var all []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		_, rest, found := strings.Cut(line, ": ")
		if !found {
			rest = line
		}
		all = append(all, rest)
	}
	return strings.Join(all, "; ")
}

// detectorJobs makes a test of each text that a detector has as an example.
func (t *trial) detectorJobs() []job {
	b := t.bundle()
	if b == nil || len(b.Detectors) == 0 {
		return nil
	}
	var all []job
	for _, d := range t.effective.Detectors() {
		if !slices.ContainsFunc(b.Detectors, func(own bundles.Detector) bool { return own.ID == d.ID }) {
			continue
		}
		for i := range slices.Concat(d.Examples.Match, d.Examples.NoMatch) {
			all = append(all, t.detectorJob(d, i))
		}
	}
	return all
}

func (t *trial) detectorJob(d bundles.Detector, i int) job {
	file, line := splitPlace(d.ExamplePlace(i))
	match, number := i < len(d.Examples.Match), i
	if !match {
		number -= len(d.Examples.Match)
	}
	text := slices.Concat(d.Examples.Match, d.Examples.NoMatch)[i]
	return job{
		file: t.file(file), kind: kindDetector, about: d.ID, line: line, name: exampleName(t.name(t.file(file)), d.ID, match, number),
		run: func(_ context.Context, t *trial) report.Test { return t.tryDetector(d.ID, text, match) },
	}
}

func (t *trial) tryDetector(id, text string, match bool) report.Test {
	test := report.Test{Status: report.Pass, Rules: []string{id}}
	set, err := t.finders()
	if err != nil { // unreachable: the policy has compiled
		test.Status, test.Message = report.Error, err.Error()
		return test
	}
	n := slices.IndexFunc(t.effective.Detectors(), func(d bundles.Detector) bool { return d.ID == id })
	switch found := n >= 0 && set.Finds(n, text); {
	case found == match && found:
		t.reached.add(detectorIDs, id)
	case found != match && found:
		test.Status, test.Message, test.Expected, test.Got = report.Fail, "the detector matches this example, but should not",
			"no match", "a match"
	case found != match:
		test.Status, test.Message, test.Expected, test.Got = report.Fail, "the detector does not match this example",
			"a match", "no match"
	}
	return test
}

// splitPlace splits file:line.
func splitPlace(place string) (file string, line int) {
	i := strings.LastIndexByte(place, ':')
	if i < 0 {
		return place, 0
	}
	_, _ = fmt.Sscanf(place[i+1:], "%d", &line)
	return place[:i], line
}
