package active

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/releases"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// RestorePlan is the steps that make an earlier policy effective again.
type RestorePlan struct {
	Target  *bundles.Effective
	Bundles []BundleBack // first, in the order of the layers
	Folder  *FolderBack  // of the user layer; nil: it is not changed
	Project bool         // the project layer differs: it belongs to the workspace, and is not changed
}

// BundleBack is a layer that returns to a stored bundle, or to none.
type BundleBack struct {
	Layer string
	To    releases.Activation
	Files *bundles.Bundle // files of a base layer that was never a bundle here and becomes one; nil: see To
}

// FolderBack is a folder that gets its previous files back.
type FolderBack struct {
	Dir    string
	Files  map[string][]byte // empty: the layer had none
	Before string            // digest of the current files; empty: they cannot be read
	After  string            // digest after the restore; empty: there is none
}

// Nothing reports whether the policy is effective already, apart from the project
// layer.
func (r *RestorePlan) Nothing() bool { return len(r.Bundles) == 0 && r.Folder == nil }

// PlanRestore determines the steps, or why the policy cannot be restored. It changes
// nothing.
func (h *Layers) PlanRestore(target *bundles.Effective) (*RestorePlan, error) {
	s, err := h.Releases.State()
	if err != nil {
		return nil, err
	}
	r := &RestorePlan{Target: target}
	for _, layer := range ActiveKinds() {
		if err := h.planLayer(r, s, layer); err != nil {
			return nil, err
		}
	}
	now, _ := h.digestOf(bundles.Project)
	r.Project = now != digestIn(target, bundles.Project)
	return r, nil
}

// digestOf returns the current digest of a layer; empty if there is none, or
// none that can be read.
func (h *Layers) digestOf(layer string) (string, *releases.Activation) {
	var active *releases.Activation
	if a, ok := h.Active.Layers[layer]; ok && !a.None() {
		active = &a
	}
	s, err := h.Source(layer)
	if err != nil || s == nil {
		return "", active
	}
	b, err := s.Load()
	if err != nil {
		return "", active
	}
	return b.Digest, active
}

func digestIn(e *bundles.Effective, layer string) string {
	for _, l := range e.Layers {
		if l.Layer == layer {
			return l.Digest
		}
	}
	return ""
}

func filesIn(e *bundles.Effective, layer string) map[string][]byte {
	for _, l := range e.Layers {
		if l.Layer == layer {
			return l.Files
		}
	}
	return nil
}

// planLayer plans one layer: a stored bundle, the built-in policy, or, for the user
// layer, its folder.
func (h *Layers) planLayer(r *RestorePlan, s *releases.State, layer string) error {
	want := digestIn(r.Target, layer)
	now, active := h.digestOf(layer)
	if now == want && (want != "" || active == nil && !h.hasFolder(layer)) {
		return nil
	}
	if to, ok := keptRelease(s, layer, want); ok {
		r.Bundles = append(r.Bundles, BundleBack{Layer: layer, To: to})
		return nil
	}
	switch {
	case layer == bundles.Base:
		return h.planBase(r, want, active)
	case layer == bundles.User:
		if active != nil {
			r.Bundles = append(r.Bundles, BundleBack{Layer: layer, To: releases.Activation{Layer: layer}})
		}
		if want != "" || h.hasFolder(layer) {
			r.Folder = &FolderBack{Dir: h.Dir(layer), Files: filesIn(r.Target, layer), Before: now, After: want}
		}
		return nil
	case want == "" && active != nil:
		r.Bundles = append(r.Bundles, BundleBack{Layer: layer, To: releases.Activation{Layer: layer}})
		return nil
	}
	return fmt.Errorf("its %s layer (%s) was the folder %s, which only an administrator of this machine can change: ask for the files "+
		"as they were (`reviewer policy history diff %.12s active` lists what differs), and run this again", layer, orNone(want), h.Dir(layer),
		r.Target.Digest)
}

