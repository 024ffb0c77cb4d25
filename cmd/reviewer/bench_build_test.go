//go:build bench && unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// manyRules writes a layer of 5,000 rules, each with a case in which it fires.
func manyRules(t *testing.T) string {
	dir := t.TempDir()
	files := map[string][]byte{".manifest": []byte(`{"roots": ["policies/organisation"], "metadata": {"name": "acme/many", "version": "1.0.0", "sequence": 1}}`)}
	for i := range 5000 {
		rules, cases := fmt.Sprintf("rules/r%d.yaml", i/100), fmt.Sprintf("cases/c%d.yaml", i/100)
		if i%100 == 0 {
			files[cases] = fmt.Appendf(nil, "name: c%d\ncases:\n", i)
		}
		files[rules] = fmt.Appendf(files[rules], "- id: acme.r%d\n  title: Rule %d\n  severity: high\n  decision: ask\n  message: m\n  match: {phases: [pre], commands: [tool%d]}\n"+
			"  when: action.commands.exists(c, c.name == \"tool%d\" && c.has(\"--force\"))\n", i, i, i, i)
		files[cases] = fmt.Appendf(files[cases], "  - {Bash: tool%d --force, decision: ask, rule: acme.r%d}\n", i, i)
	}
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// buildMany compares building 5,000 rules without their tests with checking them.
func buildMany(t *testing.T) (time.Duration, time.Duration) {
	dir := manyRules(t)
	archive := filepath.Join(t.TempDir(), "many.tar.gz")
	return turns(3,
		func() { mustRunHere(t, "policy", "build", dir, "-o", archive, "--skip-tests") },
		func() { mustRunHere(t, "policy", "check", dir) })
}

// buildTested describes how long building 5,000 rules takes with a case for each.
func buildTested(t *testing.T) {
	dir := manyRules(t)
	archive := filepath.Join(t.TempDir(), "many.tar.gz")
	var took time.Duration
	busy := cpu(func() {
		took = timed(func() { mustRunHere(t, "policy", "build", dir, "-o", archive) })
	})
	fmt.Fprintf(os.Stdout, "%-74s %8s   (goal: %s on two free processors; %s of processor time)\n",
		"policy build of 5,000 rules and 5,000 cases", took.Round(time.Millisecond), 10*time.Second, busy.Round(time.Millisecond))
}

// mustRunHere runs a command line in this process.
func mustRunHere(t *testing.T, args ...string) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	a := &cli.App{Streams: term.Streams{Stdin: null, Stdout: null, Stderr: os.Stderr, Env: func(string) string { return "" }}, Home: t.TempDir()}
	if code := run(t.Context(), a, args); code != cli.ExitOK {
		t.Fatalf("%q: exit code %d", args, code)
	}
}
