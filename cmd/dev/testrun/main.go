// Command testrun runs go test and repeats only the failing tests that a list names. It prints
// what a failing test printed, and at the end each repetition; with -report it writes what the
// sweeps checked. It is a development tool, and not part of a release.
//
// Out of scope: which tests run where (.ci/run).
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// repetitions is how often a listed test that failed runs again.
const repetitions = 2

func main() {
	list := flag.String("retry", "", "the `file` with the tests that may be repeated; without it none is")
	report := flag.String("report", "", "run everything, and write what the sweeps checked to this `file`")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: testrun [-retry FILE] [-report FILE] -- [-FLAG[=VALUE] of go test …] PACKAGE …")
		flag.PrintDefaults()
	}
	flag.Parse()
	r := &runner{out: os.Stdout, complete: *report != ""}
	err := r.run(*list, flag.Args())
	if *report != "" {
		err = errors.Join(err, r.report(*report))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(1)
	}
}

// A runner runs go test, perhaps several times.
type runner struct {
	out       io.Writer
	dir       string // where go test starts; empty is the current folder
	module    string
	listed    []entry
	complete  bool // packages start after a failure, too
	ran       int  // tests, without subtests
	sweeps    []string
	long      []string
	processor time.Duration
}

// run runs go test once, and then the listed tests that failed. It is an error if another
// test failed, or a package failed in another way: then no more packages start, unless all
// must.
func (r *runner) run(list string, args []string) error {
	flags := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return !strings.HasPrefix(a, "-") })
	if len(flags) == len(args) {
		return errors.New("name the packages; a value of a flag follows =, as in -run=TestName")
	}
	if list != "" && !raced(flags) {
		var err error
		if r.listed, err = readList(list); err != nil {
			return err
		}
	}
	module := exec.Command("go", "list", "-m")
	module.Dir, module.Stderr = r.dir, os.Stderr
	name, err := module.Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	r.module = strings.TrimSpace(string(name))
	first, err := r.goTest(args)
	if err != nil {
		return err
	}
	if err := first.unlisted(); err != nil {
		return err
	}
	var again []string
	for _, f := range first.failed {
		passed, reason := false, r.entry(f).reason
		for n := 1; n <= repetitions && !passed; n++ {
			once, err := r.goTest(append(slices.Clone(flags), "-count=1", "-run="+f.pattern(), f.pkg))
			if err != nil {
				return err
			}
			passed = once.ok && once.passed[f] // else it was skipped, or not found
			result := map[bool]string{true: "passed", false: "failed again"}[passed]
			again = append(again, fmt.Sprintf("REPEATED %s %s (%s): %s", f.pkg, f.test, reason, result))
		}
		if !passed {
			err = errors.Join(err, fmt.Errorf("%s %s failed %d times", f.pkg, f.test, 1+repetitions))
		}
	}
	for _, text := range again {
		fmt.Fprintln(r.out, text)
	}
	return err
}

// raced reports whether the race detector looks: what it finds differs from run to run.
func raced(flags []string) bool {
	return slices.ContainsFunc(append(strings.Fields(os.Getenv("GOFLAGS")), flags...), func(f string) bool {
		return f == "-race" || f == "--race" || strings.HasPrefix(f, "-race=") || strings.HasPrefix(f, "--race=")
	})
}

// goTest runs go test once.
func (r *runner) goTest(args []string) (*outcome, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Dir, cmd.Stderr = r.dir, os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	o := &outcome{
		runner: r, output: map[failure][]string{}, counted: map[string]bool{},
		passed: map[failure]bool{}, failing: map[failure]bool{},
	}
	stopped := r.complete
	d := json.NewDecoder(pipe)
	for {
		var e event
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			_, _ = io.Copy(io.Discard, pipe) // so that it ends
			return nil, errors.Join(fmt.Errorf("read the output of go test: %w", err), cmd.Wait())
		}
		o.add(e)
		if e.Action == "fail" && !stopped && o.unlisted() != nil {
			stopped = true
			_ = cmd.Process.Signal(os.Interrupt) // then it starts no more packages
		}
	}
	err = cmd.Wait()
	r.processor += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if o.ok = err == nil; !o.ok && len(o.failed)+len(o.broken) == 0 {
		return nil, fmt.Errorf("go test: %w", err)
	}
	return o, nil
}
