package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/schemas"
)

// The files are what the Go types say today.
func TestSchemasAreCurrent(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir, "../.."); err != nil {
		t.Fatal(err)
	}
	for _, d := range documents() {
		want, err := os.ReadFile(filepath.Join(dir, d.file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := schemas.FS.ReadFile(d.file)
		if err != nil {
			t.Errorf("%v: run go generate ./schemas", err)
			continue
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s is not what the types say; run go generate ./schemas\n%s", d.file, diff)
		}
	}
}

// What is written about the settings is what their schema and their defaults say.
func TestSettingsDocIsCurrent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.md")
	if err := writeSettings(file); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), string(want)); diff != "" {
		t.Errorf("docs/settings.md is out of date; run go generate ./schemas\n%s", diff)
	}
}

// What is written and drawn of the metrics is what their table says.
func TestMetricsDocsAreCurrent(t *testing.T) {
	dir := t.TempDir()
	if err := writeMetrics(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"metrics.md", "grafana.json"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("docs/%s is out of date; run go generate ./schemas\n%s", name, diff)
		}
	}
}
