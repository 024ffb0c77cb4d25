package simulatecmd

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/google/go-cmp/cmp"
)

func TestParseSweep(t *testing.T) {
	for text, want := range map[string]struct {
		key    string
		values []float64
	}{
		"risk.high_threshold=0.6:0.9:0.05":               {"risk.high_threshold", []float64{0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9}},
		"data.reviewer.risk.high_threshold=0.9:0.6:-0.1": {"risk.high_threshold", []float64{0.6, 0.7, 0.8, 0.9}},
		"settings.session.max_deleted=0:100:40":          {"session.max_deleted", []float64{0, 40, 80}},
		"reviewer.history.last=3:3:1":                    {"history.last", []float64{3}},
		"risk.reversibility.R0=-.5:.1:.3":                {"risk.reversibility.R0", []float64{-0.5, -0.2, 0.1}},
	} {
		key, values, err := parseSweep(text)
		if err != nil || key != want.key || !cmp.Equal(values, want.values) {
			t.Errorf("%s: %s %v (%v), want %s %v", text, key, values, err, want.key, want.values)
		}
	}
	if _, values, err := parseSweep("a=100000000000000.0:100000000000000.1:0.001"); err != nil || len(values) > 10 {
		t.Errorf("values that no float tells apart: %v (%v)", values, err)
	}
	for text, want := range map[string]string{
		"":                             "expected KEY=FROM:TO:STEP",
		"risk.high_threshold":          "expected KEY=FROM:TO:STEP",
		"risk.high_threshold=0.6:0.9":  "expected KEY=FROM:TO:STEP",
		"=0.6:0.9:0.1":                 "expected KEY=FROM:TO:STEP",
		"a=0.6:high:0.1":               `TO in "a=0.6:high:0.1": expected a number such as 0.05, got "high"`,
		"a=0.6:0.9:0":                  "STEP is 0",
		"a=0.6:0.9:-0.1":               "STEP has the wrong sign; write 0.1",
		"a=0.9:0.6:0.1":                "STEP has the wrong sign; write -0.1",
		"a=0:1:0.001":                  "more than 101 values; make STEP at least 0.01",
		"a=1e999999999:1:1":            "FROM in",
		"a=0:1e-999999999:1":           "TO in",
		"a=NaN:1:1":                    "FROM in",
		"a=1/3:1:1":                    "FROM in",
		"a=0x10:20:1":                  "FROM in",
		"a=--1:1:1":                    "FROM in",
		"a=.:1:1":                      "FROM in",
		"a=0.12345678901234567890:1:1": "FROM in",
		"a=0:1:0.1:7":                  "expected KEY=FROM:TO:STEP",
	} {
		if _, _, err := parseSweep(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", text, err, want)
		}
	}
}

// Whatever a person writes, the values are the decimals that they would write,
// rising, few, and none beyond the ends.
func FuzzParseSweep(f *testing.F) {
	f.Add("risk.high_threshold=0.6:0.9:0.05")
	f.Add("a=-1:1:0.3")
	f.Add("a=1e9:1:1")
	f.Fuzz(func(t *testing.T, text string) {
		_, values, err := parseSweep(text)
		if err != nil {
			return
		}
		if len(values) == 0 || len(values) > maxSweep {
			t.Fatalf("%d values", len(values))
		}
		var from, to float64
		_, rest, _ := strings.Cut(text, "=")
		if _, err := fmt.Sscanf(strings.ReplaceAll(rest, ":", " "), "%g %g", &from, &to); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for i, v := range values {
			if i > 0 && v <= values[i-1] || v < math.Min(from, to) || v > math.Max(from, to) {
				t.Errorf("%q: %v", text, values)
			}
		}
	})
}

func TestParseValues(t *testing.T) {
	for text, want := range map[string]string{
		"risk.high_threshold=0.6:0.7:0.1":   "risk.high_threshold = 0.6, risk.high_threshold = 0.7",
		"settings.enforcement=warn|observe": `enforcement = "warn", enforcement = "observe"`,
		"patterns.enabled=true | false":     "patterns.enabled = true, patterns.enabled = false",
		`rules.disabled=[]|["a", "b"]`:      `rules.disabled = [], rules.disabled = ["a","b"]`,
		"risk.high_threshold=0.7|0.9":       "risk.high_threshold = 0.7, risk.high_threshold = 0.9",
	} {
		values, err := parseValues(text)
		var got []string
		for _, v := range values {
			got = append(got, v.String())
		}
		if err != nil || strings.Join(got, ", ") != want {
			t.Errorf("%s: %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "a", "=b|c", "a=|", "a=b|", "a=[|b", "a=" + strings.Repeat("x|", maxSweep) + "x"} {
		if values, err := parseValues(text); err == nil {
			t.Errorf("%q is read as %v", text, values)
		}
	}
}

func TestCombinations(t *testing.T) {
	a := []bundles.Value{{Key: "a", Value: 1.0}, {Key: "a", Value: 2.0}}
	b := []bundles.Value{{Key: "b", Value: true}, {Key: "b", Value: false}}
	all := combinations([][]bundles.Value{a, b})
	if len(all) != 4 || all[1][0] != a[0] || all[1][1] != b[1] || all[2][0] != a[1] {
		t.Errorf("%v", all)
	}
	if many := make([]bundles.Value, maxSweep); combinations([][]bundles.Value{many, b}) != nil {
		t.Error("too many combinations are tried")
	}
}
