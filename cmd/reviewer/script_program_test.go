package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/rogpeppe/go-internal/testscript"
)

// runAll runs the tests with the programs of the scripts first on PATH, each a link to this
// binary. The tests themselves become the program reviewer there, so that a command that
// runs in their process finds itself, and what belongs next to it, as it does in one of its own.
func runAll(m *testing.M, programs map[string]func()) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	dir := filepath.Dir(self)
	if filepath.Base(self) != "reviewer" {
		if dir, err = putPrograms(self, programs); err != nil {
			return 0, err
		}
	}
	if claims == "" { // else the process that started this one goes on using it
		defer os.RemoveAll(dir)
	}
	if err := lookAround(dir); err != nil {
		return 0, err
	}
	second, err := startHelper()
	if err != nil {
		return 0, err
	}
	return second.finish(m.Run()), nil
}

func putPrograms(self string, programs map[string]func()) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "reviewer-programs"); err != nil {
		return "", err
	}
	for name := range programs {
		if err := putProgram(self, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		return "", err
	}
	return dir, become(filepath.Join(dir, "reviewer"))
}

func copyProgram(from, to string) error {
	b, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, b, 0o700))
}

// atStart is what is found before a script runs in this process.
var atStart struct{ path, programs, repository, cat string }

func lookAround(programs string) (err error) {
	atStart.path, atStart.programs = os.Getenv("PATH"), programs
	atStart.cat, _ = exec.LookPath("cat") // not on Windows, where it is not needed
	atStart.repository, err = filepath.Abs("../..")
	return err
}

// here is what belongs to the whole process: a command of a script that runs in it has a
// working directory and an environment of its own, so only one runs at a time.
var here sync.Mutex

// reviewer ARG… runs the program in this process; `exec reviewer ARG…` starts it.
func reviewerHere(ts *testscript.TestScript, neg bool, args []string) {
	if code := runReviewer(ts, args); (code != 0) != neg {
		ts.Fatalf("exit code %d", code)
	}
}

// runReviewer runs a command line with the input that the script has set, and returns its exit code.
func runReviewer(ts *testscript.TestScript, args []string) int {
	if ownProcess(ts, args) {
		return runProgram(ts, "reviewer", args)
	}
	input := ""
	if hidden(ts, "stdin").Len() > 0 {
		ts.Check(ts.Exec(atStart.cat))
		input = ts.ReadFile("stdout")
	}
	return runHere(ts, input, args)
}

// runHere runs a command line in this process.
func runHere(ts *testscript.TestScript, input string, args []string) (code int) {
	var stdout, stderr output
	a := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(input), Stdout: &stdout, Stderr: &stderr, Env: os.Getenv}, Detach: cli.Detach,
		Pid: nobody}
	ts.Check(inside(ts.MkAbs("."), environment(ts), func() { code = run(context.Background(), a, args) }))
	fmt.Fprint(ts.Stdout(), stdout.String())
	fmt.Fprint(ts.Stderr(), stderr.String())
	return code
}

// environment is that of a script at this point.
func environment(ts *testscript.TestScript) (variables []string) {
	for i := range hidden(ts, "env").Len() {
		variables = append(variables, hidden(ts, "env").Index(i).String())
	}
	return variables
}

// nobody is the process of a hook that runs in this one: no client is above it.
const nobody = -1

// runProgram starts a program, and returns its exit code.
func runProgram(ts *testscript.TestScript, name string, args []string) int {
	err := ts.Exec(name, args...)
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		return e.ExitCode()
	}
	ts.Check(err)
	return 0
}

// ownProcess reports whether a command needs a process of its own: at a terminal, in another
// time zone, with few processors, or because it supervises or waits for other processes.
func ownProcess(ts *testscript.TestScript, args []string) bool {
	return runtime.GOOS == "windows" || hidden(ts, "ttyin").Len() > 0 || ts.Getenv("TZ") != "" || ts.Getenv("GOMAXPROCS") != "" ||
		slices.ContainsFunc(args, func(arg string) bool { return arg == "run" || arg == "watch" || arg == "serve" })
}

// hidden is what testscript keeps to itself about a script.
func hidden(ts *testscript.TestScript, field string) reflect.Value {
	return reflect.ValueOf(ts).Elem().FieldByName(field)
}

// inside does something in a working directory and an environment.
func inside(dir string, environment []string, do func()) (err error) {
	here.Lock()
	defer here.Unlock()
	before, err := os.Getwd()
	if err != nil {
		return err
	}
	saved := os.Environ()
	defer func() { err = errors.Join(err, os.Chdir(before), setAll(saved)) }()
	if err := errors.Join(os.Chdir(dir), setAll(append(environment, "PWD="+dir))); err != nil {
		return err
	}
	do()
	return nil
}

func setAll(environment []string) error {
	os.Clearenv()
	for _, one := range environment {
		name, value, _ := strings.Cut(one, "=")
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", one, err)
		}
	}
	return nil
}

// output is a stream to which several goroutines write.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
