//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestMain lets the client run this binary as a hook and as a tool server;
// otherwise it builds the reviewer, installs the client, and runs the tests.
func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == "record-hook":
		err = recordHook(os.Stdin, os.Stdout, os.Args[2], os.Args[3])
	case len(os.Args) == 2 && os.Args[1] == "stock-server":
		err = stockServer(os.Stdin, os.Stdout)
	default:
		os.Exit(runTests(m))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "reviewer-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := prepare(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// prepare sets program and client. REVIEWER names a program to be tested in the
// place of the one that is built from the sources. On Linux the hooks start the client of the
// resident process, as they do for users.
func prepare(dir string) (err error) {
	client, clientVersion, err = InstallClient(context.Background(), os.Getenv("CLAUDE_CODE_VERSION"))
	if err != nil {
		return err
	}
	fmt.Printf("client %s\n", clientVersion)
	if err := shareGoCache(); err != nil {
		return err
	}
	if program = os.Getenv("REVIEWER"); program != "" {
		return nil
	}
	program = filepath.Join(dir, "reviewer")
	if err := build(program, ".."); err != nil {
		return err
	}
	if c := hookClient(program); c != "" {
		return build(c, "../../reviewer-hook")
	}
	return nil
}

func build(to, source string) error {
	cmd := exec.Command("go", "build", "-o", to, source)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil && os.Getenv("RECORD") != "1" {
		return fmt.Errorf("build %s: %w\n%s", source, err, out)
	}
	return nil
}

// hookClient is where install looks for the client of the resident process; empty: there is
// none on this system, or next to the program that is tested.
func hookClient(reviewer string) string {
	if runtime.GOOS != "linux" || os.Getenv("REVIEWER") != "" {
		return ""
	}
	return filepath.Join(filepath.Dir(reviewer), "reviewer-hook")
}

// shareGoCache names Go's build cache in the environment: the agent's home is a
// new one, and its "go test" would compile the standard library for each test.
func shareGoCache() error {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("ask go for its cache: %w", err)
	}
	return os.Setenv("GOCACHE", strings.TrimSpace(string(out)))
}
