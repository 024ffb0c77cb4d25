package active

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/kept"
	"github.com/agent-reviewer/reviewer/engine"
)

// The references that are words. A folder of that name is written ./active.
const (
	RefActive   = "active"   // the active policy in the working directory
	RefDefault  = "default"  // the built-in policy
	RefRecorded = "recorded" // what was decided: no policy
)

// RefForms describes the forms of a reference to a policy, for messages.
const RefForms = "a folder, an archive (.tar.gz), git:REV:PATH, active, default, the first 8 or more digits of a policy's digest, " +
	"or several layers joined by +"

// References resolves references to policies.
type References struct {
	Machine func() (Machine, error)
	Git     func(ctx context.Context, ref string) (fs.FS, error) // a folder of a revision, REV:PATH
	Signed  func(archive string)                                 // is called with an archive whose signatures are not checked
}

// Policy returns the policy that a reference names: RefForms, where a layer is on top
// of the built-in policy. recorded is not a policy.
func (r References) Policy(ctx context.Context, ref string) (*bundles.Effective, error) {
	if parts := StackParts(ref); len(parts) > 1 {
		return r.stack(ctx, ref, parts)
	}
	switch {
	case ref == "":
		return nil, fmt.Errorf("the reference to a policy is empty; expected %s", RefForms)
	case ref == RefActive:
		return r.active()
	case ref == RefDefault:
		base, err := bundles.Default()
		if err != nil {
			return nil, err
		}
		return bundles.Assemble(base)
	case ref == RefRecorded:
		return nil, errors.New("recorded stands for the recorded decisions, not a policy; it can only be a baseline")
	}
	open, err := r.opener(ctx, ref)
	switch {
	case err != nil:
		return nil, err
	case open != nil:
		return PolicyOfFiles(ref, open)
	case isDigest(ref):
		return r.kept(ref)
	}
	return nil, fmt.Errorf("policy %s: no such folder or archive%s; expected %s", ref, nearestRef(ref), RefForms)
}

// layers returns the layers that a reference names. Those in files are not assembled: a layer over another one may name what is
// only in the other.
func (r References) layers(ctx context.Context, ref string) (layers []*bundles.Bundle, notice string, err error) {
	if ref != RefActive && ref != RefDefault {
		open, err := r.opener(ctx, ref)
		if err != nil {
			return nil, "", err
		}
		if open != nil {
			layers, err := layersOfFiles(ref, open)
			return layers, "", err
		}
	}
	e, err := r.Policy(ctx, ref)
	if err != nil {
		return nil, "", err
	}
	return e.Layers, e.Notice, nil
}

// Files returns the files of a reference that names those of one layer: of a revision
// (git:REV:PATH), of an archive, or default. They are nil for every other reference.
func (r References) Files(ctx context.Context, ref string) (fs.FS, error) {
	if ref == RefDefault {
		return bundles.DefaultFS(), nil
	}
	if tree, ok := strings.CutPrefix(ref, "git:"); ok {
		return r.Git(ctx, tree)
	}
	info, err := os.Stat(ref)
	if err != nil || info.IsDir() || !strings.HasSuffix(ref, "gz") {
		return nil, nil // the caller looks for a folder
	}
	return r.openArchive(ref, info)
}

// opener returns how to read the files that a reference names: of a revision, in a folder or in an archive. It is nil if there is
// no file of that name.
func (r References) opener(ctx context.Context, ref string) (func() (fs.FS, error), error) {
	if tree, ok := strings.CutPrefix(ref, "git:"); ok {
		return func() (fs.FS, error) { return r.Git(ctx, tree) }, nil
	}
	info, err := os.Stat(ref)
	switch {
	case err == nil && info.IsDir():
		return func() (fs.FS, error) { return os.DirFS(ref), nil }, nil
	case err == nil:
		return func() (fs.FS, error) { return r.openArchive(ref, info) }, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("policy %s: %w", ref, err)
	}
	if err := notDangling(ref); err != nil {
		return nil, fmt.Errorf("policy %w", err)
	}
	return nil, nil
}

// openArchive reads an archive, and reports if its signatures are not checked.
func (r References) openArchive(name string, info fs.FileInfo) (fs.FS, error) {
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	archive, err := bundles.OpenArchive(f)
	if err != nil {
		return nil, err
	}
	if archive.Signed {
		r.Signed(name)
	}
	return archive.Memory, nil
}

