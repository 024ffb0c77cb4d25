package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

func named(name string) engine.SessionKey {
	return engine.SessionKey{Harness: "claude-code", Session: name}
}

// age makes a session's files look as old as they say; the file number n is
// still n minutes younger than the one before.
func age(t *testing.T, s *Store, key engine.SessionKey, old time.Duration) {
	t.Helper()
	for _, f := range fileSizes(s.sessionDir(key)) {
		when := time.Now().Add(-old + time.Duration(f.number)*time.Minute)
		if err := os.Chtimes(f.path, when, when); err != nil {
			t.Fatal(err)
		}
	}
}

func filesOf(t *testing.T, s *Store, key engine.SessionKey) string {
	t.Helper()
	files, err := chainFiles(s.sessionDir(key))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(files)
}

func manyFiles(t *testing.T) *Store {
	t.Helper()
	s := testStore(t)
	s.RotateBytes = 8_400
	for _, name := range []string{"old", "middle", "new"} {
		fill(t, s, named(name), 20)
		if got := filesOf(t, s, named(name)); got != "[1 2 3]" {
			t.Fatalf("files of %s are %s", name, got)
		}
	}
	return s
}

func TestOldFilesGo(t *testing.T) {
	goneWhileOpen(t)
	s := manyFiles(t)
	age(t, s, named("old"), 40*24*time.Hour)
	age(t, s, named("middle"), 30*24*time.Hour+90*time.Second) // its first file only
	if err := os.WriteFile(filepath.Join(s.sessionDir(named("old")), ".snapshot-123"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fresh := &Store{Dir: s.Dir, Env: testEnv, RetainDays: 30}
	fill(t, fresh, named("opening"), 1)
	if got := filesOf(t, s, named("old")); got != "[]" {
		t.Errorf("files of the old session are %s", got)
	}
	if _, err := os.Stat(s.sessionDir(named("old"))); err == nil {
		t.Error("the old session's folder is still there")
	}
	if got := filesOf(t, s, named("middle")); got != "[2 3]" {
		t.Errorf("files of the middle session are %s", got)
	}
	if got := filesOf(t, s, named("new")); got != "[1 2 3]" {
		t.Errorf("files of the new session are %s", got)
	}
	report := mustVerify(t, s)
	if report.Purged < 20 {
		t.Errorf("verify knows of %d purged lines", report.Purged)
	}
	// What is left goes on, and knows what it knew.
	mustAdd(t, fresh, named("middle"), pre("after"))
	if ws, _, err := fresh.Workspace(named("middle")); ws != "/home/dev/shop" || err != nil {
		t.Errorf("Workspace = %q, %v", ws, err)
	}
	mustAdd(t, fresh, named("old"), pre("again"))
	mustVerify(t, s)
}

func TestTheBudgetTakesTheOldest(t *testing.T) {
	s := manyFiles(t)
	age(t, s, named("old"), 50*time.Hour)
	age(t, s, named("middle"), 3*time.Hour)
	fresh := &Store{Dir: s.Dir, Env: testEnv, BudgetBytes: 1}
	fill(t, fresh, named("opening"), 1)
	for name, want := range map[string]string{
		"old":    "[]",      // over for a day: whole
		"middle": "[3]",     // it may go on: its newest file holds its state
		"new":    "[1 2 3]", // in use
	} {
		if got := filesOf(t, s, named(name)); got != want {
			t.Errorf("files of %s are %s, want %s", name, got, want)
		}
	}
	mustVerify(t, s)
}

// TestAStopOutlivesRetention: else deleting the log would lift it.
func TestAStopOutlivesRetention(t *testing.T) {
	s := manyFiles(t)
	if err := s.Control(context.Background(), named("old"), engine.Control{Do: engine.ControlStop, Reason: "enough"}, nil); err != nil {
		t.Fatal(err)
	}
	age(t, s, named("old"), 400*24*time.Hour)
	fresh := &Store{Dir: s.Dir, Env: testEnv}
	fill(t, fresh, named("opening"), 1)
	if got := filesOf(t, s, named("old")); got != "[3]" {
		t.Errorf("files of the stopped session are %s", got)
	}
	if got := state(t, fresh, named("old")); !strings.Contains(got, `"reason":"enough"`) {
		t.Errorf("the stop is forgotten: %s", got)
	}
	mustVerify(t, s)
}

func TestSessionsInUseAreLeftAlone(t *testing.T) {
	s := manyFiles(t)
	age(t, s, named("old"), 400*24*time.Hour)
	lock, err := lockDir(context.Background(), s.sessionDir(named("old")))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	fill(t, &Store{Dir: s.Dir, Env: testEnv}, named("opening"), 1)
	if got := filesOf(t, s, named("old")); got != "[1 2 3]" {
		t.Errorf("files are %s", got)
	}
}

// TestPurgeDoesNotHideACut: a note about some lines excuses no others.
func TestPurgeDoesNotHideACut(t *testing.T) {
	s := manyFiles(t)
	age(t, s, named("old"), 30*24*time.Hour+90*time.Second)
	fill(t, &Store{Dir: s.Dir, Env: testEnv}, named("opening"), 1)
	if got := filesOf(t, s, named("old")); got != "[2 3]" {
		t.Fatalf("files are %s", got)
	}
	mustVerify(t, s)
	if err := os.Remove(filepath.Join(s.sessionDir(named("old")), fileName(2))); err != nil {
		t.Fatal(err)
	}
	if got := problems(t, s, Check{}); !strings.Contains(got, "does not record that retention") {
		t.Errorf("verify says %q", got)
	}
	os.RemoveAll(s.sessionDir(named("old")))
	if got := problems(t, s, Check{}); !strings.Contains(got, "the chain is missing") {
		t.Errorf("verify says %q", got)
	}
}
