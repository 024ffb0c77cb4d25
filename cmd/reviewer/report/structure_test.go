package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/schemas"
)

// Each of these reads one format as its consumer does, and compares what it
// finds with the report.
func readers() map[string]func(*testing.T, *report.Report, []byte) {
	return map[string]func(*testing.T, *report.Report, []byte){
		"text": readPretty, "json": readJSON, "junit": readJUnit, "tap": readTAP, "github": readGitHub, "sarif": readSARIF, "gitlab": readGitLab,
	}
}

func coverageReaders() map[string]func(*testing.T, *report.Coverage, []byte) {
	return map[string]func(*testing.T, *report.Coverage, []byte){
		"text": readCoverageText, "json": readCoverageJSON, "lcov": readLCOV, "html": readHTML,
	}
}

func TestReadBack(t *testing.T) {
	for _, r := range []*report.Report{tested(), checked(), {Command: "policy check"}} {
		readBack(t, r)
	}
}

func readBack(t *testing.T, r *report.Report) {
	t.Helper()
	for _, format := range report.Formats() {
		raw := write(t, format, r, report.Options{Sources: sources})
		if !utf8.Valid(raw) {
			t.Errorf("%s: not UTF-8", format)
		}
		readers()[format](t, r, raw)
	}
	if r.Coverage == nil {
		return
	}
	for _, format := range report.CoverageFormats() {
		coverageReaders()[format](t, r.Coverage, writeCoverage(t, format, r.Coverage))
	}
}

// Whatever a policy's author writes stays text in every format.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{
		"", "plain", "two\nlines", "a\r\nb\rc", "\x1b[31mred\x1b[0m", "\xff\xfe\x00", "]]></failure><x>", "<script>alert(1)</script>", "\"' onload=\"x",
		"::error::forged\n::set-output name=a::b", "%0A::warning::x", "a:b,c=d", "# TODO no", "ok 99 - forged\n1..3\n...", "  ...\nnot ok 7\n---", "\\#", "```\n# title", "|a|b|", "</details>",
		"\u2028\u202e\u0085", "end_of_record\nSF:/etc/passwd", "FN:1,a,b", "a/../../b", "//host/x", "/abs/x", "%SRCROOT%", "x y#z?q", "http://h/", "😀", "- \t: y",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		readBack(t, filled(s, n))
	})
}

// filled is a report with the same text wherever there is one.
func filled(s string, n int) *report.Report {
	at := report.Place{File: s, Line: n, Col: n}
	r := &report.Report{
		Command: "policy test", Rules: []report.Rule{{Place: at, ID: s, Title: s, Help: s, Tags: []string{s}}},
		Problems: []report.Problem{{Place: at, Severity: report.SeverityError, Code: s, Message: s, Found: s, Expected: s, Suggestion: s}, {Severity: report.SeverityWarning, Message: s}},
		Coverage: &report.Coverage{
			Kinds: []report.Kind{{Name: s, Covered: 1, Total: 2}, {Name: report.RegoLines, Covered: 1, Total: 2}},
			Files: []report.FileLines{{File: s, Covered: []int{1}, Missed: []int{2}}},
			Cells: []report.Cell{{Place: at, Kind: s, Name: s}, {Place: at, Kind: report.CELBranches, Name: s, Covered: true}},
			Under: []report.KindMissing{{Kind: s, Percent: 50, Threshold: 95}, {Kind: report.RegoLines, Percent: 50, Threshold: 95}},
		},
	}
	for _, status := range []report.Status{report.Pass, report.Fail, report.Error, report.Skip, report.Todo} {
		test := report.Test{Place: at, Name: s, Status: status, Rules: []string{s}, Message: s, Expected: s, Got: s, Why: []string{s, s}, Output: s}
		r.Suites = append(r.Suites, report.Suite{Name: s, Kind: "case", Tests: []report.Test{test}})
	}
	return r
}

