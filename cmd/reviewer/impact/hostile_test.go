package impact_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/impact"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// Whatever a call, a rule or a path is called, it stays text in every format.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{
		"", "plain", "two\nlines", "\x1b[31mred\x1b[0m", "\xff\xfe\x00", "<script>alert(1)</script>", "</details>", "</code>", "```\n# title", "`x`", "|a|b|", "@everyone", "#1",
		"www.example.test", "https://example.test/", "[a](https://example.test)", "![a](b)", "<!-- ", "**bold**", "- a\n- b", "&#64;everyone", "&lt;b&gt;",
		"\u2028\u202e\u0085", "😀", "a: b", strings.Repeat("@|<`", 4000), strings.Repeat("\u202e", 4000), "../x", "//host/x", "C:\\x", "%SRCROOT%", "x?y#z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := filled(s)
		pretty := write(t, "text", m, impact.Options{Width: 70, Latency: s})
		if bad := control.Find(pretty); bad != nil {
			t.Errorf("pretty has the control character %q", bad)
		}
		checkMarkdown(t, write(t, "github", m, impact.Options{Show: true}))
		checkSARIF(t, m, write(t, "sarif", m, impact.Options{Version: s, Show: true}))
		values := &simulate.Sweep{Version: simulate.ImpactVersion, Key: s, Rows: []simulate.SweepRow{{Value: 1, Impact: m}}}
		checkMarkdown(t, writeSweep(t, "github", values, impact.Options{Show: true}))
		if bad := control.Find(writeSweep(t, "text", values, impact.Options{Show: true})); bad != nil {
			t.Errorf("a sweep has the control character %q", bad)
		}
	})
}

// filled has the same text wherever there is one.
func filled(s string) *simulate.Impact {
	m := busy()
	m.Partial, m.Baseline.Name, m.Candidate.Name, m.Candidate.Digest = s, s, s, s
	m.Candidate.Rules, m.NeverFired = []string{s}, []string{s, s}
	m.Selection = simulate.Selection{Since: 1, Sessions: []string{s}, Tools: []string{s}, Sample: s}
	m.Sources.Formats[s] = 1
	m.Sources.Troubles = []simulate.Trouble{{Path: s, Line: 1, Why: s, Count: 2}}
	m.Fidelity.First = &simulate.Difference{ID: s, Field: s, Recorded: s, Computed: s}
	m.Fidelity.Missing, m.Fidelity.Why = map[string]int64{s: 1}, map[string]string{s: s}
	m.Errors = []simulate.StepError{{ID: s, Side: s, Error: s}}
	fill := func(x *simulate.Step) {
		x.ID, x.Session, x.Agent, x.Call, x.Tool, x.Resource, x.Reason, x.Missing = s, s, s, s, s, s, s, s
		x.FromRules, x.ToRules = []string{s}, []string{s, s}
	}
	for i := range m.Kinds {
		m.Kinds[i].Rule = s
		fill(&m.Kinds[i].Example)
	}
	for i := range m.Changed {
		c := &m.Changed[i]
		c.Session, c.Harness, c.Format, c.Workspace = s, s, s, s
		fill(&c.First)
	}
	for i := range m.Rules {
		m.Rules[i].ID = s
	}
	if m.Files != nil {
		for i := range m.Files.Steps {
			f := &m.Files.Steps[i]
			f.ID, f.Session, f.Tool, f.Resource, f.What, f.From, f.To = s, s, s, s, s, s, s
		}
	}
	for _, list := range [][]simulate.Group{m.Interventions, m.Tools, m.Workspaces} {
		for i := range list {
			list[i].Name = s
		}
	}
	return m
}

var (
	ownTags  = regexp.MustCompile(`</?(code|sub|details|summary)>|<details open>|<br>`)
	ownLines = regexp.MustCompile(`^($|### |\*\*|> \*\*|\| |- |Baseline: |Candidate: |Read: |Only: |</?details|<sub>|… and |To see it )`)
	codeSpan = regexp.MustCompile(`<code>[^<]*</code>`)
)

// checkMarkdown takes a comment apart: its tags and its lines are those that
// were meant, every row of a table has the cells of its head, and nothing else
// could be read as anything but text.
func checkMarkdown(t *testing.T, raw []byte) {
	t.Helper()
	text := string(raw)
	if len(text) > 65_000 {
		t.Errorf("a comment of %d bytes is refused", len(text))
	}
	if bad := control.Find(raw); bad != nil {
		t.Errorf("the comment has the control character %q", bad)
	}
	for _, tag := range []string{"code", "sub", "details", "summary"} {
		if open, end := strings.Count(text, "<"+tag), strings.Count(text, "</"+tag); open != end {
			t.Errorf("%d times <%s>, %d times </%s>", open, tag, end, tag)
		}
	}
	cells := 0
	for _, line := range strings.Split(text, "\n") {
		if !ownLines.MatchString(line) {
			t.Errorf("a line was not meant: %q", line)
		}
		row := strings.Count(line, "|")
		if cells > 0 && row > 0 && row != cells {
			t.Errorf("%d bars, the row before has %d: %s", row, cells, line)
		}
		cells = row
	}
	rest := ownTags.ReplaceAllString(codeSpan.ReplaceAllString(text, ""), "")
	for _, sign := range []string{"<", "`", "@", "://", "www.", "![", "]("} {
		if strings.Contains(rest, sign) {
			t.Errorf("the comment has %q outside code: %s", sign, rest)
		}
	}
	if strings.Contains(text, "&#64;e") && !strings.Contains(codeSpan.FindString(text), "&#64;e") && !strings.Contains(text, "&#64;&#8203;e") {
		t.Error("somebody is mentioned")
	}
}

