package wiring

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
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
	MAC       func([]byte) string // keyed digest of the state directory
	Policy    *bundles.Effective  // says which files hold secrets, and has the bounds; nil: no file does
}

// Dir returns the folder of all stores.
func (c Checkpoints) Dir() string { return filepath.Join(c.StateHome, "checkpoints") }

// OpenCheckpoints returns the store of a workspace.
func OpenCheckpoints(c Checkpoints, workspace string) (*checkpoint.Store, error) {
	o, err := c.options(workspace)
	if err != nil {
		return nil, err
	}
	return checkpoint.Open(c.Dir(), workspace, o)
}

// OpenCheckpointsIn returns the store in a folder, for those who know its workspace.
func OpenCheckpointsIn(c Checkpoints, dir, workspace string) (*checkpoint.Store, error) {
	o, err := c.options(workspace)
	if err != nil {
		return nil, err
	}
	return checkpoint.OpenDir(dir, o)
}

func (c Checkpoints) options(workspace string) (o checkpoint.Options, err error) {
	if o.Secret, err = hex.DecodeString(c.MAC([]byte("reviewer checkpoints"))); err != nil {
		return o, err
	}
	o.Bounds = usualBounds()
	if c.Policy != nil {
		o.Sealed = classify.Secrets(classify.NewRows(c.Policy.RowLayers()), c.UserHome, workspace)
		if err := readBounds(c.Policy.Settings["checkpoints"], &o.Bounds); err != nil {
			return o, err
		}
	}
	o.Bounds.Targeted = TooLarge(workspace, c.UserHome)
	return o, nil
}

// usualBounds are those where a policy's settings have none.
func usualBounds() checkpoint.Bounds {
	return checkpoint.Bounds{
		MaxFileBytes: 100 << 20, MaxBytes: 4 << 30, MaxFiles: 300_000,
		IgnoredFileBytes: 8 << 20, IgnoredBytes: 64 << 20, IgnoredFiles: 10_000,
		Generated: []string{"node_modules", ".venv", "venv", "__pycache__", ".next", ".gradle", "target"},
		Budget:    10 * time.Second,
	}
}

// readBounds reads the settings checkpoints, if there are any.
func readBounds(settings any, b *checkpoint.Bounds) error {
	if settings == nil {
		return nil
	}
	var said struct {
		FileBytes int64 `json:"max_file_bytes"`
		Bytes     int64 `json:"max_bytes"`
		Files     int   `json:"max_files"`
		Ignored   struct {
			FileBytes int64 `json:"max_file_bytes"`
			Bytes     int64 `json:"max_bytes"`
			Files     int   `json:"max_files"`
		} `json:"ignored"`
		Generated []string `json:"generated"`
		Budget    int64    `json:"budget_ms"`
	}
	raw, err := json.Marshal(settings)
	if err == nil {
		err = json.Unmarshal(raw, &said)
	}
	if err != nil {
		return fmt.Errorf("read the settings checkpoints: %w", err)
	}
	*b = checkpoint.Bounds{MaxFileBytes: said.FileBytes, MaxBytes: said.Bytes, MaxFiles: said.Files,
		IgnoredFileBytes: said.Ignored.FileBytes, IgnoredBytes: said.Ignored.Bytes, IgnoredFiles: said.Ignored.Files,
		Generated: said.Generated, Budget: time.Duration(said.Budget) * time.Millisecond}
	return nil
}

// TooLarge reports whether a folder is the root of a disk, a home directory or above one: only
// files that are named are then stored.
func TooLarge(workspace, home string) bool {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	rel, err := filepath.Rel(workspace, home)
	return workspace == filepath.Dir(workspace) || home != "" && err == nil && filepath.IsLocal(rel)
}
