package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"reviewer-full": main})
}

func TestScript(t *testing.T) {
	examples, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("TESTDATA", examples)
			e.Setenv("REVIEWER_HOME", filepath.Join(e.WorkDir, "state"))
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

// exits runs a command that must end with an exit code: exits 2 reviewer-full …
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var failed *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); neg || !errors.As(err, &failed) || failed.ExitCode() != want {
		ts.Fatalf("%v, want exit code %d", err, want)
	}
}
