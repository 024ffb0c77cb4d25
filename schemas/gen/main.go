// Command gen writes the JSON Schemas of the documents whose form is a Go type,
// docs/settings.md, which describes the settings, docs/rules.md, which
// describes the rules that ship, docs/programs.md, which describes the programs
// that it knows, and docs/metrics.md and docs/grafana.json, which
// describe and show the metrics.
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
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/stats"
)

// document is one schema file and the type that it describes.
type document struct {
	file, title string
	of          any
}

func documents() []document {
	return []document{
		{"event.json", "Event: what an agent said, as it leaves the process", engine.EventFacts{}},
		{"action.json", "Action: what an event means", engine.Action{}},
		{"input.json", "Input: all that policy may see", engine.Input{}},
		{"finding.json", "Finding: a condition of the policy holds", engine.Finding{}},
		{"decision.json", "Decision: what policy said", engine.Decision{}},
		{"record.json", "Record: one line of the log", engine.Record{}},
		{"rule.json", "Rule: one row of a bundle's rules", bundles.Rule{}},
		{"program.json", "Program: one row of a bundle's programs", rows.Program{}},
		{"paths.json", "Paths: one row of a bundle's places", rows.Paths{}},
		{"tool.json", "Tool: one row of a bundle's tools", rows.Tool{}},
		{"token.json", "Token: what the secrets of an issuer look like, one row of a bundle's tokens", rows.Token{}},
		{"words.json", "WordList: one list of a bundle's words", rows.WordList{}},
		{"detector.json", "Detector: one row of a bundle's detectors", bundles.Detector{}},
		{"access.json", "AccessList: who may do what; one document of a bundle's access lists", bundles.AccessList{}},
		{"case.json", "Case: what happens, and what policy is to make of it", cases.Case{}},
		{"report.json", "Report: what checking or testing a policy found, as -f json writes it", report.Document{}},
		{"coverage.json", "Coverage: what of a policy its tests reached", report.CoverageDocument{}},
		{"results.json", "Results: what building an archive found, as policy build writes it beside the archive", bundles.Results{}},
		{"stats.json", "Stats: what the log says in numbers, as audit stats -f json writes it", stats.Document{}},
		{"impact.json", "Impact: what a change of policy would have done, as policy simulate -f json writes it", simulate.Impact{}},
		{"trust.json", "Trust: whose signatures on policy bundles count, as trust.yaml says", trust.Document{}},
		{"verdict.json", "Verdict: what checking a policy bundle found, as policy verify -f json writes it", trust.Verdict{}},
		{"sweep.json", "Sweep: what each value of one setting would do, as policy simulate --sweep -f json writes it", simulate.Sweep{}},
		{"diff.json", "Diff: what differs between two policies, as policy diff -f json writes it", diff.Changes{}},
	}
}

func main() {
	if err := errors.Join(write("."), writeSettings("../docs/settings.md"), writeRules("../docs/rules.md"),
		writePatterns("../docs/patterns.md"), writePrograms("../docs/programs.md"), writeMetrics("../docs")); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	for _, d := range documents() {
		b, err := schemaJSON(d)
		if err != nil {
			return fmt.Errorf("schema of %T: %w", d.of, err)
		}
		if err := os.WriteFile(filepath.Join(dir, d.file), b, 0o644); err != nil {
			return fmt.Errorf("write schema: %w", err)
		}
	}
	return nil
}

// schemaJSON returns the schema of a type, by its own word where it has forms
// that no Go type shows.
func schemaJSON(d document) ([]byte, error) {
	own, ok := d.of.(interface {
		Schema(title string) map[string]any
	})
	if !ok {
		return engine.SchemaJSON(d.of, d.title)
	}
	b, err := json.MarshalIndent(own.Schema(d.title), "", "  ")
	return append(b, '\n'), err
}

func writePrograms(file string) error {
	text, err := programsPage()
	if err != nil {
		return fmt.Errorf("describe programs: %w", err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// programsPage describes the programs that the policy that ships knows.
func programsPage() (string, error) {
	b, err := bundles.Default()
	if err != nil {
		return "", err
	}
	e, err := bundles.Assemble(b)
	if err != nil {
		return "", err
	}
	return rows.Page(rows.New(e.RowLayers()))
}

func writeSettings(file string) error {
	text, err := bundles.SettingsDoc()
	if err != nil {
		return fmt.Errorf("describe settings: %w", err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func writeRules(file string) error {
	text, err := bundles.ShippedRulesDoc()
	if err != nil {
		return fmt.Errorf("describe rules: %w", err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func writeMetrics(dir string) error {
	dashboard, err := stats.Dashboard()
	return errors.Join(err,
		os.WriteFile(filepath.Join(dir, "metrics.md"), []byte(stats.MetricsDoc()), 0o644),
		os.WriteFile(filepath.Join(dir, "grafana.json"), dashboard, 0o644))
}

func writePatterns(file string) error {
	text, err := bundles.ShippedPatternsDoc()
	if err != nil {
		return fmt.Errorf("describe patterns: %w", err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
