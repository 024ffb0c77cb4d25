package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/google/go-cmp/cmp"
)

// statsHome makes a state folder with so many sessions of three calls each.
func statsHome(t *testing.T, sessions int) string {
	t.Helper()
	store := &audit.Store{Dir: t.TempDir() + "/state", Env: cli.Environment(), Keep: true}
	for i := range sessions {
		key := engine.SessionKey{Harness: "claude-code", Session: fmt.Sprintf("session-%05d", i)}
		err := store.Update(t.Context(), key, func(tail history.Tail) error {
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
		"loop               block       0         0   300        300", "loop               warn        0       300     0          -",
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

func resultOf(t *testing.T, home string, args ...string) string {
	var out, errs bytes.Buffer
	a := &cli.App{Streams: term.Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Env: func(string) string { return "" }}}
	if code := run(t.Context(), a, append(args, "--home", home)); code != cli.ExitOK {
		t.Errorf("%s: exit code %d\n%s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}
