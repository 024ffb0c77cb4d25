package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// flaky is a test that fails until it has run a number of times.
const flaky = `package %s

import (
	"os"
	"testing"
)

func %s(t *testing.T) {
	t.Run("inner", func(t *testing.T) {
		f, err := os.OpenFile("runs", os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		f.WriteString("x")
		if info, err := f.Stat(); err != nil || info.Size() <= %d {
			t.Errorf("not yet: %%v", err)
		}
	})
}

func TestGood(t *testing.T) { t.Attr("sweep", "12 things in 0s") }
`

// A listed test that fails is repeated, twice at most; every other failure fails the run.
func TestRepetition(t *testing.T) {
	type files = map[string]string
	listed := "./waits TestWaits waits for a process\n"
	for _, c := range []struct {
		name  string
		files files
		want  string // the error; empty is success
		runs  int    // of the test in waits, or none if another package fails
		says  []string
	}{
		{"nothing fails", files{"waits/a_test.go": fmt.Sprintf(flaky, "waits", "TestWaits", 0)}, "", 1, nil},
		{"listed, passes when repeated", files{"waits/a_test.go": fmt.Sprintf(flaky, "waits", "TestWaits", 1)}, "", 2,
			[]string{"not yet", "REPEATED x/waits TestWaits/inner (waits for a process): passed\n"}},
		{"listed, passes the second time", files{"waits/a_test.go": fmt.Sprintf(flaky, "waits", "TestWaits", 2)}, "", 3,
			[]string{": failed again\n", ": passed\n"}},
		{"listed, keeps failing", files{"waits/a_test.go": fmt.Sprintf(flaky, "waits", "TestWaits", 9)}, "x/waits TestWaits/inner failed 3 times", 3, nil},
		{"listed, and skipped when repeated", files{"waits/a_test.go": strings.Replace(fmt.Sprintf(flaky, "waits", "TestWaits", 1), "		defer f.Close()", "		defer f.Close()\n		if info, err := f.Stat(); err == nil && info.Size() > 0 {\n			t.Skip()\n		}", 1)},
			"x/waits TestWaits/inner failed 3 times", 1, []string{": failed again\n"}},
		{"flaky and not listed", files{"waits/a_test.go": fmt.Sprintf(flaky, "waits", "TestOther", 1)}, "failed:\n  x/waits TestOther/inner", 1,
			[]string{"go test -run '^TestOther$/^inner$' x/waits"}},
		{"listed in another package", files{"deep/waits/a_test.go": fmt.Sprintf(flaky, "waits", "TestWaits", 1)}, "failed:\n  x/deep/waits TestWaits/inner", 1, nil},
		{"listed, and another one fails", files{"waits/a_test.go": fmt.Sprintf(flaky, "waits", "TestWaits", 1),
			"b/b_test.go": "package b\nimport \"testing\"\nfunc TestWrong(t *testing.T) { t.Error(\"wrong\") }\n"}, "failed:\n  x/b TestWrong", 1, nil},
		{"listed, and a package does not compile", files{"waits/a_test.go": fmt.Sprintf(flaky, "waits", "TestWaits", 1), "b/b_test.go": "package b\nfunc x() { y }\n"},
			"failed:\n  x/b", 1, []string{"undefined: y"}},
		{"listed, and it panics: the tests after it did not run",
			files{"waits/a_test.go": strings.Replace(fmt.Sprintf(flaky, "waits", "TestWaits", 1), `t.Errorf("not yet: %v", err)`, `panic("not yet")`, 1)}, "failed:\n  x/waits", 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module x\n\ngo 1.26\n")
			write(t, filepath.Join(dir, "retry"), listed)
			for name, text := range c.files {
				write(t, filepath.Join(dir, name), text)
			}
			var out bytes.Buffer
			r := &runner{out: &out, dir: dir}
			err := r.run(filepath.Join(dir, "retry"), []string{"-count=1", "./..."})
			if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("%v, want %q\n%s", err, c.want, &out)
			}
			runs, _ := filepath.Glob(filepath.Join(dir, "*", "runs"))
			more, _ := filepath.Glob(filepath.Join(dir, "*", "*", "runs"))
			for _, file := range append(runs, more...) {
				if b, err := os.ReadFile(file); err != nil || len(b) != c.runs {
					t.Errorf("it ran %d times, want %d (%v)", len(b), c.runs, err)
				}
			}
			if others := c.files["b/b_test.go"] != ""; len(runs)+len(more) == 0 && !others {
				t.Error("it did not run")
			}
			for _, text := range c.says {
				if !strings.Contains(out.String(), text) {
					t.Errorf("not printed: %q\n%s", text, &out)
				}
			}
			report := filepath.Join(dir, "report")
			if err := r.report(report); err != nil {
				t.Fatal(err)
			}
			if b, _ := os.ReadFile(report); c.runs == 1 && c.want == "" && !strings.Contains(string(b), "  x/waits TestGood: 12 things in 0s\n") {
				t.Errorf("the report says:\n%s", b)
			}
		})
	}
}

