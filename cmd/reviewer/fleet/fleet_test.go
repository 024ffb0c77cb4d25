package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

var now = time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)

// said is a report of a machine, some time ago, with the fields of its bundle.
func said(id string, ago time.Duration, bundle string) string {
	return fmt.Sprintf(`{"labels": {"id": %q}, "timestamp": %q, "policy": "p", "trust": {"state": "active"}, "bundles": {"organisation": {"name": "a", "channel": "stable", "archive": "x"%s}}}`,
		id, now.Add(-ago).Format(time.RFC3339), bundle)
}

func judged(t *testing.T, files map[string]string) Summary {
	t.Helper()
	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	last, bad, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	return Judge(last, bad, now, time.Hour)
}

func TestStates(t *testing.T) {
	const old, latest = `, "sequence": 1`, `, "sequence": 2`
	for _, c := range []struct {
		name, report, want string
	}{
		{"fine", said("m", 0, latest), "ok"},
		{"an hour ago is not too long", said("m", time.Hour, latest), "ok"},
		{"longer", said("m", time.Hour+time.Second, latest), "silent"},
		{"an older release", said("m", 0, old), "behind"},
		{"rolled back", said("m", 0, old+`, "held": ["y"], "code": "held"`), "held"},
		{"the last request failed", said("m", 0, latest+`, "code": "unreachable"`), "failing unreachable"},
		{"what is active expired", said("m", 0, latest+`, "errors": [{"code": "expired"}, {"code": "expired"}]`), "failing expired"},
		{"silent beats failing", said("m", 2*time.Hour, latest+`, "code": "scope"`), "silent scope"},
		{"failing beats held", said("m", 0, latest+`, "held": ["y"], "errors": [{"code": "revoked"}]`), "failing revoked"},
		{"a clock ahead would never be silent", said("m", -11*time.Minute, latest), "failing clock"},
		{"no policy", strings.Replace(said("m", 0, latest), `"policy": "p", `, "", 1), "failing no_policy"},
		{"no valid trust file", strings.Replace(said("m", 0, latest), `"active"`, `"missing"`, 1), "failing trust"},
		{"nothing is active yet", strings.Replace(said("m", 0, ""), `, "archive": "x"`, "", 1), "behind"},
	} {
		s := judged(t, map[string]string{"m.json": c.report, "other.json": said("other", 0, latest)})
		i := slices.IndexFunc(s.Machines, func(m Machine) bool { return m.ID == "m" })
		if got := strings.TrimSpace(string(s.Machines[i].State) + " " + strings.Join(s.Machines[i].Why, " ")); got != c.want || len(s.Bad) > 0 {
			t.Errorf("%s: %s, want %s %v", c.name, got, c.want, s.Bad)
		}
		if fails := strings.HasPrefix(c.want, "silent") || strings.HasPrefix(c.want, "failing"); (s.Failed() > 0) != fails {
			t.Errorf("%s: %d failed", c.name, s.Failed())
		}
	}
}

