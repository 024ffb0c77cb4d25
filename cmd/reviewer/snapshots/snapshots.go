// Package snapshots opens the store of checkpoints of a workspace according to the settings, and
// takes the checkpoints that reviews request.
//
// Out of scope: when a checkpoint is taken and what it means for the call
// (engine/act), and how files are stored (engine/checkpoint).
package snapshots

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// Folder returns the folder of a state directory's stores of checkpoints.
func Folder(home string) string { return filepath.Join(home, "checkpoints") }

// Secret returns the secret from which the keys of a state directory's stores of checkpoints are
// derived.
func Secret(log *audit.Store) ([]byte, error) {
	mac, err := log.MAC()
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(mac([]byte("reviewer checkpoints")))
}

// Bounds returns the bounds of checkpoints according to the settings. home is the user's home
// directory: a workspace that contains it is not scanned as a whole.
func Bounds(c *settings.Checkpoints, workspace, home string) checkpoint.Bounds {
	return checkpoint.Bounds{MaxFileBytes: c.MaxFileBytes, MaxBytes: c.MaxBytes, MaxFiles: int(c.MaxFiles),
		IgnoredFileBytes: c.Ignored.MaxFileBytes, IgnoredBytes: c.Ignored.MaxBytes, IgnoredFiles: int(c.Ignored.MaxFiles),
		Generated: c.Generated, Budget: time.Duration(c.BudgetMS) * time.Millisecond, Targeted: TooLarge(workspace, home)}
}

// Options returns the options for opening a workspace's store under a policy, given its settings
// and rows.
func Options(log *audit.Store, world classify.System, workspace string, c *settings.Checkpoints,
	rows engine.Rows) (o checkpoint.Options, err error) {
	if o.Secret, err = Secret(log); err != nil {
		return o, err
	}
	o.Skip = []string{log.Dir}
	o.Sealed = classify.HoldsCredentials(world, workspace, rows)
	o.Bounds = Bounds(c, workspace, world.Home)
	return o, nil
}

