package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// happened counts the events of a log, by what a replay has to get right.
func happened(t *testing.T, store *audit.Store) map[string]int {
	t.Helper()
	sessions, err := store.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{"sessions": len(sessions)}
	digests := map[[2]string]bool{}
	policies := map[string]int{}
	for r, err := range cli.RecordsOf(store, sessions) {
		if err != nil {
			t.Fatal(err)
		}
		seen[string(r.Kind)]++
		if r.By != nil && !digests[[2]string{r.Chain, r.By.Policy}] {
			digests[[2]string{r.Chain, r.By.Policy}] = true
			policies[r.Chain]++
		}
		for _, what := range telling(r) {
			seen[what]++
		}
	}
	for _, n := range policies {
		if n > 1 {
			seen["policy changed in the session"]++
		}
	}
	for r, err := range store.Ledger() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Note != nil && r.Note.What == "purge" {
			seen["purged"]++
		}
	}
	for _, s := range sessions {
		files, err := filepath.Glob(filepath.Join(s.Dir, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		seen["files"] += len(files)
	}
	return seen
}

// telling names what is odd about a record.
func telling(r *engine.Record) []string {
	var all []string
	say := func(holds bool, what string) {
		if holds {
			all = append(all, what)
		}
	}
	if r.Control != nil {
		say(true, r.Control.Do)
	}
	say(r.Act != nil, "stopped by policy")
	say(r.Note != nil && r.Note.What == "duplicate", "duplicate")
	say(r.Skew > 0, "the clock went back")
	say(r.Agent != "" && r.Agent != engine.MainAgent, "sub-agent")
	say(r.Answer != nil && len(r.Answer.Approvals) > 0, "a person's answer")
	say(len(r.Findings) > 0, "findings")
	say(r.Action != nil && len(r.Action.Detected) > 0, "detected")
	say(r.Rewritten != nil, "rewritten")
	if a := r.Answer; a != nil && r.Phase == engine.PhasePre {
		say(true, string(a.Effect))
		say(a.Mode == engine.ModeDegraded, "degraded")
	}
	return all
}

// retire makes the first files of some sessions old, and lets retention have them.
func (c *chronicle) retire() {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.store.Dir, "sessions", "*", "000001.jsonl"))
	if err != nil || len(files) < 4 {
		c.t.Fatalf("%d first files of sessions, %v", len(files), err)
	}
	long := time.Now().AddDate(0, 0, -audit.DefaultRetainDays-1)
	for i, f := range files {
		if i%4 != 0 {
			continue
		}
		if next, _ := os.Stat(strings.Replace(f, "000001", "000002", 1)); next == nil {
			continue
		}
		if err := os.Chtimes(f, long, long); err != nil {
			c.t.Fatal(err)
		}
	}
	c.begin()
}

// reviewerCommand runs the program in a process of its own.
func reviewerCommand(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "reviewer", args...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append(os.Environ(), "REVIEWER_HOME="+t.TempDir())
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// A log with all that can happen to a session in it: another process finds each
// decision and each state the same. It has 10,000 calls with REVIEWER_EVERY=1
// (`make fidelity`), else fewer.
func TestFidelity(t *testing.T) {
	calls, least := 1_500, 2
	if sweep.Every() {
		calls, least = 10_000, 20
	}
	home := filepath.Join(t.TempDir(), "state")
	c := chronicles(t, home, calls)
	seen := happened(t, c.store)
	happens := []string{
		engine.ControlStop, engine.ControlResume, engine.ControlAllowOnce, engine.ControlAllowSession, engine.ControlScope, engine.ControlUnscope, engine.ControlLift,
		"duplicate", "the clock went back", "sub-agent", "findings", "detected", "rewritten", "degraded", "a person's answer",
		"allow", "warn", "modify", "ask", "block", "keyframe", "policy changed in the session", "purged",
	}
	if calls == 10_000 {
		happens = append(happens, "stopped by policy") // too rare for fewer
	}
	for _, what := range happens {
		if seen[what] < least {
			t.Errorf("%d times: %s", seen[what], what)
		}
	}
	if seen["files"] < seen["sessions"]*5/4 {
		t.Errorf("%d files of %d sessions: the log was hardly rotated", seen["files"], seen["sessions"])
	}
	t.Logf("%v", seen)
	if out, errs, code := reviewerCommand(t, "audit", "verify", "--home", home); code != cli.ExitOK {
		t.Fatalf("verify: exit code %d\n%s%s", code, out, errs)
	}
	m := simulated(t, cli.ExitOK, "--home", home, "--candidate", "../../bundles/default")
	r := m.Fidelity
	if want := int64(calls); r == nil || r.Same != r.Decisions || r.Decisions < want || r.Keyframes < want/100 || r.Degraded < 3 || r.Incomparable+int64(len(r.Missing)) > 0 {
		t.Errorf("%+v", r)
	}
	if m.Calls.Total < int64(calls)*3/4 || m.Calls.States[simulate.Unchanged] == m.Calls.Total {
		t.Errorf("of %d calls under five policies %d are answered alike by one of them", m.Calls.Total, m.Calls.States[simulate.Unchanged])
	}
}

// simulated is what the program says in a process of its own, with the exit code
// that it must have.
func simulated(t testing.TB, code int, args ...string) *simulate.Impact {
	t.Helper()
	out, errs, got := reviewerCommand(t, append([]string{"policy", "simulate", "-f", "json"}, args...)...)
	m := new(simulate.Impact)
	if err := json.Unmarshal([]byte(out), m); err != nil || got != code {
		t.Fatalf("exit code %d, want %d; %v\n%.2000s%s", got, code, err, out, errs)
	}
	return m
}

// The policy that decided changes nothing, whatever happened: no call and no
// other event differs.
func TestTheSamePolicyChangesNothing(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	newChronicle(t, 11, home, keptPolicies(t, home, wiringtest.Effective(t))).tell(300)
	m := simulated(t, cli.ExitOK, "--home", home, "--candidate", "../../bundles/default")
	for _, tally := range []simulate.Tally{m.Calls, m.Events} {
		for state, n := range tally.States {
			if state != simulate.Unchanged && state != simulate.Unknown && n+tally.After[state] > 0 {
				t.Errorf("%d %s of %d", n+tally.After[state], state, tally.Total)
			}
		}
	}
	if n := m.Calls.States[simulate.Unknown]; n > 20 || n != m.Fidelity.Degraded-m.Events.States[simulate.Unknown] {
		t.Errorf("%d calls are unknown, and %d had no decision", n, m.Fidelity.Degraded)
	}
	if m.Sessions.Changed != 0 || len(m.Kinds) != 0 || m.Calls.Total < 250 {
		t.Errorf("%d calls, %d sessions changed, %d kinds of changes", m.Calls.Total, m.Sessions.Changed, len(m.Kinds))
	}
}

// chronicles write one log together, as several agents on one machine do: most of
// the time is waiting for the disk. Retention has been there before the last.
func chronicles(t *testing.T, home string, calls int) *chronicle {
	t.Helper()
	policies := keptPolicies(t, home, oddPolicies(t)...)
	const writers = 6
	t.Run("write", func(t *testing.T) {
		for i := range uint64(writers) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				newChronicle(t, i, home, policies).tell(calls / writers)
			})
		}
	})
	last := newChronicle(t, writers, home, policies)
	last.retire()
	last.tell(calls % writers)
	return last
}
