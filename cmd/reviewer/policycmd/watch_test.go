package policycmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// What is watched runs at once and after each change, also after it failed,
// until it is ended.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	defer end()
	var told bytes.Buffer
	runs := 0
	err := watch(ctx, &cli.App{Streams: term.Streams{Stderr: &told}}, []string{dir}, func() error {
		if runs++; runs == 3 {
			end()
			return nil
		}
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), bytes.Repeat([]byte("x"), runs), 0o600); err != nil {
			t.Fatal(err)
		}
		return errors.New("a test failed")
	})
	if err != nil || runs != 3 {
		t.Errorf("it ran %d times, want 3 (%v)", runs, err)
	}
	if n := strings.Count(told.String(), "reviewer: a test failed\n"); n != 2 {
		t.Errorf("%d failures were told, want 2:\n%s", n, told.String())
	}
}

// The policy that cases belong to is the one below whose folder cases they lie.
func TestPolicyAround(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"policy/cases/a/b.yaml", "policy/rules/cases/a.yaml", "other/cases/a.yaml"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for path, want := range map[string]string{
		"policy/cases/a/b.yaml": "policy", "policy/cases/a": "policy", "policy/cases": "policy",
		"policy/rules": "", "policy/rules/cases/a.yaml": "", "policy": "", ".": "",
	} {
		if got := policyAround(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
