package simulate

import (
	"context"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/review"
)

// pretended is a review.Files without files: every call changes something, and every
// rollback succeeds.
type pretended struct{ n int }

func (p *pretended) next() string {
	p.n++
	return fmt.Sprintf("00000000-%d", p.n)
}

// Checkpoint implements review.Files.
func (p *pretended) Checkpoint(_ context.Context, c review.CheckpointOf) (review.Checkpointed, error) {
	if c.After {
		return review.Checkpointed{Result: engine.CheckpointNothing}, nil
	}
	return review.Checkpointed{Result: engine.CheckpointTaken, Facts: engine.CheckpointFacts{ID: p.next()}}, nil
}

// Rollback implements review.Files.
func (p *pretended) Rollback(context.Context, review.RollbackOf) (review.RolledBack, error) {
	return review.RolledBack{Undo: p.next(), Restored: 1}, nil
}
