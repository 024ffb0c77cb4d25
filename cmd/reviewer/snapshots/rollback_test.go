package snapshots

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// spoiled returns a workspace in which a session changed two files since a checkpoint, and
// the rollback of these changes.
func spoiled(t *testing.T) (*Taker, act.RollbackOf) {
	t.Helper()
	taker, workspace := taker(t)
	names := []string{filepath.Join(workspace, "a.txt"), filepath.Join(workspace, "b.txt")}
	of := act.CheckpointOf{Policy: bounded(), Workspace: workspace, Session: "s", Call: "c", Time: 1}
	for _, name := range names {
		write(t, name, "one")
	}
	before, err := taker.Checkpoint(context.Background(), of)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		write(t, name, "two, and longer")
	}
	of.After, of.Own, of.Time = true, true, 2
	if _, err = taker.Checkpoint(context.Background(), of); err != nil {
		t.Fatal(err)
	}
	return taker, act.RollbackOf{Policy: bounded(), Workspace: workspace, Session: "s", Checkpoint: before.Facts.ID, Time: 3}
}

func contains(t *testing.T, workspace, name, want string) {
	t.Helper()
	if b, err := os.ReadFile(filepath.Join(workspace, name)); err != nil || string(b) != want {
		t.Errorf("%s contains %q (%v), want %q", name, b, err, want)
	}
}

func storeOf(t *testing.T, taker *Taker, c act.RollbackOf) *checkpoint.Store {
	t.Helper()
	root, err := filepath.EvalSymlinks(c.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	store, err := taker.open(context.Background(), root, c.Policy)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// A rollback restores the files; the second try of the same one finds nothing to restore, and
// returns the same undo.
func TestRollback(t *testing.T) {
	taker, c := spoiled(t)
	first, err := taker.Rollback(context.Background(), c)
	if err != nil || first.Restored != 2 || first.Undo == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	contains(t, c.Workspace, "a.txt", "one")
	contains(t, c.Workspace, "b.txt", "one")
	again, err := taker.Rollback(context.Background(), c)
	if err != nil || again.Restored != 0 || again.Undo != first.Undo {
		t.Errorf("%+v, %v; the first: %+v", again, err, first)
	}
}

// A rollback that was cut off after it had restored one of two files restores the other one,
// and what undoes it brings both back.
func TestRollbackThatWasCutOff(t *testing.T) {
	taker, c := spoiled(t)
	store := storeOf(t, taker, c)
	undo, err := store.Take(context.Background(), checkpoint.Request{When: checkpoint.BeforeRestore, By: checkpoint.ByOthers, Session: c.Session, Time: c.Time})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(store.Dir(), "restoring"), `{"to":"`+c.Checkpoint+`","undo":"`+undo.ID+`"}`)
	write(t, filepath.Join(c.Workspace, "a.txt"), "one")
	if cut := store.Interrupted(); cut == nil || cut.To != c.Checkpoint {
		t.Fatalf("%+v", cut)
	}
	got, err := taker.Rollback(context.Background(), c)
	if err != nil || got.Restored != 1 || got.Undo != undo.ID {
		t.Fatalf("%+v, %v; undo %s", got, err, undo.ID)
	}
	contains(t, c.Workspace, "b.txt", "one")
	if cut := store.Interrupted(); cut != nil {
		t.Errorf("it still counts as cut off: %+v", cut)
	}
	c.Checkpoint, c.Time = got.Undo, 4
	if _, err := taker.Rollback(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	contains(t, c.Workspace, "a.txt", "two, and longer")
	contains(t, c.Workspace, "b.txt", "two, and longer")
}

// While another restore uses the store, nothing is restored, and the wait ends in time.
func TestRollbackWhileAnotherRuns(t *testing.T) {
	taker, c := spoiled(t)
	lock, err := osfile.OpenFile(filepath.Join(storeOf(t, taker, c).Dir(), "lock"), os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := osfile.TryLock(lock, osfile.Exclusive); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	got, err := taker.Rollback(ctx, c)
	if !errors.Is(err, context.DeadlineExceeded) || got.Undo != "" || len(got.Conflicts) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	contains(t, c.Workspace, "a.txt", "two, and longer")
}

// One file that somebody else changed refuses all of them, and is named.
func TestRollbackOfWhatOthersChanged(t *testing.T) {
	taker, c := spoiled(t)
	write(t, filepath.Join(c.Workspace, "b.txt"), "of a person, longer still")
	got, err := taker.Rollback(context.Background(), c)
	if conflict := (*checkpoint.ConflictError)(nil); !errors.As(err, &conflict) || !slices.Equal(got.Conflicts, []string{"b.txt"}) || got.Undo != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	contains(t, c.Workspace, "a.txt", "two, and longer")
	contains(t, c.Workspace, "b.txt", "of a person, longer still")
}

// A checkpoint that is not stored restores nothing, and the error names it.
func TestRollbackToNothing(t *testing.T) {
	taker, c := spoiled(t)
	c.Checkpoint = c.Checkpoint[:len(c.Checkpoint)-1] + "9"
	got, err := taker.Rollback(context.Background(), c)
	if missing := (*checkpoint.NoCheckpoint)(nil); !errors.As(err, &missing) || got.Undo != "" || got.Restored != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	contains(t, c.Workspace, "a.txt", "two, and longer")
}
