package impact_test

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/impact"
	"github.com/agent-reviewer/reviewer/engine/simulate"
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

func write(t *testing.T, format string, m *simulate.Impact, o impact.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := impact.Write(&b, format, m, o); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.Bytes()
}

func writeSweep(t *testing.T, format string, s *simulate.Sweep, o impact.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := impact.WriteSweep(&b, format, s, o); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.Bytes()
}

// The formats that a person reads, as files to look at.
func TestFormats(t *testing.T) {
	for name, m := range map[string]*simulate.Impact{"empty": empty(), "calm": calm(), "busy": busy(), "partial": partial()} {
		golden(t, name+".text", write(t, "text", m, impact.Options{Width: 80, Latency: "2,920 decisions in 0.2 s"}))
		golden(t, name+".md", write(t, "github", m, impact.Options{}))
	}
	golden(t, "busy.sarif", write(t, "sarif", busy(), impact.Options{Version: "1.2.3"}))
	golden(t, "sweep.text", writeSweep(t, "text", sweep(), impact.Options{Width: 80}))
	golden(t, "sweep.md", writeSweep(t, "github", sweep(), impact.Options{}))
}

// besides differs in what accompanies verdicts.
func besides(m *simulate.Impact) *simulate.Impact {
	m.Interventions = []simulate.Group{{Name: "pause", Total: 1200, Candidate: 1200}, {Name: "stop", Total: 1, Baseline: 1, Candidate: 1}}
	m.Files = &simulate.FileChanges{Checkpoints: simulate.Asked{Candidate: 2, Changed: 2}}
	return m
}

// The sentence that says it all, whatever there is to say.
func TestHeadline(t *testing.T) {
	only := func(total int64, states map[simulate.State]int64) *simulate.Impact {
		m := calm()
		m.Calls.Total, m.Calls.States, m.Calls.Matrix = total, states, nil
		return m
	}
	for want, m := range map[string]*simulate.Impact{
		"Nothing was compared: the input contains no decisions.":            empty(),
		"No changes: all of 128 calls in 3 sessions are decided as before.": calm(),
		"No changes: 1 call in 3 sessions is decided as before.":            only(1, map[simulate.State]int64{simulate.Unchanged: 1}),
		"No changes of verdicts: all of 128 calls in 3 sessions are decided as before. But interventions differ (pause 0 before, 1,200 after), and checkpoints differ before 2 calls.": besides(calm()),
		"PARTIAL: nothing could be compared, so this shows nothing about the candidate.":                                                                                               only(2, map[simulate.State]int64{simulate.Unknown: 2}),
		"No changes in 1,234,566 that could be compared, of 1,234,567 calls; 1 call is incomparable (another version made the decision).":                                              only(1_234_567, map[simulate.State]int64{simulate.Unchanged: 1_234_566, simulate.Incomparable: 1}),
		"1 of 1 call would be decided differently: 1 loosened, in 0 of 3 sessions.":                                                                                                    only(1, map[simulate.State]int64{simulate.Loosened: 1}),
		"1,000 of 1,002 calls would be decided differently: 1,000 maybe, in 0 of 3 sessions. 2 calls are unknown (the inputs of the decision were not recorded).":                      only(1002, map[simulate.State]int64{simulate.Maybe: 1000, simulate.Unknown: 2}),
	} {
		got, _, _ := strings.Cut(string(write(t, "text", m, impact.Options{})), "\n")
		if got != want {
			t.Errorf("the first line is\n%q, want\n%q", got, want)
		}
	}
}

// Whatever makes the numbers doubtful comes before them, in every format.
func TestDoubtsComeFirst(t *testing.T) {
	for _, format := range []string{"text", "github"} {
		got := string(write(t, format, partial(), impact.Options{}))
		sides := strings.Index(got, "team/policy")
		for _, word := range []string{"PARTIAL", "FIDELITY", "ERRORS", "SHARD"} {
			if at := strings.Index(got, word); at < 0 || at > sides {
				t.Errorf("%s says %s at %d, and what was compared at %d", format, word, at, sides)
			}
		}
	}
	if got := write(t, "github", partial(), impact.Options{}); !bytes.Contains(got, []byte("### ❌")) {
		t.Errorf("github does not say that it is partial: %s", got)
	}
}

var (
	sgr     = regexp.MustCompile("\x1b\\[[0-9;]*m")
	control = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}\x{2028}\x{2029}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)
)