var control = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}\x{2028}\x{2029}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)

func readPretty(t *testing.T, r *report.Report, raw []byte) {
	t.Helper()
	if bad := control.Find(raw); bad != nil {
		t.Errorf("pretty has the control character %q", bad)
	}
	sum := r.Totals()
	last := string(raw[bytes.LastIndexByte(bytes.TrimSpace(raw), '\n')+1:])
	for n, word := range map[int]string{sum.Fail: "failed", sum.Error: "could not run"} {
		if r.Suites != nil && n > 0 && !strings.Contains(last, fmt.Sprintf("%d %s", n, word)) {
			t.Errorf("pretty ends in %q, want %d %s", last, n, word)
		}
	}
}

// compiled holds the schemas of the two documents.
var compiled = sync.OnceValue(func() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	for _, name := range []string{"report.json", "coverage.json"} {
		if text, err := schemas.FS.ReadFile(name); err == nil {
			all[name], _ = jsonschema.CompileString(name, string(text))
		}
	}
	return all
})

func validate(t *testing.T, schema string, raw []byte) {
	t.Helper()
	s := compiled()[schema]
	if s == nil {
		t.Fatalf("the schema %s is not there or does not compile", schema)
	}
	var doc any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("%s: %v", schema, err)
	}
}

func readJSON(t *testing.T, r *report.Report, raw []byte) {
	t.Helper()
	validate(t, "report.json", raw)
	var d report.Document
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	if d.Totals != r.Totals() || d.Command != r.Command || len(d.Suites) != len(r.Suites) || len(d.Problems) != len(r.Problems) {
		t.Errorf("json: read back as %+v", d)
	}
}

func readCoverageJSON(t *testing.T, c *report.Coverage, raw []byte) {
	t.Helper()
	validate(t, "coverage.json", raw)
	var d report.CoverageDocument
	if err := json.Unmarshal(raw, &d); err != nil || len(d.Kinds) != len(c.Kinds) || len(d.Cells) != len(c.Cells) {
		t.Errorf("json: %v, read back as %+v", err, d)
	}
}

type junit struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Cases    []struct {
		Name    string  `xml:"name,attr"`
		Class   *string `xml:"classname,attr"`
		Failure *string `xml:"failure"`
		Error   *string `xml:"error"`
	} `xml:"testsuite>testcase"`
}

func readJUnit(t *testing.T, r *report.Report, raw []byte) {
	t.Helper()
	var doc junit
	if err := xml.Unmarshal(raw, &doc); err != nil {
		t.Fatalf("junit: %v\n%s", err, raw)
	}
	sum, low := r.Totals(), 0
	if r.Coverage != nil {
		low = len(r.Coverage.Under)
	}
	if want := sum.Fail + sum.Errors + low; doc.Failures != want || doc.Errors != sum.Error || doc.Skipped != sum.Skip+sum.Todo || doc.Tests != len(doc.Cases) {
		t.Errorf("junit counts %d failures, %d errors, %d skipped, %d of %d tests; want %+v and %d kinds below", doc.Failures, doc.Errors, doc.Skipped, doc.Tests, len(doc.Cases), sum, low)
	}
	failures, errors := 0, 0
	for _, c := range doc.Cases {
		if c.Class == nil {
			t.Errorf("junit: %q has no classname", c.Name)
		}
		failures, errors = failures+given(c.Failure), errors+given(c.Error)
	}
	if failures != doc.Failures || errors != doc.Errors {
		t.Errorf("junit holds %d failures and %d errors, and counts %d and %d", failures, errors, doc.Failures, doc.Errors)
	}
}

func given(s *string) int {
	if s == nil {
		return 0
	}
	return 1
}

var tapLine = regexp.MustCompile(`^(not )?ok (\d+) -(?: ((?:[^#\\]|\\.)*))?(?:# (SKIP|TODO)(?: .*)?)?$`)

