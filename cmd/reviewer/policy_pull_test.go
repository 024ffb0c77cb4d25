package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// What is not an archive of a policy is refused, and nothing is written.
func TestPullBadArchive(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 80 {
		if _, err := z.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		archive []byte
		want    string
	}{
		"bomb":     {bomb.Bytes(), "unpack"},
		"nonsense": {[]byte("<html>hello</html>"), "is not gzip"},
		"half":     {bomb.Bytes()[:40], "unpack"},
	} {
		home, from, to := t.TempDir(), t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(from, "x.tar.gz"), test.archive, 0o644); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		a := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Env: func(string) string { return "" }}, Home: home}
		code := run(t.Context(), a, []string{"policy", "pull", from, "-o", to})
		if code != cli.ExitFindings || !strings.Contains(errs.String(), "refused [unpack]") || !strings.Contains(errs.String(), test.want) {
			t.Errorf("%s: exit code %d, %s", name, code, &errs)
		}
		if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left (%v)", name, left, err)
		}
	}
}
