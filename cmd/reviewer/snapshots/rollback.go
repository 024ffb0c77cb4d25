package snapshots

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
)

// Rollback restores the files of a workspace; see [act.Files].
func (t *Taker) Rollback(ctx context.Context, c act.RollbackOf) (act.RolledBack, error) {
	root, err := filepath.EvalSymlinks(c.Workspace)
	if err != nil {
		return act.RolledBack{}, err
	}
	store, err := t.open(ctx, root, c.Policy)
	if err != nil {
		return act.RolledBack{}, err
	}
	cut := store.Interrupted()
	done, err := store.Restore(ctx, checkpoint.RestoreRequest{To: c.Checkpoint, Session: c.Session, Time: c.Time})
	if conflict := (*checkpoint.ConflictError)(nil); errors.As(err, &conflict) {
		return act.RolledBack{Conflicts: conflict.Paths}, err
	}
	if err != nil {
		return act.RolledBack{}, err
	}
	undo, err := undoOf(store, c, cut, done)
	return act.RolledBack{Undo: undo, Restored: len(done.Changes), Kept: len(done.Kept), Moved: movedIn(done)}, err
}

// undoOf returns the checkpoint that undoes all attempts to restore for a decision: one
// may have been cut off, by a kill, while it restored or before it could be recorded.
func undoOf(store *checkpoint.Store, c act.RollbackOf, cut *checkpoint.Interrupted, done *checkpoint.Restored) (string, error) {
	if cut != nil && cut.To == c.Checkpoint && cut.Undo != "" {
		return cut.Undo, nil
	}
	if len(done.Changes) > 0 {
		return done.Undo, nil
	}
	list, err := store.List()
	for i := 1; i < len(list); i++ {
		if l := &list[i]; l.When == checkpoint.AfterRestore && l.Session == c.Session && l.T == c.Time {
			return list[i-1].ID, err
		}
	}
	return "", err
}

// movedIn counts the repositories that are not as they were.
func movedIn(r *checkpoint.Restored) (n int) {
	for _, was := range r.Then {
		for _, is := range r.Now {
			if is.Dir == was.Dir && is != was {
				n++
			}
		}
	}
	return n
}
