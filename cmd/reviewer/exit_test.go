package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// TestExitCodes compares the table in the documentation with the program's.
func TestExitCodes(t *testing.T) {
	page, err := os.ReadFile("../../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "| code | meaning |\n|---|---|\n"
	for _, m := range cli.ExitMeanings() {
		table += fmt.Sprintf("| %d | %s |\n", m.Code, m.Meaning)
	}
	if !strings.Contains(string(page), "TestExitCodes -->\n"+table+"<!-- end of exit codes -->") {
		t.Errorf("docs/output.md differs from the program, which has\n%s", table)
	}
}

func TestExitCodeOfErrors(t *testing.T) {
	plain := errors.New("no such file")
	silent := &cli.ExitError{Code: cli.ExitFindings}
	cases := []struct {
		err  error
		code int
		says string
	}{
		{nil, cli.ExitOK, ""},
		{plain, cli.ExitFailed, "no such file"},
		{cli.Findings("2 tests failed"), cli.ExitFindings, "2 tests failed"},
		{cli.Usage("no ID"), cli.ExitUsage, "no ID"},
		{fmt.Errorf("read: %w", cli.Usage("no ID")), cli.ExitUsage, "read: no ID"},
		{errors.Join(plain, cli.Findings("2 tests failed")), cli.ExitFindings, "no such file\n2 tests failed"},
		{silent, cli.ExitFindings, ""},
		{errors.Join(silent), cli.ExitFindings, ""},
		{term.Unknown("format", "jsn", []string{"json"}), cli.ExitUsage, `unknown format "jsn"; expected one of json; did you mean "json"?`},
	}
	for _, c := range cases {
		code, err := cli.ExitCode(c.err)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if code != c.code || said != c.says {
			t.Errorf("%v: %d %q, want %d %q", c.err, code, said, c.code, c.says)
		}
	}
}

// TestHookNeverFailsOpen runs command lines of a hook that are wrong in every way:
// the client goes on after any exit code but 2.
func TestHookNeverFailsOpen(t *testing.T) {
	lines := []string{
		"hook", "hook nosuchagent", "hook nosuchagent PreToolUse", "hook claude-code PreToolUse extra",
		"hook claude-code PreToolUse --nosuchflag", "hook claude-code PreToolUse -f xml", "hook --home",
		"hook claude-code PreToolUse --help", "hook claude-code -h",
		"--nosuchflag hook claude-code PreToolUse", "--nosuchflag=1 hook claude-code", "hok claude-code PreToolUse",
		"hooks claude-code PreToolUse", "--home", "hook claude-code PreToolUse --home",
	}
	for _, line := range lines {
		var out, errs bytes.Buffer
		a := &cli.App{Streams: term.Streams{Stdin: strings.NewReader("{}"), Stdout: &out, Stderr: &errs,
			Env: func(string) string { return "" }}, Home: t.TempDir()}
		want := cli.ExitFindings
		if line == "--home" {
			want = cli.ExitUsage // nobody's hook
		}
		if code := run(t.Context(), a, strings.Fields(line)); code != want {
			t.Errorf("reviewer %s: exit code %d, want %d\n%s%s", line, code, want, out.String(), errs.String())
		}
	}
	if code := runQuietly(t, "hook", "--help"); code != cli.ExitOK {
		t.Errorf("hook --help: exit code %d", code)
	}
}

func runQuietly(t *testing.T, args ...string) int {
	t.Helper()
	var sink bytes.Buffer
	a := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(""), Stdout: &sink, Stderr: &sink,
		Env: func(string) string { return "" }}, Home: t.TempDir()}
	return run(t.Context(), a, args)
}
