package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/auditcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// flips are the ways in which a byte is changed.
var flips = []struct {
	name string
	flip func(b byte, i int) byte
}{
	{"a bit", func(b byte, i int) byte { return b ^ 1<<(i%8) }},
	{"a digit", func(b byte, i int) byte { return '0' + byte(i%10) }},
	{"a newline", func(byte, int) byte { return '\n' }},
	{"case", func(b byte, _ int) byte { return b ^ 0x20 }},
	{"nothing", func(byte, int) byte { return 0 }},
}

// Every byte of every line before the newest, of decisions as they are really
// written, is held by the chain: changed, it is found. One way of changing is
// tried for every ninth byte; REVIEWER_EVERY=1 (`make fidelity`) tries all for each.
func TestFlippedBytesAreFound(t *testing.T) {
	store, file := smallLog(t)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	newest := bytes.LastIndexByte(good[:len(good)-1], '\n') + 1
	if lines := bytes.Count(good, []byte("\n")); lines < 5 || newest < 6<<10 {
		t.Fatalf("the log has %d lines and %d bytes before the newest", lines, newest)
	}
	sessions, err := store.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	if damaged(t, store, sessions[0]) {
		t.Fatal("the log is damaged before a byte is changed")
	}
	bad := slices.Clone(good)
	for i := 0; i < newest; i += sweep.Some(9, 1) {
		for k, f := range flips {
			if !sweep.Every() && k != i%len(flips) {
				continue
			}
			if bad[i] = f.flip(good[i], i); bad[i] == good[i] {
				bad[i] ^= 1
			}
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if !damaged(t, store, sessions[0]) {
				t.Errorf("%s at byte %d: %q, which was %q, is not found", f.name, i, bad[max(0, i-20):i+1], good[i])
			}
		}
		bad[i] = good[i]
	}
}

// damaged reports whether a reader that trusts the chain only refuses it.
func damaged(t *testing.T, store *audit.Store, s audit.Session) bool {
	t.Helper()
	for _, err := range store.Verified(s) {
		if err != nil {
			return true
		}
	}
	return false
}

// smallLog is a session of a few calls, decided by the built-in policy.
func smallLog(t *testing.T) (*audit.Store, string) {
	t.Helper()
	home := filepath.Join(t.TempDir(), "state")
	c := newChronicle(t, 1, home, keptPolicies(t, home, wiringtest.Effective(t)))
	s := &tale{id: "small"}
	c.prompt(s)
	for _, command := range []string{"go test ./...", "rm -rf /srv/other", "cat notes.txt"} {
		e := engine.Event{Phase: engine.PhasePre, Name: "PreToolUse", Call: c.nextCall(), Tool: "Bash", Args: []byte(fmt.Sprintf(`{"command":%q}`, command))}
		if answer := c.handle(s, e); answer.Effect != engine.Block {
			e.Phase, e.Name, e.Result = engine.PhasePost, "PostToolUse", &engine.Result{Output: []byte(`"ok"`)}
			c.handle(s, e)
		}
	}
	files, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return c.store, files[0]
}

// A line that is changed and whose chain is then made to fit again, as who owns
// the disk can: where the line decides something, replay finds it.
func TestRewrittenChainsAreFound(t *testing.T) {
	store, file := smallLog(t)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := store.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ was, becomes, finds string }{
		{`"enforced":"block"`, `"enforced":"allow"`, "decision.enforced"},
		{`"command":"rm -rf /srv/other"`, `"command":"rm -rf /srv/thing"`, "sha.input"},
		{`"effect":"block","mode":"enforced"`, `"effect":"allow","mode":"enforced"`, "sha.state"},
		{`"rules":[{"id":"delete_outside_scope"`, `"rules":[{"id":"delete_outside_scopf"`, "decision.rules"},
		{`"workspace":"/srv/shop"`, `"workspace":"/srv/other"`, "sha.state"},
	} {
		if !bytes.Contains(good, []byte(c.was)) {
			t.Fatalf("the log holds no %s", c.was)
		}
		if err := os.WriteFile(file, rechained(good, c.was, c.becomes), 0o600); err != nil {
			t.Fatal(err)
		}
		if damaged(t, store, sessions[0]) {
			t.Fatalf("%s: the chain does not fit", c.becomes)
		}
		report, err := simulate.Replay(t.Context(), cli.RecordsOf(store, sessions), auditcmd.PoliciesOf(t.Context(), store), cli.Environment())
		if err != nil || report.First == nil || !strings.HasPrefix(report.First.Field, c.finds) {
			t.Errorf("%s: found is %v, want %s; %v", c.becomes, report.First, c.finds, err)
		}
	}
}

// rechained replaces a string once and makes each line name the hash of the one
// before again.
func rechained(log []byte, was, becomes string) []byte {
	lines := bytes.SplitAfter(bytes.Replace(log, []byte(was), []byte(becomes), 1), []byte("\n"))
	const head = len(`{"v":1,"prev":"`)
	for i := 1; i < len(lines) && len(lines[i]) > 0; i++ {
		copy(lines[i][head:head+64], engine.LineHash(lines[i-1]))
	}
	return bytes.Join(lines, nil)
}

// Decisions of another environment cannot be compared: counted, and no error. A
// policy that is gone is named.
func TestWhatCannotBeReplayed(t *testing.T) {
	store, _ := smallLog(t)
	home := []string{"--home", store.Dir}
	sessions, err := store.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	older := cli.Environment()
	older.OPA = "0.1.0"
	report, err := simulate.Replay(t.Context(), cli.RecordsOf(store, sessions), auditcmd.PoliciesOf(t.Context(), store), older)
	if err != nil || report.Err() != nil || report.Incomparable == 0 || report.Incomparable != report.Decisions {
		t.Errorf("another environment: %+v, %v", report, err)
	}
	digest := wiringtest.Effective(t).Digest
	if err := os.Remove(filepath.Join(store.Dir, "policies", digest+".json")); err != nil {
		t.Fatal(err)
	}
	out, errs, code := reviewerCommand(t, append([]string{"audit", "replay"}, home...)...)
	if code != cli.ExitFindings || !strings.Contains(out+errs, digest) {
		t.Errorf("a policy that is gone: exit code %d\n%s%s", code, out, errs)
	}
}