func orNone(digest string) string {
	if digest == "" {
		return "none"
	}
	return fmt.Sprintf("%.20s", digest)
}

func (h *Layers) hasFolder(layer string) bool {
	files, err := filesOfLayer(layer, h.Dir(layer))
	return err != nil || files != nil
}

// planBase plans the base layer: the built-in policy of this version, or that of
// another version, which becomes a bundle and replaces it.
func (h *Layers) planBase(r *RestorePlan, want string, active *releases.Activation) error {
	_, shipped, err := bundles.BuiltIn()
	switch {
	case err != nil:
		return err
	case want == shipped && active != nil:
		r.Bundles = append(r.Bundles, BundleBack{Layer: bundles.Base, To: releases.Activation{Layer: bundles.Base}})
		return nil
	}
	was := r.Target.Layer(bundles.Base)
	if was == nil {
		return fmt.Errorf("its built-in layer (%s) was not stored; install the version of reviewer that shipped it", orNone(want))
	}
	r.Bundles = append(r.Bundles, BundleBack{Layer: bundles.Base, Files: was})
	return nil
}

// keptRelease returns the newest activation of a policy in a layer.
func keptRelease(s *releases.State, layer, digest string) (releases.Activation, bool) {
	for _, a := range slices.Backward(s.History) {
		if a.Layer == layer && !a.None() && a.Digest == digest {
			return a, true
		}
	}
	return releases.Activation{}, false
}

// noteRestored is the name of the ledger record about a restored folder.
const noteRestored = "policy_restored"

// cutShort is the content of a folder's settings while its files are changed: it is
// invalid, so calls are denied until all files are there.
const cutShort = "restoring_was_cut_short_run_policy_history_restore_again: true\n"

// Restore restores the files of a folder, after it has recorded that in the ledger.
// Files that no digest covers, such as cases, stay. Files that cannot be read as a
// policy are copied first, since they are not in the history; it returns the copy's
// name.
func (f *FolderBack) Restore(ctx context.Context, log *audit.Store, now int64, text string) (aside string, err error) {
	there, _ := bundles.FilesThatCount(os.DirFS(f.Dir))
	if f.Before == "" && len(there) > 0 {
		aside = fmt.Sprintf("%s.before-%d", f.Dir, now)
		if err := os.CopyFS(aside, os.DirFS(f.Dir)); err != nil {
			return "", fmt.Errorf("copy the folder aside: %w", err)
		}
	}
	detail := fmt.Sprintf("user folder: %s to %s, %s", orNone(f.Before), orNone(f.After), text)
	if err := log.Note(ctx, engine.Note{What: noteRestored, Detail: detail}); err != nil {
		return aside, err
	}
	return aside, f.write(there)
}

// write changes the folder. The settings are written last: until then they are
// invalid, so that every call is denied.
func (f *FolderBack) write(there map[string][]byte) error {
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return fmt.Errorf("create the folder of the policy: %w", err)
	}
	if err := f.put(settingsFile, []byte(cutShort)); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(f.Files)) {
		if name == settingsFile {
			continue
		}
		if err := f.put(name, f.Files[name]); err != nil {
			return err
		}
	}
	for name := range there {
		if _, keep := f.Files[name]; keep || name == settingsFile {
			continue
		}
		if err := os.Remove(filepath.Join(f.Dir, filepath.FromSlash(name))); err != nil {
			return fmt.Errorf("remove %s from the folder of the policy: %w", name, err)
		}
	}
	if settings, ok := f.Files[settingsFile]; ok {
		return f.put(settingsFile, settings)
	}
	return os.Remove(filepath.Join(f.Dir, settingsFile))
}

func (f *FolderBack) put(name string, content []byte) error {
	return putFile(filepath.Join(f.Dir, filepath.FromSlash(name)), content)
}

// putFile writes a file atomically, which only its owner can read.
func putFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(content)
	if other := temporary.Sync(); err == nil {
		err = other
	}
	if other := temporary.Close(); err == nil {
		err = other
	}
	if err == nil {
		err = osfile.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
