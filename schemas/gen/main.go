// Command gen writes the JSON Schemas of the documents whose form is a Go type.
// It runs in the directory schemas: go generate ./schemas.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine"
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
	}
}

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	for _, d := range documents() {
		b, err := engine.SchemaJSON(d.of, d.title)
		if err != nil {
			return fmt.Errorf("schema of %T: %w", d.of, err)
		}
		if err := os.WriteFile(filepath.Join(dir, d.file), b, 0o644); err != nil {
			return fmt.Errorf("write schema: %w", err)
		}
	}
	return nil
}
