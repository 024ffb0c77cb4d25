//go:build bench && unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/trial"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/rego"
)

// policyTests compares `policy test --coverage` of the Rego tests that ship with
// OPA's own command over the same files, both as whole processes.
func policyTests(t *testing.T) (time.Duration, time.Duration) {
	dir, err := filepath.Abs("../../bundles/default")
	if err != nil {
		t.Fatal(err)
	}
	reviewer, opa := builtPrograms(t)
	ours := []string{"policy", "test", dir, "--coverage", "--run", `^data\.`, "--timeout", "1m"}
	theirs := []string{"test", "--coverage", "--timeout", "1m", "--bundle", dir} // as files, its lists would be merged
	return turns(5, func() { mustRun(t, exec.Command(reviewer, ours...)) }, func() { mustRun(t, exec.Command(opa, theirs...)) })
}

// builtPrograms makes reviewer and the OPA that is in it.
func builtPrograms(t *testing.T) (reviewer, opa string) {
	dir := t.TempDir()
	reviewer, opa = filepath.Join(dir, "reviewer"), filepath.Join(dir, "opa")
	build := exec.Command("go", "build", "-trimpath", "-o", reviewer, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	install := exec.Command("go", "install", "github.com/open-policy-agent/opa@v"+rego.Version())
	install.Env, install.Dir = append(os.Environ(), "GOBIN="+dir, "CGO_ENABLED=0", "GOFLAGS=-mod=mod"), dir
	for _, cmd := range []*exec.Cmd{build, install} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	return reviewer, opa
}

// suites prints how long the whole default suite with coverage takes, and a
// thousand case files: absolute times, of which this machine's load is a part.
func suites(t *testing.T) {
	base, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	all, err := trial.Load(bundles.DefaultFS(), "", bundles.Base, base)
	if err != nil {
		t.Fatal(err)
	}
	many := trial.Subject{Layers: all.Layers, OnlyCases: true, Cases: generatedCases(t, 1000)}
	for _, s := range []struct {
		what    string
		goal    time.Duration
		subject trial.Subject
		options trial.Options
	}{
		{"the default suite with coverage", 5 * time.Second, all, trial.Options{Coverage: true}},
		{"1,000 case files", 10 * time.Second, many, trial.Options{}},
	} {
		s.options.Env, s.options.Timeout = cli.Environment(), time.Minute
		var busy time.Duration
		took := timed(func() {
			busy = cpu(func() {
				if _, err := trial.Run(context.Background(), s.subject, s.options); err != nil {
					t.Fatal(err)
				}
			})
		})
		fmt.Fprintf(os.Stdout, "%-74s %8s   (goal: %s on two free processors; %s of processor time)\n", s.what, took.Round(time.Millisecond), s.goal, busy.Round(time.Millisecond))
	}
}

// generatedCases are files of a session each: a prompt, a few calls with their
// results, and what is expected of the last.
func generatedCases(t *testing.T, n int) []cases.Case {
	var all []cases.Case
	for i := range n {
		text := fmt.Sprintf("name: session %d\nfiles: {src/main%d.go: x}\nevents:\n  - prompt: tidy up\n", i, i)
		text += strings.Repeat(fmt.Sprintf("  - {Bash: grep -n func src/main%d.go, result: ok}\n", i), 3)
		text += fmt.Sprintf("  - {Bash: rm -rf /srv/other%d, expect: {decision: block, rules: [delete_outside_scope]}}\n", i)
		list, err := cases.Parse(fmt.Sprintf("cases/%d.yaml", i), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
	}
	return all
}
