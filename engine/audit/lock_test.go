package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// TestALockOutlivesItsFolder: who waits for the lock of a folder that retention
// removes gets the lock of the new folder, not of a file without a name.
func TestALockOutlivesItsFolder(t *testing.T) {
	goneWhileOpen(t)
	dir := filepath.Join(t.TempDir(), "chain")
	first, err := lockDir(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan *os.File, 1)
	go func() {
		f, err := lockDir(context.Background(), dir)
		if err != nil {
			t.Error(err)
		}
		got <- f
	}()
	time.Sleep(20 * time.Millisecond) // most likely it waits by now; if not, the test is only weaker
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	first.Close()
	second := <-got
	defer second.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if third, err := lockDir(ctx, dir); err == nil {
		third.Close()
		t.Error("two hold the lock")
	}
}

// goneWhileOpen skips a test where the name of an open file stays until it is closed:
// on file systems of Windows that are older than NTFS of Windows 10.
func goneWhileOpen(t *testing.T) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a")
	f, err := lockDir(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(os.Remove(f.Name()), os.Remove(dir)); err != nil {
		t.Skipf("an open file keeps its folder here: %v", err)
	}
}

// TestSyncs counts what reaches the disk before an answer.
func TestSyncs(t *testing.T) {
	now := time.Now()
	ago := func(t *testing.T, s *Store, age time.Duration) {
		t.Helper()
		when := now.Add(-age)
		if err := os.Chtimes(filepath.Join(s.sessionDir(testKey), "lock"), when, when); err != nil {
			t.Fatal(err)
		}
	}
	stop := &engine.Record{Kind: engine.KindAct, Act: &engine.Act{Kind: engine.EmergencyStop, Of: "ab-1"}}
	for name, c := range map[string]struct {
		do   func(t *testing.T, s *Store) error
		want int
	}{
		"call within the second": {func(t *testing.T, s *Store) error { return add(s, testKey, pre("b")) }, 0},
		"call after it":          {func(t *testing.T, s *Store) error { ago(t, s, 2*time.Second); return add(s, testKey, pre("b")) }, 1},
		"clock set back":         {func(t *testing.T, s *Store) error { ago(t, s, -time.Hour); return add(s, testKey, pre("b")) }, 1},
		"two calls after it": {func(t *testing.T, s *Store) error {
			ago(t, s, 2*time.Second)
			return errors.Join(add(s, testKey, pre("b")), add(s, testKey, pre("c")))
		}, 1},
		"stop of policy, in chain and ledger": {func(t *testing.T, s *Store) error { return add(s, testKey, pre("b"), stop) }, 2},
		"stop of a person, in chain and ledger": {func(t *testing.T, s *Store) error {
			return s.Control(context.Background(), testKey, engine.Control{Do: engine.ControlStop}, nil)
		}, 2},
		"seal, in chain and ledger": {func(t *testing.T, s *Store) error {
			_, err := s.Seal(context.Background(), testKey)
			return err
		}, 2},
		"always": {func(t *testing.T, s *Store) error {
			s.Sync = SyncAlways
			return errors.Join(add(s, testKey, pre("b")), add(s, testKey, pre("c")))
		}, 2},
		"nothing written": {func(t *testing.T, s *Store) error {
			ago(t, s, 2*time.Second)
			return s.Update(context.Background(), testKey, func(history.Tail) error { return nil })
		}, 0},
	} {
		s := testStore(t)
		s.clock = func() time.Time { return now }
		mustAdd(t, s, testKey, pre("a"))
		ago(t, s, 0)
		synced := 0
		s.flush = func(*os.File) error { synced++; return nil }
		if err := c.do(t, s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if synced != c.want {
			t.Errorf("%s: %d syncs, want %d", name, synced, c.want)
		}
	}
}

func TestAFailedSyncIsAnError(t *testing.T) {
	s := testStore(t)
	s.Sync = SyncAlways
	want := errors.New("I/O error")
	s.flush = func(*os.File) error { return want }
	if err := add(s, testKey, pre("a")); !errors.Is(err, want) {
		t.Errorf("error is %v", err)
	}
}

// TestAFolderOfAnotherSessionIsRefused: else a stopped session could be given
// the chain of one that is not.
func TestAFolderOfAnotherSessionIsRefused(t *testing.T) {
	s := testStore(t)
	fill(t, s, testKey, 2)
	if err := os.Rename(s.sessionDir(testKey), s.sessionDir(named("other"))); err != nil {
		t.Fatal(err)
	}
	damage := (*Damage)(nil)
	if err := add(s, named("other"), pre("x")); !errors.As(err, &damage) {
		t.Errorf("error is %v, want a Damage", err)
	}
}
