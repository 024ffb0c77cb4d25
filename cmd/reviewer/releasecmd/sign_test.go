package releasecmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/google/go-cmp/cmp"
)

func TestExpiry(t *testing.T) {
	created, err := dateOf("--created", "2026-11-22")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                          "",
		"90d":                       "2027-02-20T00:00:00Z",
		"36h":                       "2026-11-23T12:00:00Z",
		"1500ms":                    "2026-11-22T00:00:01Z",
		"2027-01-31":                "2027-01-31T00:00:00Z",
		"2027-01-31T15:04:05":       "2027-01-31T15:04:05Z",
		"2027-01-31T15:04:05+02:00": "2027-01-31T13:04:05Z",
		"0d":                        "not after",
		"999ms":                     "not after",
		"2026-11-22":                "not after",
		"-3d":                       "expected a date",
		"soon":                      "expected a date",
		"0001-01-01":                "expected a date",
	} {
		got, err := expiry(text, created)
		switch {
		case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", text, err, want)
		case err == nil && got == 0 && want != "", err == nil && got != 0 && got.String() != want:
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestAttested(t *testing.T) {
	whole := simulate.Impact{
		Version: simulate.ImpactVersion, Baseline: simulate.Named{Recorded: true}, Candidate: simulate.Named{Digest: "abc"},
		Calls:  simulate.Tally{Total: 20, States: map[simulate.State]int64{simulate.Unchanged: 10, simulate.Tightened: 2, simulate.Loosened: 1, simulate.Unknown: 1}, After: map[simulate.State]int64{simulate.Loosened: 4, simulate.Maybe: 1, simulate.Incomparable: 1}},
		Events: simulate.Tally{Total: 5, States: map[simulate.State]int64{simulate.Loosened: 5}},
	}
	for _, c := range []struct {
		name   string
		change func(*simulate.Impact)
		want   string
	}{
		{"whole", func(*simulate.Impact) {}, ""},
		{"another policy", func(m *simulate.Impact) { m.Candidate.Digest = "abd" }, "about another policy"},
		{"what was recorded", func(m *simulate.Impact) { m.Candidate.Recorded = true }, "about another policy"},
		{"interrupted", func(m *simulate.Impact) { m.Partial = "interrupted" }, "incomplete"},
		{"a shard", func(m *simulate.Impact) { m.Shard = &simulate.Shard{Index: 1, Of: 2} }, "incomplete"},
		{"unread files", func(m *simulate.Impact) { m.Sources.Failed = 1 }, "could not be read"},
		{"another version", func(m *simulate.Impact) { m.Version++ }, "the report has version"},
	} {
		m := whole
		c.change(&m)
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "report.json")
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := simulationOf(file, "abc")
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.want)
			}
			continue
		}
		want := &signing.Simulation{Baseline: "recorded", Decisions: 25, Changed: 13, Tightened: 2, Loosened: 10, Maybe: 1, Unknown: 2, Report: signing.SHA256(raw)}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
	}
}