// PolicyOfFiles assembles a policy from the files of one bundle.
func PolicyOfFiles(ref string, open func() (fs.FS, error)) (*bundles.Effective, error) {
	layers, err := layersOfFiles(ref, open)
	if err != nil {
		return nil, err
	}
	e, err := bundles.Assemble(layers...)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", ref, err)
	}
	return e, nil
}

// layersOfFiles returns the layer in the files of one bundle, over the built-in policy unless it is a complete one.
func layersOfFiles(ref string, open func() (fs.FS, error)) ([]*bundles.Bundle, error) {
	files, err := open()
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", ref, err)
	}
	layers, err := LayersIn(files)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", ref, err)
	}
	if len(layers[len(layers)-1].Files) == 0 {
		return nil, fmt.Errorf("policy %s: contains no policy files at its top level; name the folder that contains .manifest, data.yaml, "+
			"settings.yaml or rules", ref)
	}
	return layers, nil
}

// isDigest reports whether a reference may be the beginning of a digest.
func isDigest(ref string) bool {
	return len(ref) >= 8 && len(ref) <= 64 && strings.Trim(ref, "0123456789abcdef") == ""
}

// active returns the policy that is active in the working directory.
func (r References) active() (*bundles.Effective, error) {
	m, err := r.Machine()
	if err != nil {
		return nil, err
	}
	return m.EffectiveHere()
}

// EffectiveHere returns the policy that is active in the working directory.
func (m Machine) EffectiveHere() (*bundles.Effective, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	return m.Effective(cwd)
}

// kept returns the stored policy whose digest has a prefix.
func (r References) kept(beginning string) (*bundles.Effective, error) {
	m, err := r.Machine()
	if err != nil {
		return nil, err
	}
	return StoredPolicy(m.Home, beginning)
}

// StoredPolicy returns the stored policy whose digest has a prefix.
func StoredPolicy(home, beginning string) (*bundles.Effective, error) {
	store := KeptIn(home)
	all, err := store.Digests()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, digest := range all {
		if strings.HasPrefix(digest, beginning) {
			found = append(found, digest)
		}
	}
	switch len(found) {
	case 0:
		if err := lost(store, beginning); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("policy %s: no policy with this digest is stored in %s%s", beginning, store.Dir, likeDigest(beginning, all))
	case 1:
		return store.Get(found[0])
	}
	return nil, fmt.Errorf("policy %s: %s match; give more digits: %s", beginning, engine.Counted(len(found), "policy", "policies"),
		strings.Join(found[:min(4, len(found))], ", "))
}

// lost returns an error about a policy that was effective here and whose files are no
// longer stored.
func lost(store kept.Store, beginning string) error {
	list, err := store.History()
	if err != nil {
		return err
	}
	for _, k := range list {
		if strings.HasPrefix(k.Digest, beginning) {
			return fmt.Errorf("policy %.12s is no longer available: it was used from %s on, but its files were removed (setting audit.policies_mb)",
				k.Digest, time.UnixMilli(k.First).UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// KeptIn returns the store of policies that were accepted or have decided.
func KeptIn(home string) kept.Store {
	return kept.Store{Dir: filepath.Join(home, "policies")}
}

// Keep stores a policy, with the time of its use, and removes the least recently used ones beyond its limit.
func (m Machine) Keep(e *bundles.Effective) error {
	kept := KeptIn(m.Home)
	kept.Budget, kept.Now = e.Settings.Audit.PoliciesMB<<20, m.Now
	return kept.Put(e)
}

// likeDigest lists the stored policies whose digests begin with a string.
func likeDigest(beginning string, all []string) string {
	for n := len(beginning) - 1; n >= 4; n-- {
		i := slices.IndexFunc(all, func(d string) bool { return strings.HasPrefix(d, beginning[:n]) })
		if i >= 0 {
			return fmt.Sprintf("; did you mean %.12s?", all[i])
		}
	}
	return ""
}

// nearestRef suggests a reference: a word, or a similar name in the folder.
func nearestRef(ref string) string {
	dir, name := filepath.Split(ref)
	near := []string{}
	if dir == "" {
		near = append(near, RefActive, RefDefault, RefRecorded)
	}
	entries, _ := os.ReadDir(filepath.Clean(dir)) // a missing folder has no similar names
	for _, e := range entries[:min(len(entries), 1000)] {
		near = append(near, e.Name())
	}
	if word := engine.Nearest(name, near); word != "" {
		return fmt.Sprintf("; did you mean %s?", dir+word)
	}
	return ""
}
