package main

import (
	"context"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/kept"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// log is where a machine's log is kept.
func (m machine) log() string { return filepath.Join(m.dir, "state") }

// past records a session of some size, whose files look as old as that.
func (m machine) past(session string, bytes int, old time.Duration) {
	m.t.Helper()
	store := &audit.Store{Dir: m.log(), Env: cli.Environment()}
	key := engine.SessionKey{Harness: "claude-code", Session: session}
	err := store.Update(context.Background(), key, func(t history.Tail) error {
		err := t.Append(&engine.Record{Kind: engine.KindOpen, T: 1, Session: session, Harness: "claude-code", Open: &engine.Open{Workspace: "/srv/" + session}})
		for n := 0; n < bytes && err == nil; n += 6000 {
			err = t.Append(&engine.Record{Kind: engine.KindNote, T: 1, Session: session, Harness: "claude-code", Note: &engine.Note{What: "test", Detail: strings.Repeat("x", 6000)}})
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	when := time.Now().Add(-old)
	for _, f := range m.files(session) {
		if err := os.Chtimes(f, when, when); err != nil {
			m.t.Fatal(err)
		}
	}
}

// files lists the files of a session: those that hold its name.
func (m machine) files(session string) []string {
	m.t.Helper()
	all, err := filepath.Glob(filepath.Join(m.log(), "sessions", "*", "*.jsonl"))
	if err != nil {
		m.t.Fatal(err)
	}
	var own []string
	for _, f := range all {
		raw, err := os.ReadFile(f)
		if err != nil {
			m.t.Fatal(err)
		}
		if strings.Contains(string(raw), `"session":"`+session+`"`) {
			own = append(own, f)
		}
	}
	return own
}

// settings writes the person's layer.
func (m machine) settings(text string) {
	m.t.Helper()
	dir := filepath.Join(m.log(), "policy")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.yaml"), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// What the settings say about the log decides what is deleted of it when a session
// is opened.
func TestLogIsKeptAsSettingsSay(t *testing.T) {
	day := 24 * time.Hour
	for name, test := range map[string]struct {
		settings string
		bytes    int
		old      time.Duration
		kept     bool
	}{
		"as it ships":               {"{}", 0, 29 * day, true},
		"as it ships, older":        {"{}", 0, 31 * day, false},
		"for less time":             {"audit: {retain_days: 10}", 0, 11 * day, false},
		"for more time":             {"audit: {retain_days: 40}", 0, 31 * day, true},
		"large":                     {"{}", 1_200_000, 2 * day, true},
		"too large":                 {"audit: {budget_mb: 1}", 1_200_000, 2 * day, false},
		"without a policy":          {"audit: {retain_days: never}", 0, 400 * day, true},
		"without a policy, and big": {"audit: {budget_mb: 1}\nrisk: high", 1_200_000, 2 * day, true},
	} {
		m := newMachine(t)
		m.settings(test.settings)
		m.past("past", test.bytes, test.old)
		m.ask(call{session: "now", id: "c1", command: "ls"})
		if kept := len(m.files("past")) > 0; kept != test.kept {
			t.Errorf("%s: the past session is kept: %t, want %t", name, kept, test.kept)
		}
	}
}

// A project cannot have its own traces deleted, neither by its settings nor by
// breaking the policy.
func TestProjectDoesNotDeleteTheLog(t *testing.T) {
	for _, settings := range []string{"audit: {retain_days: 1}", "audit: {budget_mb: 1}", "no such: thing", "{"} {
		m := newMachine(t)
		m.settings("audit: {retain_days: 90}")
		m.past("past", 1_200_000, 60*24*time.Hour)
		dir := filepath.Join(m.dir, "shop", ".reviewer", "policy")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "settings.yaml"), []byte(settings), 0o644); err != nil {
			t.Fatal(err)
		}
		if r := m.ask(call{session: "now", id: "c1", command: "ls"}); r.code == 0 {
			t.Errorf("%s: the call was allowed: %s", settings, r.stdout)
		}
		if len(m.files("past")) == 0 {
			t.Errorf("%s: the past session is gone", settings)
		}
	}
}

// What the settings say about the logs of stopped sessions reaches the log.
func TestIncidentsAreKeptAsSettingsSay(t *testing.T) {
	p := &review.Policy{}
	p.Settings.Interventions.PreserveIncidentDataDays = 45
	if log := keptBy(&audit.Store{}, p); log.IncidentDays != 45 || log.Keep {
		t.Errorf("%d days, %v", log.IncidentDays, log.Keep)
	}
	if log := keptBy(&audit.Store{}, nil); !log.Keep {
		t.Error("without a policy, old records may be deleted")
	}
}

// always: each hook brings its line to the disk, and leaves the time of that
// with the session's lock.
func TestSyncAlways(t *testing.T) {
	m := newMachine(t)
	m.settings("audit: {sync: always}")
	synced := func(id string) time.Time {
		m.ask(call{session: "s", id: id, command: "ls"})
		info, err := os.Stat(filepath.Join(filepath.Dir(m.files("s")[0]), "lock"))
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	if first, second := synced("c1"), synced("c2"); !second.After(first) {
		t.Errorf("synced at %v and at %v", first, second)
	}
}

// Policies that decided are kept up to the room that the setting says; the one that
// decides is always among them, and those that went are named.
func TestPoliciesAreKeptAsSettingsSay(t *testing.T) {
	for settings, want := range map[string]int{"": 3, ", audit: {policies_mb: 1}": 1, ", audit: {policies_mb: 5}": 2} {
		m := newMachine(t)
		for _, threshold := range []string{"0.71", "0.72", "0.73"} {
			m.settings("{risk: {high_threshold: " + threshold + "}" + settings + "}")
			m.ask(call{session: "now", id: "c" + threshold, command: "ls"})
		}
		list, err := active.KeptIn(m.log()).History()
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 3 || list[0].Lost {
			t.Errorf("%q: %+v", settings, list)
		}
		if n := 3 - len(slices.DeleteFunc(list, func(k kept.Policy) bool { return !k.Lost })); n != want {
			t.Errorf("%q: %d policies are kept, want %d", settings, n, want)
		}
	}
}