// TooLarge reports whether a folder is the root of a disk, a home directory or above one:
// then only files that are named are stored.
func TooLarge(workspace, home string) bool {
	if filepath.Dir(workspace) == workspace {
		return true
	}
	if home == "" {
		return false
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	rel, err := filepath.Rel(workspace, home)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Taker takes checkpoints of any workspace.
type Taker struct {
	Log   *audit.Store
	World classify.System
}

// Checkpoint takes a checkpoint; see [act.Files].
func (t *Taker) Checkpoint(ctx context.Context, c act.CheckpointOf) (act.Checkpointed, error) {
	root, err := filepath.EvalSymlinks(c.Workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return act.Checkpointed{Result: engine.CheckpointNothing}, nil
	}
	if err != nil {
		return act.Checkpointed{}, err
	}
	store, err := t.open(ctx, root, c.Policy)
	if err != nil {
		return act.Checkpointed{}, err
	}
	r := checkpoint.Request{When: checkpoint.BeforeCall, By: checkpoint.ByOthers, Session: c.Session, Call: c.Call, Time: c.Time,
		First: relative(root, c.CWD, c.First), Within: t.within(root, c), Only: c.Only}
	if c.After {
		r.When = checkpoint.AfterCall
	}
	if c.Own {
		r.By = checkpoint.BySession
	}
	if c.Save != nil {
		r.Save = saveOf(root, c.Save)
	}
	taken, err := store.Take(ctx, r)
	if err != nil {
		return act.Checkpointed{}, err
	}
	got := described(taken, r.By, root)
	if got.Unsaved = taken.Unsaved; c.Save != nil && taken.Unsaved == "" {
		got.Facts.Saved = &engine.Saved{Files: int64(taken.Save.Files), Bytes: taken.Save.Bytes, Until: taken.Save.Until}
	}
	return got, nil
}

// saveOf returns what is to be saved as a store has it. The paths are those of the files themselves: links
// are resolved in their folders.
func saveOf(root string, s *act.SaveOf) *checkpoint.Save {
	save := &checkpoint.Save{MaxFiles: int(s.MaxFiles), MaxBytes: s.MaxBytes, DayFiles: int(s.DayFiles), DayBytes: s.DayBytes, Until: s.Until}
	for _, t := range s.Targets {
		p := filepath.FromSlash(t.Path)
		if p = inStore(root, filepath.Join(realPath(filepath.Dir(p)), filepath.Base(p))); p == "." {
			p = ""
		}
		save.Targets = append(save.Targets, checkpoint.Target{Path: p, Below: t.Below, Pattern: t.Pattern, Unignored: t.Unignored})
	}
	return save
}

// within returns the folders outside the workspace of which everything is stored; if the
// workspace is too large to be read as a whole, those inside are among them. The root of a
// disk and the home directory are too large, too.
func (t *Taker) within(root string, c act.CheckpointOf) []string {
	targeted := TooLarge(root, t.World.Home)
	return slices.DeleteFunc(relative(root, c.CWD, c.Within), func(p string) bool {
		inside := !filepath.IsAbs(filepath.FromSlash(p))
		return inside && !targeted || !inside && TooLarge(filepath.FromSlash(p), t.World.Home)
	})
}

// reserve is the part of the hook's time that is kept for recording the result and answering.
const reserve = time.Second

// open opens the store of a workspace.
func (t *Taker) open(ctx context.Context, root string, p *review.Policy) (*checkpoint.Store, error) {
	if p == nil {
		p = &review.Policy{}
	}
	o, err := Options(t.Log, t.World, root, &p.Settings.Checkpoints, p.Rows)
	if err != nil {
		return nil, err
	}
	if end, ok := ctx.Deadline(); ok {
		o.Bounds.Budget = max(min(o.Bounds.Budget, time.Until(end)-reserve), time.Millisecond)
	}
	return checkpoint.Open(Folder(t.Log.Dir), root, o)
}

// described is the recorded description of a checkpoint.
func described(taken *checkpoint.Taken, by checkpoint.By, root string) act.Checkpointed {
	got := act.Checkpointed{Result: engine.CheckpointUnchanged, Root: filepath.ToSlash(root)}
	got.Facts = engine.CheckpointFacts{ID: taken.ID, Files: int64(taken.Files), Left: int64(taken.LeftAll), Unseen: int64(len(taken.Unseen))}
	if taken.New {
		got.Result, got.Facts.Stored, got.Facts.Changed = engine.CheckpointTaken, taken.Stored, int64(len(taken.Changes))
	}
	if len(taken.Changes) > 0 {
		got.Facts.By = string(by)
	}
	for _, c := range taken.Changes {
		p := c.Path
		if !filepath.IsAbs(filepath.FromSlash(p)) {
			p = strings.TrimSuffix(got.Root, "/") + "/" + p
		}
		got.Changes = append(got.Changes, act.FileChange{Path: p, Folder: isFolder(c.Before) || isFolder(c.After)})
	}
	return got
}

func isFolder(e *checkpoint.Entry) bool { return e != nil && e.Kind == checkpoint.Folder }

// relative returns paths as a store has them: under the workspace relative to it, else
// absolute. For a symbolic link, the path that it leads to comes after its own.
func relative(root, cwd string, paths []string) []string {
	var list []string
	add := func(p string) {
		if p = inStore(root, p); p != "." && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	for _, p := range paths {
		p = filepath.FromSlash(p)
		if !filepath.IsAbs(p) {
			p = filepath.Join(cwd, p)
		}
		add(filepath.Join(realPath(filepath.Dir(p)), filepath.Base(p))) // a link itself
		add(realPath(p))
	}
	return list
}

// inStore returns a path as a store has it: under the workspace relative to it, else absolute.
func inStore(root, p string) string {
	if rel, err := filepath.Rel(root, p); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		p = rel
	}
	return filepath.ToSlash(p)
}

// realPath resolves the symbolic links of a path, which need not exist yet.
func realPath(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	if dir := filepath.Dir(p); dir != p {
		return filepath.Join(realPath(dir), filepath.Base(p))
	}
	return p
}
