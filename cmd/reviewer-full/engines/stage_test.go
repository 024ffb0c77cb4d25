//go:build e2e && linux

package engines

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/await"
)

const root = "../../.."

// stage is what every test starts from.
type stage struct {
	program  string // with object stores
	archive  string // a folder of sessions
	policy   string
	manifest string
	plain    []byte // the report of the plain command
}

var shared stage

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "reviewer-engines-")
	if err == nil {
		err = prepare(dir)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func prepare(dir string) error {
	events := os.Getenv("EVENTS")
	if events == "" {
		events = "2000"
	}
	shared = stage{program: os.Getenv("REVIEWER"), archive: filepath.Join(dir, "archive"), policy: filepath.Join(dir, "policy"), manifest: filepath.Join(dir, "manifest.json")}
	if shared.program == "" {
		shared.program = filepath.Join(dir, "reviewer")
		if err := run(root, "go", "build", "-C", "cmd/reviewer-full", "-o", shared.program, "."); err != nil {
			return err
		}
	}
	rules := filepath.Join(shared.policy, "rules")
	if err := os.MkdirAll(rules, 0o755); err != nil {
		return err
	}
	rule := "- id: my.read\n  title: No reading\n  severity: high\n  decision: block\n  message: not to be read\n  match: {phases: [pre], tools: [Read]}\n"
	if err := os.WriteFile(filepath.Join(rules, "mine.yaml"), []byte(rule), 0o644); err != nil {
		return err
	}
	os.Setenv("REVIEWER_HOME", filepath.Join(dir, "state"))
	report, archive := filepath.Join(dir, "plain.json"), filepath.Join(dir, "archive-program")
	for _, c := range [][]string{
		{"go", "build", "-C", "cmd/dev", "-o", archive, "./archive"},
		{archive, "-events", events, "-out", shared.archive},
		{shared.program, "policy", "simulate", shared.archive, "--candidate", shared.policy, "-f", "json", "-o", report},
		{shared.program, "policy", "simulate", "manifest", shared.archive, "-o", shared.manifest},
	} {
		if err := run(root, c...); err != nil {
			return err
		}
	}
	var err error
	shared.plain, err = os.ReadFile(report)
	return err
}

func run(dir string, command ...string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
	}
	return nil
}

// reviewer runs the program, and returns what it printed to standard error.
func reviewer(t *testing.T, code int, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), shared.program, args...)
	cmd.Dir = t.TempDir()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("reviewer %s: %v, want exit code %d\n%s", strings.Join(args, " "), err, code, &errs)
	}
	return errs.String()
}

// same compares a report with that of the plain command.
func same(t *testing.T, report string) {
	t.Helper()
	got, err := os.ReadFile(report)
	if err != nil || !bytes.Equal(got, shared.plain) {
		t.Fatalf("%s: %v: %d bytes, which differ from the %d of the plain command", report, err, len(got), len(shared.plain))
	}
	t.Logf("%s: the same %d bytes as the plain command", filepath.Base(report), len(got))
}

// daemon starts a program that runs until the test ends, and returns its process and log.
func daemon(t *testing.T, env []string, command ...string) (*os.Process, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	log, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
	})
	return cmd.Process, name
}

// until waits for something that other processes do; a test without it says so.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 3 { // engines start in minutes
		if await.Holds(done) {
			return
		}
	}
	t.Fatalf("%s did not happen in ten minutes", what)
}

func logged(file, text string) int {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	return strings.Count(string(content), text)
}