// A finding names the release: by its own report if it is active, else by any report that has its archive.
func TestFindings(t *testing.T) {
	s := judged(t, map[string]string{
		"m.json":     said("m", 0, `, "sequence": 1, "code": "scope", "refused": "y", "held": ["y", "z"], "errors": [{"code": "revoked"}]`),
		"other.json": said("other", 0, `, "sequence": 2, "archive": "y", "channel": "canary"`),
	})
	want := []Finding{
		{"organisation", ActiveBundle, "revoked", "x", "a, sequence 1", "stable", 0},
		{"organisation", PulledBundle, "scope", "y", "a, sequence 2", "", 0},
		{"organisation", HeldBundle, "held", "y", "a, sequence 2", "", 0},
		{"organisation", HeldBundle, "held", "z", "", "", 0},
	}
	if got := s.Machines[0].Findings; s.Machines[0].ID != "m" || !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What a machine with a newer trust file reports as revoked, active there or not, is a failure of those that do not know it.
func TestRevokedElsewhere(t *testing.T) {
	version := func(n int, report string) string {
		return strings.Replace(report, `"state": "active"`, fmt.Sprintf(`"state": "active", "version": %d`, n), 1)
	}
	const active, refused = `, "errors": [{"code": "revoked"}]`, `, "archive": "y", "code": "revoked", "refused": "x"`
	for _, c := range []struct {
		name, other, mine string
		versions          [2]int // of the other machine, and of this one
		want              string
	}{
		{"active there", active, "", [2]int{3, 2}, "failing revoked 3"},
		{"refused there", refused, "", [2]int{3, 2}, "failing revoked 3"},
		{"no trust file here", active, "", [2]int{3, 0}, "failing revoked 3"},
		{"another release here", active, `, "archive": "z"`, [2]int{3, 2}, "ok"},
		{"no release here", active, `, "archive": ""`, [2]int{3, 2}, "ok"},
		{"something else is wrong there", `, "errors": [{"code": "expired"}]`, "", [2]int{3, 2}, "ok"},
		{"a newer file here, that does not revoke it", active, "", [2]int{3, 4}, "ok"},
		{"known here", active, active, [2]int{3, 2}, "failing revoked 0"},
	} {
		s := judged(t, map[string]string{
			"m.json": version(c.versions[1], said("m", 0, c.mine)), "other.json": version(c.versions[0], said("other", 0, c.other)),
		})
		m := s.Machines[slices.IndexFunc(s.Machines, func(m Machine) bool { return m.ID == "m" })]
		got := string(m.State)
		for _, f := range m.Findings {
			got += fmt.Sprintf(" %s %d", f.Code, f.Trust)
		}
		if got != c.want || len(m.Findings) != len(m.Why) || m.Trust.Version != int64(c.versions[1]) {
			t.Errorf("%s: %s %+v, want %s", c.name, got, m, c.want)
		}
	}
}

// Whatever order files have, the last report of a machine counts; a file may have many.
func TestLastReportCounts(t *testing.T) {
	early, late := said("m", time.Minute, `, "code": "scope"`), said("m", time.Second, "")
	for name, files := range map[string]map[string]string{
		"two files":     {"a.json": early, "b.json": late},
		"the other way": {"a.json": late, "b.json": early},
		"one file":      {"log.jsonl": late + "\n" + early + "\n"},
		"in a folder":   {"2026/11/a.ndjson": early + late, "notes.txt": "not read"},
	} {
		if s := judged(t, files); len(s.Machines) != 1 || s.Machines[0].State != OK || len(s.Bad) != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestBadReports(t *testing.T) {
	good := said("m", 0, "")
	for text, want := range map[string]string{
		"":                        "1: it has no report",
		"[]":                      "1: it is not a status report: ",
		good + "\n\n{":            "3: it is not JSON: ",
		good + "\n{}\n" + good:    "2: labels.id is missing",
		`{"labels": {"id": "m"}}`: `1: timestamp "": expected a time such as`,
		`{"labels": {"id": 5}}`:   "1: it is not a status report: ",
		`{"labels": {"id": "m"}, "timestamp": "2026-11-29T08:00:00Z"}`: "1: bundles is missing",
	} {
		s := judged(t, map[string]string{"x.json": text, "good.json": good})
		if len(s.Bad) != 1 || s.Bad[0].File != "x.json" || !strings.HasPrefix(fmt.Sprintf("%d: %s", s.Bad[0].Line, s.Bad[0].Error), want) {
			t.Errorf("%q: %+v, want %s", text, s.Bad, want)
		}
		if len(s.Machines) != 1 {
			t.Errorf("%q: %d machines", text, len(s.Machines))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(said("m", 0, ""))
	f.Add("{}[]")
	f.Fuzz(func(t *testing.T, text string) {
		last, bad, err := Read(fstest.MapFS{"x.json": &fstest.MapFile{Data: []byte(text)}})
		if err != nil || len(last) == 0 && len(bad) == 0 {
			t.Errorf("nothing read and nothing wrong: %v", err)
		}
		if s := Judge(last, bad, now, time.Hour); len(s.Machines) != len(last) {
			t.Errorf("%d of %d machines", len(s.Machines), len(last))
		}
	})
}