func readTAP(t *testing.T, r *report.Report, raw []byte) {
	t.Helper()
	rows := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	plan, ok := strings.CutPrefix(rows[1], "1..")
	if rows[0] != "TAP version 14" || !ok {
		t.Fatalf("tap begins with %q", rows[:2])
	}
	n, failed, block := 0, 0, []string(nil)
	for _, row := range rows[2:] {
		switch {
		case row == "  ---":
			block = []string{}
		case row == "  ...":
			readBlock(t, block)
			block = nil
		case block != nil:
			block = append(block, row)
		case strings.HasPrefix(row, "#"):
		default:
			m := tapLine.FindStringSubmatch(row)
			if n++; m == nil || m[2] != strconv.Itoa(n) {
				t.Fatalf("tap: test %d: %q", n, row)
			}
			if m[1] != "" && m[4] != "TODO" {
				failed++
			}
		}
	}
	sum := r.Totals()
	want := sum.Fail + sum.Error + sum.Errors
	if r.Coverage != nil {
		want += len(r.Coverage.Under)
	}
	if plan != strconv.Itoa(n) || failed != want {
		t.Errorf("tap: %d tests of %s, %d failed, want %d\n%s", n, plan, failed, want, raw)
	}
}

func readBlock(t *testing.T, block []string) {
	t.Helper()
	var doc struct {
		Message, Severity string
		Why               []string
		At                struct{ Line int }
	}
	text := strings.Join(block, "\n")
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || doc.Severity == "" {
		t.Errorf("tap: %v in\n%s", err, text)
	}
}

var command = regexp.MustCompile(`^::(error|warning)(?: ((?:file|line|endLine|col|title)=[^,:\n]*(?:,(?:file|line|endLine|col|title)=[^,:\n]*)*))?::.*$`)

func readGitHub(t *testing.T, r *report.Report, raw []byte) {
	t.Helper()
	rows := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	errors := 0
	for _, row := range rows[:len(rows)-1] {
		m := command.FindStringSubmatch(row)
		if m == nil {
			t.Fatalf("github: %q", row)
		}
		if m[1] == "error" {
			errors++
		}
	}
	if last := rows[len(rows)-1]; strings.HasPrefix(last, "::") {
		t.Errorf("github ends in a command: %q", last)
	}
	sum := r.Totals()
	want := sum.Fail + sum.Error + sum.Errors
	if r.Coverage != nil {
		want += len(r.Coverage.Under)
	}
	if errors != want {
		t.Errorf("github: %d errors, want %d", errors, want)
	}
}

type sarif struct {
	Version string
	Schema  string `json:"$schema"`
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name  string
				Rules []struct {
					ID                                      string
					ShortDescription, FullDescription, Help struct{ Text *string }
				}
			}
		}
		OriginalURIBaseIDs map[string]any `json:"originalUriBaseIds"`
		Results            []struct {
			RuleID    string
			RuleIndex int
			Level     string
			Message   struct{ Text string }
			Locations []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI, URIBaseID string }
					Region           *struct{ StartLine, StartColumn, EndLine int }
				}
			}
			PartialFingerprints map[string]string
		}
	}
}

