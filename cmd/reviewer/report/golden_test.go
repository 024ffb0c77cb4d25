package report_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
)

var update = flag.Bool("update", false, "write the golden files again")

// golden compares with testdata/NAME.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (go test -update writes it again):\n%s", file, diff)
	}
}

func write(t *testing.T, format string, r *report.Report, o report.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, format, r, o); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.Bytes()
}

func writeCoverage(t *testing.T, format string, c *report.Coverage) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.WriteCoverage(&b, format, c, sources); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.Bytes()
}

func TestFormats(t *testing.T) {
	o := report.Options{Root: "/repo", Dir: "/repo/team", Version: "1.2.3", Sources: sources}
	for _, format := range report.Formats() {
		golden(t, "tested."+format, write(t, format, tested(), o))
		golden(t, "checked."+format, write(t, format, checked(), o))
	}
	for _, format := range report.CoverageFormats() {
		golden(t, "coverage."+format, writeCoverage(t, format, covered()))
	}
}

// What a person sees in a narrow terminal.
func TestPrettyOnATerminal(t *testing.T) {
	o := report.Options{Color: true, Verbose: true, Times: true, Width: 48, Sources: sources}
	golden(t, "terminal.text", write(t, "text", tested(), o))
	golden(t, "times.junit", write(t, "junit", tested(), report.Options{Times: true}))
}

func TestSummaryOfAJob(t *testing.T) {
	var b bytes.Buffer
	for _, r := range []*report.Report{tested(), checked()} {
		if err := report.WriteSummary(&b, r, report.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "summary.md", b.Bytes())
}

// A report without tests, problems or coverage says so in each format.
func TestEmpty(t *testing.T) {
	for _, format := range report.Formats() {
		clean := write(t, format, &report.Report{Command: "policy check"}, report.Options{})
		if len(clean) == 0 {
			t.Errorf("%s says nothing about a clean report", format)
		}
	}
	for r, want := range map[*report.Report]string{
		{Command: "policy check"}:                          "0 errors, 0 warnings\n",
		{Command: "policy test", Suites: []report.Suite{}}: "0 passed, 0 failed\n",
	} {
		if got := string(write(t, "text", r, report.Options{})); got != want {
			t.Errorf("pretty: %q, want %q", got, want)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	var b bytes.Buffer
	for want, err := range map[string]error{
		`unknown format "junt"; expected one of text, json, junit, tap, github, sarif, gitlab; did you mean "junit"?`: report.Write(&b, "junt", tested(), report.Options{}),
		`unknown format of coverage "htm"; expected one of text, json, lcov, html; did you mean "html"?`:              report.WriteCoverage(&b, "htm", covered(), nil),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if b.Len() > 0 {
		t.Errorf("something was written: %q", b.String())
	}
}

// A writer that fails is an error, and never half a document.
func TestWriterFails(t *testing.T) {
	for _, format := range report.Formats() {
		if err := report.Write(broken{}, format, tested(), report.Options{}); err == nil || !strings.Contains(err.Error(), "full") {
			t.Errorf("%s: %v", format, err)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.NewSyscallError("disk full", os.ErrInvalid) }

// A line that would fill the screen is cut to what is around the place.
func TestLongLine(t *testing.T) {
	line := strings.Repeat("é", 5000) + "HERE" + strings.Repeat("ü", 5000)
	r := &report.Report{Command: "policy check", Problems: []report.Problem{{Place: report.Place{File: "a", Line: 1, Col: 5001}, Severity: "error", Message: "m"}}}
	out := strings.Split(string(write(t, "text", r, report.Options{Sources: func(string) []byte { return []byte(line) }})), "\n")
	if got := []rune(out[1]); len(got) > 260 || !strings.Contains(out[1], "éHEREü") {
		t.Errorf("%d characters: %s", len(got), out[1])
	}
	if under := []rune(out[1])[len([]rune(out[2]))-1]; under != 'H' {
		t.Errorf("the caret is below %q:\n%s\n%s", under, out[1], out[2])
	}
}
