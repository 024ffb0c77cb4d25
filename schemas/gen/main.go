// Command gen writes the JSON Schemas of the documents that are defined by Go types,
// docs/settings.md, which describes the settings that people set most,
// docs/metrics.md and docs/grafana.json, which describe and show the metrics,
// engine/serve/api/openapi.json, which describes the HTTP API, and cmd/reviewer/guide/reference.md,
// the reference for authors.
// It runs in the directory schemas: go generate ./schemas.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/incident"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/stats"
)

// document is a schema file and the type that it describes.
type document struct {
	file, title string
	of          any
	output      bool // a command writes it, so that it has "v"
}

func documents() []document {
	return []document{
		{"event.json", "Event: what an agent reported, as it leaves the process", engine.EventFacts{}, false},
		{"action.json", "Action: what an event means", engine.Action{}, false},
		{"input.json", "Input: everything that policy sees", engine.Input{}, false},
		{"finding.json", "Finding: a condition of the policy that is true", engine.Finding{}, false},
		{"decision.json", "Decision: the result of policy for an event", engine.Decision{}, false},
		{"record.json", "Record: one line of the log", engine.Record{}, false},
		{"rule.json", "Rule: one row of a bundle's rules", bundles.Rule{}, false},
		{"rego-finding.json", "RegoFinding: an element of the set findings in a layer's Rego", bundles.RegoFinding{}, false},
		{"exception.json", "RegoException: an element of the set exceptions in a layer's Rego, a rule that does not apply", bundles.RegoException{}, false},
		{"manifest.json", "Manifest: the file .manifest of a bundle", bundles.Manifest{}, false},
		{"program.json", "Program: one row of a bundle's programs", rows.Program{}, false},
		{"paths.json", "Paths: one row of a bundle's places", rows.Paths{}, false},
		{"tool.json", "Tool: one row of a bundle's tools", rows.Tool{}, false},
		{"token.json", "Token: the format of an issuer's secrets, one row of a bundle's tokens", rows.Token{}, false},
		{"words.json", "WordList: one list of a bundle's words", rows.WordList{}, false},
		{"detector.json", "Detector: one row of a bundle's detectors", bundles.Detector{}, false},
		{"access.json", "AccessList: one access list of a bundle", bundles.AccessList{}, false},
		{"case.json", "Case: events and the decisions expected for them", cases.Case{}, false},
		{"report.json", "Report: the findings of policy check and policy test, as -f json writes them", report.Document{}, false},
		{"error.json", "Error: why a command wrote no result, as -f json writes it", report.ErrorDocument{}, false},
		{"coverage.json", "Coverage: the parts of a policy that its tests reached", report.CoverageDocument{}, false},
		{"results.json", "Results: test results of an archive, as policy build writes them next to it", bundles.Results{}, false},
		{"stats.json", "Stats: counts of the records in a log, as audit stats -f json writes them", stats.Document{}, true},
		{"incident.json", "Incident: the report about a stop, as incident show -f json writes it", incident.Incident{}, true},
		{"impact.json", "Impact: what a change of policy would have done, as policy simulate -f json writes it", simulate.Impact{}, false},
		{"trust.json", "Trust: trusted keys and roles for policy bundles, the contents of trust.yaml", trust.Document{}, false},
		{"verdict.json", "Verdict: the result of verifying a policy bundle, as policy verify -f json writes it", trust.Verdict{}, true},
		{"sweep.json", "Sweep: the effect of each value of a setting, as policy simulate --sweep -f json writes it", simulate.Sweep{}, false},
		{"diff.json", "Diff: the differences between two policies, as policy diff -f json writes them", diff.Changes{}, true},
	}
}

func main() {
	if err := errors.Join(write(".", ".."), writeSettings("../docs/settings.md"), writeMetrics("../docs"),
		writeOpenAPI("../engine/serve/api/openapi.json", ".."), writeGuide("../cmd/reviewer/guide/reference.md")); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write writes the schemas to a folder; top is the root of the module.
func write(dir, top string) error {
	say, err := newDescriber(top)
	if err != nil {
		return err
	}
	for _, d := range documents() {
		b, err := schemaJSON(d)
		if err == nil {
			b, err = say.describe(b, d.of)
		}
		if err != nil {
			return fmt.Errorf("schema of %T: %w", d.of, err)
		}
		if err := os.WriteFile(filepath.Join(dir, d.file), b, 0o644); err != nil {
			return fmt.Errorf("write schema: %w", err)
		}
	}
	return nil
}

// schemaJSON returns the schema of a type, from its Schema method if it has forms
// that a Go type cannot express.
func schemaJSON(d document) ([]byte, error) {
	own, ok := d.of.(interface {
		Schema(title string) map[string]any
	})
	switch {
	case d.output:
		return engine.DocumentSchemaJSON(d.of, d.title)
	case !ok:
		return engine.SchemaJSON(d.of, d.title)
	}
	b, err := json.MarshalIndent(own.Schema(d.title), "", "  ")
	return append(b, '\n'), err
}

func writeSettings(file string) error {
	text, err := settingsPage()
	if err != nil {
		return fmt.Errorf("describe settings: %w", err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func writeMetrics(dir string) error {
	dashboard, err := stats.Dashboard()
	return errors.Join(err,
		os.WriteFile(filepath.Join(dir, "metrics.md"), []byte(stats.MetricsDoc()), 0o644),
		os.WriteFile(filepath.Join(dir, "grafana.json"), dashboard, 0o644))
}