func readSARIF(t *testing.T, r *report.Report, raw []byte) {
	t.Helper()
	var doc sarif
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Version != "2.1.0" || doc.Schema == "" || len(doc.Runs) != 1 || doc.Runs[0].Tool.Driver.Name == "" {
		t.Fatalf("sarif: %s", raw)
	}
	run, seen, ids := doc.Runs[0], map[string]bool{}, map[string]bool{}
	for _, rule := range run.Tool.Driver.Rules {
		if ids[rule.ID] || rule.ShortDescription.Text == nil || rule.FullDescription.Text == nil || rule.Help.Text == nil {
			t.Errorf("sarif: rule %q is there twice or without a text", rule.ID)
		}
		ids[rule.ID] = true
	}
	for _, res := range run.Results {
		if res.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[res.RuleIndex].ID != res.RuleID || !slices.Contains([]string{"error", "warning"}, res.Level) {
			t.Errorf("sarif: result %+v", res)
		}
		print := fmt.Sprint(res.PartialFingerprints)
		if len(res.PartialFingerprints) != 1 || seen[print] {
			t.Errorf("sarif: fingerprint %s of %s is used twice", print, res.RuleID)
		}
		seen[print] = true
		if len(res.Locations) != 1 {
			t.Fatalf("sarif: %d locations; code scanning wants one", len(res.Locations))
		}
		at := res.Locations[0].PhysicalLocation
		u, err := url.Parse(at.ArtifactLocation.URI)
		switch {
		case err != nil:
			t.Errorf("sarif: %v", err)
		case at.ArtifactLocation.URI == "":
			t.Errorf("sarif: %s has no URI", res.RuleID)
		case u.IsAbs() == (at.ArtifactLocation.URIBaseID != ""):
			t.Errorf("sarif: URI %q from %q", at.ArtifactLocation.URI, at.ArtifactLocation.URIBaseID)
		case u.Host != "" || u.RawQuery != "" || u.Fragment != "":
			t.Errorf("sarif: URI %q is not a file", at.ArtifactLocation.URI)
		case at.Region != nil && (at.Region.StartLine < 1 || at.Region.StartColumn < 0 || at.Region.EndLine < 0):
			t.Errorf("sarif: region %+v", *at.Region)
		}
	}
	if sum := r.Totals(); len(run.Results) < sum.Fail+sum.Error+sum.Errors+sum.Warnings {
		t.Errorf("sarif: %d results of %+v", len(run.Results), sum)
	}
}

func readGitLab(t *testing.T, r *report.Report, raw []byte) {
	t.Helper()
	var issues []struct {
		Description string
		Check       string `json:"check_name"`
		Fingerprint string
		Severity    string
		Location    struct {
			Path  string
			Lines struct{ Begin, End int }
		}
	}
	if err := json.Unmarshal(raw, &issues); err != nil || issues == nil {
		t.Fatalf("gitlab: %v: %s", err, raw)
	}
	seen, major := map[string]bool{}, 0
	for _, i := range issues {
		if i.Description == "" || i.Check == "" || i.Location.Path == "" || i.Location.Lines.Begin < 1 || i.Fingerprint == "" || seen[i.Fingerprint] {
			t.Errorf("gitlab: issue %+v", i)
		}
		if !slices.Contains([]string{"info", "minor", "major", "critical", "blocker"}, i.Severity) {
			t.Errorf("gitlab: severity %q", i.Severity)
		}
		if i.Severity == "major" {
			major++
		}
		seen[i.Fingerprint] = true
	}
	sum := r.Totals()
	want := sum.Fail + sum.Error + sum.Errors
	if r.Coverage != nil {
		want += len(r.Coverage.Under)
	}
	if major != want {
		t.Errorf("gitlab: %d issues are major, want %d", major, want)
	}
}

func readCoverageText(t *testing.T, c *report.Coverage, raw []byte) {
	t.Helper()
	if bad := control.Find(raw); bad != nil {
		t.Errorf("text has the control character %q", bad)
	}
	if rows := bytes.Count(raw, []byte("\n")); rows < len(c.Kinds)+len(c.Under) {
		t.Errorf("text has %d rows", rows)
	}
}

var lcovLine = regexp.MustCompile(`^(TN:|SF:.*|FN:\d+,.*|FNDA:[01],.*|BRDA:\d+,0,\d+,[01]|DA:\d+,[01]|(FNF|FNH|BRF|BRH|LF|LH):\d+|end_of_record)$`)