// However much there is, a comment is not too long, and says what it leaves out.
func TestCommentIsBounded(t *testing.T) {
	for name, m := range map[string]*simulate.Impact{"crowd": crowd(simulate.MaxChanged, 300), "besieged": besieged(), "long": filled(strings.Repeat("@|<`\u202e", 40))} {
		for range 6 {
			m.Kinds, m.Rules, m.Tools, m.Workspaces, m.Interventions = twice(m.Kinds), twice(m.Rules), twice(m.Tools), twice(m.Workspaces), twice(m.Interventions)
			m.Errors, m.Sources.Troubles, m.Changed = twice(m.Errors), twice(m.Sources.Troubles), twice(m.Changed)
		}
		raw := write(t, "github", m, impact.Options{Show: true})
		checkMarkdown(t, raw)
		if !bytes.Contains(raw, []byte("more (-f json or -f html has all)")) || !bytes.Contains(raw, []byte("To see it session by session")) {
			t.Errorf("%s: the comment does not say what it leaves out, or not what to run", name)
		}
	}
}

func twice[T any](list []T) []T { return append(list[:len(list):len(list)], list...) }

type sarif struct {
	Version string
	Schema  string `json:"$schema"`
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name  string
				Rules []struct {
					ID                     string
					ShortDescription, Help struct{ Text string }
				}
			}
		}
		Results []struct {
			RuleID, Level       string
			RuleIndex           int
			Message             struct{ Text string }
			PartialFingerprints map[string]string
			Properties          map[string]string
			Locations           []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI, URIBaseID string }
				}
			}
		}
	}
}

func readSARIF(t *testing.T, raw []byte) sarif {
	t.Helper()
	var doc sarif
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Version != "2.1.0" || doc.Schema == "" || len(doc.Runs) != 1 || doc.Runs[0].Tool.Driver.Name != "reviewer" {
		t.Fatalf("sarif: %s", raw)
	}
	return doc
}

func checkSARIF(t *testing.T, m *simulate.Impact, raw []byte) {
	t.Helper()
	run, seen := readSARIF(t, raw).Runs[0], map[string]bool{}
	kinds := 0
	for _, r := range run.Results {
		if r.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || run.Tool.Driver.Rules[r.RuleIndex].ShortDescription.Text == "" {
			t.Errorf("sarif: the rule of %+v is not described", r)
		}
		print := r.PartialFingerprints["reviewerFinding/v2"]
		if print == "" || seen[print] || r.Message.Text == "" || len(r.Locations) != 1 {
			t.Errorf("sarif: result %+v", r)
		}
		seen[print] = true
		at := r.Locations[0].PhysicalLocation.ArtifactLocation
		if u, err := url.Parse(at.URI); err != nil || at.URI == "" || u.Host != "" || u.RawQuery != "" || u.Fragment != "" || u.IsAbs() == (at.URIBaseID != "") {
			t.Errorf("sarif: %q is not a file of the repository (%v)", at.URI, err)
		}
		switch {
		case r.Properties["setting"] != "":
			if want := map[string]string{"loosened": "warning", "mixed": "warning"}[r.Properties["direction"]]; r.Level != cmp.Or(want, "note") {
				t.Errorf("sarif: a setting that is %s is a %s", r.Properties["direction"], r.Level)
			}
		case r.Properties != nil:
			kinds++
			if want := map[string]string{"loosened": "warning"}[r.Properties["state"]]; want != "" && r.Level != want || want == "" && r.Level != "note" {
				t.Errorf("sarif: %s is a %s", r.Properties["state"], r.Level)
			}
		case r.Level != "error":
			t.Errorf("sarif: %s is a %s", r.RuleID, r.Level)
		}
	}
	if kinds != len(m.Kinds) {
		t.Errorf("sarif: %d results of %d kinds of change", kinds, len(m.Kinds))
	}
}

// A kind of change keeps its fingerprint when its count and its example change,
// or each run would report it again.
func TestFingerprintsStay(t *testing.T) {
	prints := func(m *simulate.Impact) (list []string) {
		for _, r := range readSARIF(t, write(t, "sarif", m, impact.Options{Show: true})).Runs[0].Results {
			list = append(list, r.PartialFingerprints["reviewerFinding/v2"])
		}
		return list
	}
	before, m := prints(busy()), busy()
	for i := range m.Kinds {
		m.Kinds[i].Count++
		m.Kinds[i].Example = m.Kinds[0].Example
	}
	if after := prints(m); strings.Join(before, " ") != strings.Join(after, " ") {
		t.Errorf("fingerprints change from %v to %v", before, after)
	}
}
