package term

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// PlacedFile is a file to be written atomically.
type PlacedFile struct {
	Path    string
	Content []byte
}

// WriteBoth writes two files atomically, and the second only with the first. If the
// second cannot be written, the first is restored. If the machine stops in between,
// the first exists without the second, so it must name the second by its digest.
func WriteBoth(first, second PlacedFile) error {
	a, err := stage(first)
	if err != nil {
		return err
	}
	b, err := stage(second)
	if err != nil {
		return errors.Join(err, os.Remove(a))
	}
	before, err := os.ReadFile(first.Path)
	existed := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.Remove(a), os.Remove(b))
	}
	if err := osfile.Rename(a, first.Path); err != nil {
		return errors.Join(err, os.Remove(a), os.Remove(b))
	}
	if err := osfile.Rename(b, second.Path); err != nil {
		return errors.Join(err, os.Remove(b), restore(PlacedFile{first.Path, before}, existed))
	}
	return osfile.SyncDir(filepath.Dir(second.Path))
}

// restore puts back the previous files.
func restore(f PlacedFile, existed bool) error {
	if !existed {
		return os.Remove(f.Path)
	}
	return WriteWhole(f.Path, f.Content)
}

// stage writes a temporary file next to its target and syncs it.
func stage(f PlacedFile) (string, error) {
	t, err := os.CreateTemp(filepath.Dir(f.Path), ".reviewer-*")
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: no folder %s; create it first", f.Path, filepath.Dir(f.Path))
	}
	if err != nil {
		return "", err
	}
	_, err = t.Write(f.Content)
	if err = errors.Join(err, t.Chmod(0o644), t.Sync(), t.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write %s: %w", f.Path, err), os.Remove(t.Name()))
	}
	return t.Name(), nil
}
