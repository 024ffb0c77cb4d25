package simulate

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/act"
)

// pretended is an act.Files without files: every call changes something, and every
// rollback succeeds.
type pretended struct{ n int }

func (p *pretended) next() string {
	p.n++
	return fmt.Sprintf("00000000-%d", p.n)
}

// Checkpoint implements act.Files.
func (p *pretended) Checkpoint(_ context.Context, c act.CheckpointOf) (act.Checkpointed, error) {
	if c.After {
		return act.Checkpointed{Result: engine.CheckpointNothing}, nil
	}
	return act.Checkpointed{Result: engine.CheckpointTaken, Facts: engine.CheckpointFacts{ID: p.next(), Saved: wouldKeep(c.Save)}}, nil
}

// wouldKeep is what a save that nobody makes is taken to keep. Whether files fit the limits is known only on their disk.
func wouldKeep(s *act.SaveOf) *engine.Saved {
	if s == nil {
		return nil
	}
	return &engine.Saved{Until: s.Until}
}

// saved is an act.Files without files and checkpoints: only what a call destroys is taken to be saved.
type saved struct{}

// Checkpoint implements act.Files.
func (saved) Checkpoint(_ context.Context, c act.CheckpointOf) (act.Checkpointed, error) {
	if c.Save == nil {
		return act.Checkpointed{Result: engine.CheckpointNothing}, nil
	}
	return act.Checkpointed{Result: engine.CheckpointUnchanged, Facts: engine.CheckpointFacts{Saved: wouldKeep(c.Save)}}, nil
}

// Rollback implements act.Files.
func (saved) Rollback(context.Context, act.RollbackOf) (act.RolledBack, error) {
	return act.RolledBack{}, errors.New("no checkpoint is stored")
}

// Rollback implements act.Files.
func (p *pretended) Rollback(context.Context, act.RollbackOf) (act.RolledBack, error) {
	return act.RolledBack{Undo: p.next(), Restored: 1}, nil
}
