package wiring

import (
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/classify"
)

// Checkpoints is what opening a store of checkpoints takes.
type Checkpoints struct {
	StateHome string
	UserHome  string
	MAC       func([]byte) string // keyed digest of the state home
	Policy    *bundles.Effective  // says which files hold secrets
}

// Dir returns the folder of all stores.
func (c Checkpoints) Dir() string { return filepath.Join(c.StateHome, "checkpoints") }

// OpenCheckpoints returns the store of a workspace.
func OpenCheckpoints(c Checkpoints, workspace string) (*checkpoint.Store, error) {
	return checkpoint.Open(c.Dir(), workspace, c.options(workspace))
}

// OpenCheckpointsIn returns the store in a folder, for those who know its workspace.
func OpenCheckpointsIn(c Checkpoints, dir, workspace string) (*checkpoint.Store, error) {
	return checkpoint.OpenDir(dir, c.options(workspace))
}

func (c Checkpoints) options(workspace string) checkpoint.Options {
	o := checkpoint.Options{Bounds: c.bounds(workspace), Secret: []byte(c.MAC([]byte("reviewer checkpoints")))}
	if c.Policy != nil {
		o.Sealed = classify.Secrets(classify.NewRows(c.Policy.RowLayers()), c.UserHome, workspace)
	}
	return o
}

// bounds are those of the settings, or these while a policy has none.
func (c Checkpoints) bounds(workspace string) checkpoint.Bounds {
	return checkpoint.Bounds{
		MaxFileBytes: 64 << 20, MaxBytes: 1 << 30, MaxFiles: 300_000,
		IgnoredFileBytes: 1 << 20, IgnoredBytes: 64 << 20, IgnoredFiles: 2000,
		Generated: []string{"node_modules", ".venv", "venv", "target", "dist", "build", "__pycache__", ".next", ".gradle", ".cache"},
		Budget:    20 * time.Second,
		Targeted:  workspace == c.UserHome || workspace == filepath.Dir(workspace),
	}
}
