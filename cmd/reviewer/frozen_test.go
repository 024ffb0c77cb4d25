package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// TestFrozenLogs verifies and replays the logs that older versions left in
// testdata/audits, one folder for each format version. expected.txt says what
// comes out; under a newer environment that is how many decisions cannot be
// compared, with the reason written above it.
func TestFrozenLogs(t *testing.T) {
	homes, err := filepath.Glob("../../testdata/audits/*/home")
	if err != nil || len(homes) == 0 {
		t.Fatalf("no frozen logs are there: %v", err)
	}
	for _, frozen := range homes {
		t.Run(filepath.Base(filepath.Dir(frozen)), func(t *testing.T) {
			home := t.TempDir()
			if err := os.CopyFS(home, os.DirFS(frozen)); err != nil {
				t.Fatal(err)
			}
			private(t, home)
			got := resultOf(t, home, "audit", "verify") + resultOf(t, home, "audit", "replay")
			if want := expected(t, filepath.Join(filepath.Dir(frozen), "expected.txt")); got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

// private gives a copy the modes that a state directory has.
func private(t *testing.T, dir string) {
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func resultOf(t *testing.T, home string, args ...string) string {
	var out, errs bytes.Buffer
	a := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Env: func(string) string { return "" }}}
	if code := run(t.Context(), a, append(args, "--home", home)); code != cli.ExitOK {
		t.Errorf("%s: exit code %d\n%s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}

// expected reads a file without its comments.
func expected(t *testing.T, path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}