// No line is wider than the terminal, and colours change nothing else.
func TestPrettyWidth(t *testing.T) {
	for name, m := range map[string]*simulate.Impact{"busy": busy(), "crowd": crowd(40, 60), "besieged": besieged(), "partial": partial()} {
		for _, width := range []int{60, 80, 120} {
			plain := write(t, "text", m, impact.Options{Width: width, Verbose: true})
			for _, line := range strings.Split(string(plain), "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%s: %d characters in %d columns: %s", name, n, width, line)
				}
			}
			coloured := write(t, "text", m, impact.Options{Width: width, Verbose: true, Colour: true})
			if diff := cmp.Diff(string(plain), sgr.ReplaceAllString(string(coloured), "")); diff != "" || bytes.Equal(plain, coloured) {
				t.Errorf("%s: colours change the text:\n%s", name, diff)
			}
		}
	}
}

func TestVerboseListsAll(t *testing.T) {
	m := busy()
	for _, id := range m.NeverFired {
		if brief := write(t, "text", m, impact.Options{}); id == "scope.drift" && bytes.Count(brief, []byte(id)) != 1 { // among the changes, as one that nothing met
			t.Errorf("%s is listed unasked", id)
		}
		if full := write(t, "text", m, impact.Options{Verbose: true}); !bytes.Contains(full, []byte(id)) {
			t.Errorf("-v does not list %s", id)
		}
	}
	m = crowd(40, 10)
	brief, full := write(t, "text", m, impact.Options{}), write(t, "text", m, impact.Options{Verbose: true})
	if !bytes.Contains(brief, []byte("… and 30 more (-v shows them, -f json has all)")) || bytes.Contains(full, []byte("… and ")) {
		t.Errorf("of 40 sessions are left out\n%s", brief)
	}
}

func TestUnknownFormat(t *testing.T) {
	var b bytes.Buffer
	for want, err := range map[string]error{
		`unknown format "jsn"; expected one of text, json, github, sarif, html; did you mean "json"?`:                                  impact.Write(&b, "jsn", calm(), impact.Options{}),
		"sarif lists the effects of one policy change, but a sweep has many; use -f json, -f github or -f html, or simulate one value": impact.WriteSweep(&b, "sarif", sweep(), impact.Options{}),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if b.Len() > 0 {
		t.Errorf("something was written: %s", b.Bytes())
	}
}

// The worst sign of any value is that of the sweep, wherever it stands.
func TestSweepSign(t *testing.T) {
	for want, list := range map[string][]*simulate.Impact{
		"### ✅":           {calm(), calm()},
		"### ⚠️":          {calm(), busy(), calm()},
		"### ⚠️ reviewer": {},
		"### ❌":           {busy(), partial(), calm()},
	} {
		s := &simulate.Sweep{Version: simulate.ImpactVersion, Key: "k"}
		for i, m := range list {
			s.Rows = append(s.Rows, simulate.SweepRow{Value: float64(i), Impact: m})
		}
		if got, _, _ := strings.Cut(string(writeSweep(t, "github", s, impact.Options{})), "\n"); !strings.HasPrefix(got, want) {
			t.Errorf("the comment begins with %s, want %s", got, want)
		}
	}
}

// A sweep without a value, and one that changes nothing, say so.
func TestQuietSweeps(t *testing.T) {
	calmly := sweep()
	for i := range calmly.Rows {
		calmly.Rows[i].Impact = calm()
	}
	for want, s := range map[string]*simulate.Sweep{
		"Nothing was compared: the sweep has no values.\n": {Version: 1, Key: "k"},
		"Compared with git:main:policy, none of 4 values of risk.levels.high from 0.6 to 0.75 changes anything, over 128 calls in 3 sessions.\n": calmly,
	} {
		if got := string(writeSweep(t, "text", s, impact.Options{})); !strings.HasPrefix(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
		writeSweep(t, "github", s, impact.Options{})
	}
}

// The examples that users read are what is written.
func TestDocsShowWhatIsWritten(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/simulate.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Split(string(write(t, "text", busy(), impact.Options{Width: 80})), "\n")
	_, examples, _ := strings.Cut(string(doc), "<!-- example")
	count := 0
	for _, line := range strings.Split(examples, "\n") {
		if example, ok := strings.CutPrefix(line, "    "); ok {
			count++
			if !slices.Contains(shown, example) {
				t.Errorf("docs/simulate.md shows %q, and it is not written so", example)
			}
		}
	}
	if count < 10 {
		t.Errorf("docs/simulate.md has %d lines of examples", count)
	}
}
