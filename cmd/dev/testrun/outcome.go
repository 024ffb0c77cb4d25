package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An event is a line of go test -json.
type event struct {
	Action, Package, Test, Output, Key, Value string
	Elapsed                                   float64
}

// A failure is a test that failed: the innermost subtest.
type failure struct{ pkg, test string }

// outcome is what one go test said.
type outcome struct {
	*runner
	ok      bool
	failed  []failure
	broken  []string // packages that failed without a test that failed, or did not end as tests do
	output  map[failure][]string
	passed  map[failure]bool
	failing map[failure]bool // tests of which a subtest failed
	counted map[string]bool  // packages that ran to their end and counted their failures
}

// sweepKey is the attribute in which a test says what it checked (package sweep).
const sweepKey = "sweep"

// longTest is how long a test takes that the report lists.
const longTest = 10 * time.Second

func (o *outcome) add(e event) {
	f := failure{e.Package, e.Test}
	sub := strings.Contains(e.Test, "/")
	switch {
	case e.Action == "build-output":
		io.WriteString(o.out, e.Output)
	case e.Action == "attr" && e.Key == sweepKey:
		o.sweeps = append(o.sweeps, fmt.Sprintf("%s %s: %s", e.Package, e.Test, e.Value))
	case e.Test == "":
		o.addPackage(e)
	case e.Action == "output":
		if !strings.HasPrefix(e.Output, "=== ") {
			o.output[f] = append(o.output[f], e.Output)
		}
	case e.Action == "fail":
		if !o.failing[f] {
			o.failed = append(o.failed, f)
		}
		for name := f.test; strings.Contains(name, "/"); {
			name = name[:strings.LastIndex(name, "/")]
			o.failing[failure{f.pkg, name}] = true
		}
		if !sub {
			o.print(f)
		}
	}
	if e.Action == "pass" || e.Action == "skip" {
		o.passed[f] = e.Action == "pass"
		delete(o.output, f)
	}
	if ended := e.Action == "pass" || e.Action == "fail"; ended && e.Test != "" && !sub {
		o.ran++
		if took := time.Duration(e.Elapsed * float64(time.Second)); took >= longTest {
			o.long = append(o.long, fmt.Sprintf("%s %s: %s", e.Package, e.Test, took.Round(time.Second)))
		}
	}
}

// addPackage adds an event of a package as a whole.
func (o *outcome) addPackage(e event) {
	switch {
	case e.Action == "output" && e.Output == "FAIL\n":
		o.counted[e.Package] = true
	case e.Action == "output" && e.Output != "PASS\n":
		io.WriteString(o.out, e.Output)
	case e.Action == "fail":
		some := false
		for _, f := range o.failed {
			some = some || f.pkg == e.Package
		}
		if !some || !o.counted[e.Package] {
			o.broken = append(o.broken, e.Package)
		}
		for f := range o.output {
			if top, _, _ := strings.Cut(f.test, "/"); f.pkg == e.Package { // it did not end
				o.print(failure{f.pkg, top})
			}
		}
	}
}

// print prints what a failed test and its failed subtests printed, and how it can be repeated.
func (o *outcome) print(f failure) {
	for _, part := range slices.SortedFunc(maps.Keys(o.output), func(a, b failure) int { return cmp.Compare(a.test, b.test) }) {
		if part.pkg == f.pkg && (part.test == f.test || strings.HasPrefix(part.test, f.test+"/")) {
			io.WriteString(o.out, strings.Join(o.output[part], ""))
			delete(o.output, part)
		}
	}
	inner := slices.DeleteFunc(slices.Clone(o.failed), func(g failure) bool {
		return g.pkg != f.pkg || !strings.HasPrefix(g.test, f.test+"/")
	})
	if len(inner) == 1 {
		f = inner[0]
	}
	again := ""
	for _, name := range []string{"REVIEWER_EVERY", "REVIEWER_SAMPLE"} {
		if v := os.Getenv(name); v != "" {
			again += name + "=" + v + " "
		}
	}
	fmt.Fprintf(o.out, "    to repeat it: %sgo test -run '%s' %s\n", again, f.pattern(), f.pkg)
}

// pattern returns the expression for -run that selects a test and nothing else.
func (f failure) pattern() string {
	var steps []string
	for _, name := range strings.Split(f.test, "/") {
		steps = append(steps, "^"+regexp.QuoteMeta(name)+"$")
	}
	return strings.Join(steps, "/")
}

// unlisted returns an error that names what failed and may not be repeated.
func (o *outcome) unlisted() error {
	names := slices.Clone(o.broken)
	for _, f := range o.failed {
		if o.entry(f) == nil {
			names = append(names, f.pkg+" "+f.test)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("failed:\n  %s", strings.Join(names, "\n  "))
}

// report writes and prints what was checked.
func (r *runner) report(file string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d tests in %s of processor time\n", r.ran, r.processor.Round(time.Second))
	for _, part := range []struct {
		title string
		lines []string
	}{
		{"Sweeps, with the processor time of the test's process meanwhile", r.sweeps},
		{fmt.Sprintf("Tests that took %s or more", longTest), r.long},
	} {
		fmt.Fprintf(&b, "\n%s:\n", part.title)
		for _, line := range part.lines {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	io.WriteString(r.out, b.String())
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
