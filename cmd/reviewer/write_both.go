package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// placedFile is a file that is to appear with all of its contents, or not at all.
type placedFile struct {
	path    string
	content []byte
}

// writeBoth makes two files appear whole, and the second only with the first.
// Where the second cannot be put in its place, the first is as it was before. If
// the machine stops between the two, the first is there and says of which second
// it is: so it has to name it by its digest.
func writeBoth(first, second placedFile) error {
	a, err := stage(first)
	if err != nil {
		return err
	}
	b, err := stage(second)
	if err != nil {
		return errors.Join(err, os.Remove(a))
	}
	before, err := os.ReadFile(first.path)
	existed := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.Remove(a), os.Remove(b))
	}
	if err := os.Rename(a, first.path); err != nil {
		return errors.Join(err, os.Remove(a), os.Remove(b))
	}
	if err := os.Rename(b, second.path); err != nil {
		return errors.Join(err, os.Remove(b), restore(placedFile{first.path, before}, existed))
	}
	return syncFolder(filepath.Dir(second.path))
}

// restore puts back what was there before.
func restore(f placedFile, existed bool) error {
	if !existed {
		return os.Remove(f.path)
	}
	return writeWhole(f.path, f.content)
}

// stage writes a file beside its place, where it survives a crash.
func stage(f placedFile) (string, error) {
	t, err := os.CreateTemp(filepath.Dir(f.path), ".reviewer-*")
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: there is no folder %s; make it first", f.path, filepath.Dir(f.path))
	}
	if err != nil {
		return "", err
	}
	_, err = t.Write(f.content)
	if err = errors.Join(err, t.Chmod(0o644), t.Sync(), t.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write %s: %w", f.path, err), os.Remove(t.Name()))
	}
	return t.Name(), nil
}

// syncFolder makes the names in a folder survive a crash.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
