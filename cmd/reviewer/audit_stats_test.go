package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

func TestSinceTime(t *testing.T) {
	zone := time.FixedZone("east", 2*3600)
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"90m": now.Add(-90 * time.Minute), "7d": now.AddDate(0, 0, -7), "1h30m": now.Add(-90 * time.Minute),
		"2026-01-30": time.Date(2026, 1, 30, 0, 0, 0, 0, zone), "2026-01-30T10:00:00Z": time.Date(2026, 1, 30, 10, 0, 0, 0, time.UTC),
	} {
		if got, err := sinceTime(text, now); err != nil || got != want.UnixMilli() {
			t.Errorf("%s: %v, %v, want %v", text, time.UnixMilli(got), err, want)
		}
	}
	if got, err := sinceTime("", now); got != 0 || err != nil {
		t.Errorf("without a time: %d, %v", got, err)
	}
	for _, text := range []string{"yesterday", "-5m", "0s", "d", "-1d", "99999999999d", "2026-13-01", "7", "1w"} {
		if got, err := sinceTime(text, now); err == nil {
			t.Errorf("%s is taken for %v", text, time.UnixMilli(got))
		}
	}
}

// A table keeps to the width of the terminal as far as its numbers let it.
func TestTableWidths(t *testing.T) {
	wide := table{heads: []string{"TOOL", "OF", "CALLS"}, texts: 2}
	wide.add(strings.Repeat("é", 60), strings.Repeat("x", 30), "123456")
	wide.add("Bash\x1b[31m\n", "", "7")
	for line, want := range map[int]int{200: 100, 100: 100, 80: 80, 30: 30, 10: 26} {
		var b bytes.Buffer
		wide.write(&b, paint{}, line)
		longest := 0
		for text := range strings.Lines(b.String()) {
			longest = max(longest, utf8.RuneCountInString(strings.TrimSuffix(text, "\n")))
		}
		if longest != want || strings.Count(b.String(), "\n") != 3 || strings.Contains(b.String(), "\x1b") {
			t.Errorf("of %d characters: %d, want %d\n%s", line, longest, want, b.String())
		}
	}
}

// statsHome makes a state folder with so many sessions of three calls each.
func statsHome(t *testing.T, sessions int) string {
	t.Helper()
	store := &audit.Store{Dir: t.TempDir() + "/state", Env: environment(), Keep: true}
	for i := range sessions {
		key := engine.SessionKey{Harness: "claude-code", Session: fmt.Sprintf("session-%05d", i)}
		err := store.Update(t.Context(), key, func(tail engine.Tail) error {
			list := []*engine.Record{{Kind: engine.KindOpen, Open: &engine.Open{Workspace: "/srv/shop"}}}
			for n, effect := range []engine.Verdict{engine.Allow, engine.Warn, engine.Block} {
				list = append(list, &engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Call: fmt.Sprint(n),
					Event:    &engine.EventFacts{Tool: fmt.Sprint("tool-", i%15)},
					Decision: &engine.Decision{Decision: effect, Enforced: effect, Rules: []engine.RuleResult{{ID: "loop", Decision: effect}}},
					Answer:   &engine.AnswerFacts{Effect: effect, Mode: engine.ModeEnforced, MS: 3}})
			}
			for _, r := range list {
				r.Session, r.Harness, r.T = key.Session, key.Harness, 1769860800000+int64(i)*1000
				if err := tail.Append(r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return store.Dir
}

// The overview of many sessions stays one page; what it leaves out, --by lists.
func TestStatsOfManySessions(t *testing.T) {
	const sessions = 300
	home := statsHome(t, sessions)
	page := resultOf(t, home, "audit", "stats")
	for _, line := range []string{
		"300 sessions", "allow        300  33.3 %", "total        900", "and 5 more (--by tool lists all)", "tool-0      60     20    20       -    -     20",
		"loop                block       0         0   300        300", "loop                warn        0       300     0          -",
	} {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("%q is not on the page:\n%s", line, page)
		}
	}
	if n := strings.Count(page, "\n"); n > 50 {
		t.Errorf("the page has %d lines", n)
	}
	var listed []string
	for line := range strings.Lines(resultOf(t, home, "audit", "stats", "--by", "session")) {
		if strings.HasPrefix(line, "session-") {
			listed = append(listed, strings.Fields(line)[0])
		}
	}
	if len(listed) != sessions || !slices.IsSorted(listed) {
		t.Errorf("%d sessions are listed", len(listed))
	}
	if d := cmp.Diff(page, resultOf(t, home, "audit", "stats")); d != "" {
		t.Errorf("the second time it is another page: %s", d)
	}
}
