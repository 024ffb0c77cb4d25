package bundles

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Limits of a folder that is read at once: the policy, its tests and its cases.
const (
	maxSnapshot      = 256 << 20 // bytes
	maxSnapshotFiles = 50_000
)

// Snapshot reads a policy's folder once, so that the same files are checked, tested and packed,
// even if they change in the meantime. Of files that belong neither to the policy nor to its tests,
// it has only the names.
//
// Links are read where they lead to a file in the folder. A link to anywhere else
// is an error: for fsys of an os.Root also one that leads out of it.
func Snapshot(fsys fs.FS) (Memory, error) {
	s := snapshot{fsys, Memory{}, maxSnapshot}
	if err := fs.WalkDir(fsys, ".", s.visit); err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	return s.files, nil
}

type snapshot struct {
	fsys  fs.FS
	files Memory
	left  int // bytes that may still be read
}

func (s *snapshot) visit(name string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
		return fs.SkipDir
	case d.IsDir():
		return nil
	case d.Type()&fs.ModeSymlink != 0:
		if err := s.follow(name); err != nil {
			return err
		}
	}
	if len(s.files) == maxSnapshotFiles {
		return fmt.Errorf("the folder has more than %d files; name the policy's own folder", maxSnapshotFiles)
	}
	s.files[name] = nil
	if !counts(name) && !isTest(name) {
		return nil
	}
	return s.read(name)
}

func (s *snapshot) read(name string) error {
	content, err := readBounded(s.fsys, name)
	if err != nil {
		return err
	}
	if s.left -= len(content); s.left < 0 {
		return fmt.Errorf("the folder has more than %d MB; name the policy's own folder", maxSnapshot>>20)
	}
	s.files[name] = content
	return nil
}

// follow refuses links that lead elsewhere.
func (s *snapshot) follow(name string) error {
	info, err := fs.Stat(s.fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return inFile(name).wrong("is a dangling link; remove it, or replace it with the file itself")
	case err != nil:
		return inFile(name).wrong("is a link that leads out of the folder, or cannot be followed; replace it with the file itself")
	case info.IsDir():
		return inFile(name).wrong("is a link to a folder; replace it with the folder itself")
	}
	return nil
}

// isTest reports whether a file is a test of a policy, by its name.
func isTest(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".txtar":
		return strings.HasPrefix(name, "cases/")
	}
	return strings.HasSuffix(name, "_test.rego")
}