func readLCOV(t *testing.T, c *report.Coverage, raw []byte) {
	t.Helper()
	n := map[string]int{}
	for _, row := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
		if !lcovLine.MatchString(row) {
			t.Fatalf("lcov: %q", row)
		}
		word, rest, _ := strings.Cut(row, ":")
		n[word]++
		if sum, err := strconv.Atoi(rest); err == nil && word != "SF" {
			n["sum "+word] += sum
		}
		if (word == "DA" || word == "BRDA") && strings.HasSuffix(row, ",1") || strings.HasPrefix(row, "FNDA:1") {
			n["hit "+word]++
		}
	}
	for count, of := range map[string]string{"LF": "DA", "FNF": "FNDA", "BRF": "BRDA"} {
		if n["sum "+count] != n[of] {
			t.Errorf("lcov: %s says %d, there are %d", count, n["sum "+count], n[of])
		}
	}
	for count, of := range map[string]string{"LH": "DA", "FNH": "FNDA", "BRH": "BRDA"} {
		if n["sum "+count] != n["hit "+of] {
			t.Errorf("lcov: %s says %d, there are %d", count, n["sum "+count], n["hit "+of])
		}
	}
	if n["SF"] != n["end_of_record"] || n["SF"] < len(c.Files) {
		t.Errorf("lcov: %d files, %d ends", n["SF"], n["end_of_record"])
	}
}

var (
	markupTag  = regexp.MustCompile(`</?([a-zA-Z!][a-zA-Z0-9]*)`)
	markupRest = regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>`)
)

// readHTML finds only the page's own tags, closed in order.
func readHTML(t *testing.T, _ *report.Coverage, raw []byte) {
	t.Helper()
	var open []string
	body := markupRest.ReplaceAll(raw, nil)
	for _, m := range markupTag.FindAllSubmatch(body, -1) {
		tag := string(m[1])
		switch {
		case slices.Contains([]string{"!doctype", "meta", "input", "wbr"}, tag):
		case !slices.Contains([]string{"html", "head", "title", "body", "h1", "h2", "p", "div", "table", "tr", "th", "td", "meter", "label", "section", "details", "summary", "span", "pre", "a"}, tag):
			t.Fatalf("html: a tag %q that the page does not write", tag)
		case m[0][1] != '/':
			open = append(open, tag)
		case len(open) == 0 || open[len(open)-1] != tag:
			t.Fatalf("html: </%s> closes %v", tag, open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("html: %v stay open", open)
	}
	if n := bytes.Count(raw, []byte("<script")); n != 1 {
		t.Errorf("html: %d scripts", n)
	}
}

// A fingerprint stays when lines move, and tells findings of one file apart.
func TestFingerprintsStay(t *testing.T) {
	prints := func(r *report.Report) []string {
		var doc sarif
		if err := json.Unmarshal(write(t, "sarif", r, report.Options{}), &doc); err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, res := range doc.Runs[0].Results {
			for _, p := range res.PartialFingerprints {
				list = append(list, p)
			}
		}
		return list
	}
	moved := tested()
	for i := range moved.Suites {
		for j := range moved.Suites[i].Tests {
			moved.Suites[i].Tests[j].Line += 40
		}
	}
	if diff := cmp.Diff(prints(tested()), prints(moved)); diff != "" {
		t.Errorf("moved by 40 lines:\n%s", diff)
	}
	reworded := func(message string, percent float64) []string {
		r := tested()
		r.Problems = []report.Problem{{Place: report.Place{File: "a.yaml", Line: 3}, Code: "rego.type", Message: message, Found: "evnt"}}
		r.Ignored = []report.Ignored{{Problem: r.Problems[0], By: report.ByComment, Reason: "known"}}
		r.Coverage = &report.Coverage{Under: []report.KindMissing{{Kind: report.RegoLines, Percent: percent, Threshold: 90}}}
		return prints(r)
	}
	if diff := cmp.Diff(reworded("undefined field", 50), reworded("no field has this name", 60)); diff != "" {
		t.Errorf("with other messages:\n%s", diff)
	}
}