// After a failure that counts, no more packages start.
func TestStopsAtOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module x\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "a", "a_test.go"), "package a\nimport \"testing\"\nfunc TestWrong(t *testing.T) { t.Error(\"wrong\") }\n")
	const packages = 20
	for n := range packages {
		write(t, filepath.Join(dir, fmt.Sprint("b", n), "b_test.go"), "package b\nimport \"testing\"\nfunc TestRight(*testing.T) {}\n")
	}
	var out bytes.Buffer
	err := (&runner{out: &out, dir: dir}).run("", []string{"-count=1", "-p=1", "./..."})
	if err == nil || err.Error() != "failed:\n  x/a TestWrong" {
		t.Errorf("%v\n%s", err, &out)
	}
	var whole bytes.Buffer
	err = (&runner{out: &whole, dir: dir, complete: true}).run("", []string{"-count=1", "-p=1", "./..."})
	if n := strings.Count(whole.String(), "ok  "); err == nil || n != packages {
		t.Errorf("%v, and %d packages ran\n%s", err, n, &whole)
	}
	if n := strings.Count(out.String(), "ok  "); runtime.GOOS != "windows" && n >= packages {
		t.Errorf("%d packages ran", n)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Under the race detector nothing is repeated.
func TestRaced(t *testing.T) {
	t.Setenv("GOFLAGS", "-trimpath")
	for flags, want := range map[string]bool{"-race": true, "-count=1 -race=true": true, "--race": true, "-run=-race": false, "": false} {
		if got := raced(strings.Fields(flags)); got != want {
			t.Errorf("%s: %t", flags, got)
		}
	}
	t.Setenv("GOFLAGS", "-trimpath -race")
	if !raced(nil) {
		t.Error("-race in GOFLAGS is not seen")
	}
}

func TestList(t *testing.T) {
	for text, want := range map[string]string{
		"# a comment\n\n./cmd/reviewer TestQueue/full waits for a child\n": "",
		"./engine/serve TestQueue\n":                                       ":1: want ./PACKAGE TEST REASON",
		"engine/serve TestQueue waits\n":                                   ":1: want ./PACKAGE TEST REASON",
		"#\n./bundles/diff TestDiff waits\n":                               ":2: tests of bundles/diff are not repeated; repair the test",
		"./engine/serve TestRecord waits\n":                                ":1: tests of engine/serve are not repeated; repair the test",
		strings.Repeat("./cmd/reviewer TestQueue waits\n", longestList+1):  ":11: more than 10 tests; repair one",
	} {
		file := filepath.Join(t.TempDir(), "retry")
		write(t, file, text)
		_, err := readList(file)
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != file+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The tests that the repository's list names are there.
func TestListed(t *testing.T) {
	const root = "../../.."
	list, err := readList(filepath.Join(root, ".ci", "retry"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		test, sub, _ := strings.Cut(e.test, "/")
		found := false
		files, _ := filepath.Glob(filepath.Join(root, e.pkg, "*_test.go"))
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || regexp.MustCompile(`(?m)^func `+test+`\(t \*testing\.T\)`).Match(b)
		}
		if test == "TestScript" {
			_, err := os.Stat(filepath.Join(root, "testdata", "script", sub+".txtar"))
			found = found && err == nil
		}
		if !found {
			t.Errorf("there is no test %s in %s", e.test, e.pkg)
		}
	}
}
