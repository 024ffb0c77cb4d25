package term

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// WriteWhole writes a file atomically. An existing file keeps its mode; anything but a
// regular file, such as a pipe or /dev/null, is written to directly.
func WriteWhole(path string, content []byte) error {
	mode := fs.FileMode(0o644)
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; expected the name of a file", path)
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(path, content, 0o644)
	case err == nil: // links are followed
		mode = info.Mode().Perm()
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
	}
	f, err := os.CreateTemp(DirOf(path), ".reviewer-*")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no folder %s; create it first", path, DirOf(path))
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = osfile.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// DirOf is the folder of a path; . if it names none.
func DirOf(path string) string {
	return filepath.Dir(path)
}
