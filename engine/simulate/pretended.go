package simulate

import (
	"context"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/act"
)

// pretended is a act.Files without files: every call changes something, and every
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
	return act.Checkpointed{Result: engine.CheckpointTaken, Facts: engine.CheckpointFacts{ID: p.next()}}, nil
}

// Rollback implements act.Files.
func (p *pretended) Rollback(context.Context, act.RollbackOf) (act.RolledBack, error) {
	return act.RolledBack{Undo: p.next(), Restored: 1}, nil
}
