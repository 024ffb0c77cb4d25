package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRanges(t *testing.T) {
	for want, list := range map[string][]int{"": nil, "4": {4}, "1-3, 5, 7-8": {1, 2, 3, 5, 7, 8}, "2-3": {2, 2, 3}} {
		if got := ranges(list); got != want {
			t.Errorf("ranges(%v) = %q, want %q", list, got, want)
		}
	}
}

// A share below all, or below its threshold, never shows as if it were not.
func TestPercent(t *testing.T) {
	for _, c := range []struct {
		covered, total int
		want           string
	}{{0, 0, "–"}, {0, 3, "0.0"}, {1, 3, "33.3"}, {2, 3, "66.6"}, {9999, 10000, "99.9"}, {3, 3, "100.0"}} {
		if got := percent(c.covered, c.total); got != c.want {
			t.Errorf("percent(%d, %d) = %s, want %s", c.covered, c.total, got, c.want)
		}
	}
	for p, want := range map[float64]string{94.99: "94.9", 95: "95", 99.96: "99.9", 100: "100", 0: "0", 62.5: "62.5", 0.1 + 0.2: "0.3"} {
		if got := Cut(p); got != want {
			t.Errorf("Cut(%v) = %s, want %s", p, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "under 1 ms", 999 * time.Microsecond: "under 1 ms", 12 * time.Millisecond: "12 ms", 1234 * time.Millisecond: "1.2 s"} {
		if got := short(d); got != want {
			t.Errorf("short(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestPath(t *testing.T) {
	here := Options{Root: "/repo/", Dir: "/repo/team"}
	for _, c := range []struct {
		o          Options
		file, want string
	}{
		{Options{}, "a/b", "a/b"},
		{Options{Root: "/repo"}, "a/b", "a/b"},
		{Options{Root: "/repo"}, "/repo/a", "a"},
		{here, "a/./b", "team/a/b"},
		{here, "../a", "a"},
		{here, "../../a", "/a"},
		{here, "/repository/a", "/repository/a"},
		{here, "", ""},
		{Options{Root: "/", Dir: "/x"}, "a", "x/a"},
	} {
		if got := c.o.path(c.file); got != c.want {
			t.Errorf("%+v: path(%q) = %q, want %q", c.o, c.file, got, c.want)
		}
	}
}

func TestProblemText(t *testing.T) {
	for _, c := range []struct {
		p    Problem
		want string
	}{
		{Problem{Message: "m"}, "m"},
		{Problem{Message: "m", Expected: "a"}, "m; expected a"},
		{Problem{Message: "m", Expected: "a", Found: "b", Suggestion: "c"}, `m; expected a, found b; did you mean "c"?`},
		{Problem{Message: "m", Suggestion: "c"}, `m; did you mean "c"?`},
	} {
		if got := c.p.Text(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for want, p := range map[string]Place{"": {}, "f": {File: "f", Col: 3}, "f:2": {File: "f", Line: 2}, "f:2:3": {"f", 2, 3}} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What a status means, no status of today included.
func TestFailed(t *testing.T) {
	suite := func(s Status) *Report { return &Report{Suites: []Suite{{Tests: []Test{{Status: s}}}}} }
	for r, want := range map[*Report]bool{
		{}: false, suite(Pass): false, suite(Skip): false, suite(Todo): false, suite(Fail): true, suite(Error): true, suite("odd"): true, suite(""): true,
		{Problems: []Problem{{Severity: SeverityWarning}}}:       false,
		{Problems: []Problem{{Severity: SeverityError}}}:         true,
		{Problems: []Problem{{}}}:                                true,
		{Coverage: &Coverage{}}:                                  false,
		{Coverage: &Coverage{Under: []KindMissing{{Kind: "x"}}}}: true,
	} {
		if got := r.Failed(); got != want {
			t.Errorf("%+v: failed %t, want %t", *r, got, want)
		}
	}
}

// Any order of finding gives the same report.
func TestSort(t *testing.T) {
	r := Report{
		Problems: []Problem{{Place: Place{"b", 1, 1}}, {Place: Place{"a", 10, 1}}, {Place: Place{"a", 2, 9}}, {Place: Place{"a", 2, 1}, Code: "y"}, {Place: Place{"a", 2, 1}, Code: "x"}},
		Suites:   []Suite{{Name: "b"}, {Name: "a", Kind: "rego"}, {Name: "a", Kind: "case"}},
		Rules:    []Rule{{ID: "z"}, {ID: "a"}},
	}
	r.Sort()
	var got []string
	for _, p := range r.Problems {
		got = append(got, p.Place.String()+p.Code)
	}
	for _, s := range r.Suites {
		got = append(got, s.Name+s.Kind)
	}
	for _, rule := range r.Rules {
		got = append(got, rule.ID)
	}
	if diff := cmp.Diff([]string{"a:2:1x", "a:2:1y", "a:2:9", "a:10:1", "b:1:1", "acase", "arego", "b", "a", "z"}, got); diff != "" {
		t.Error(diff)
	}
}
