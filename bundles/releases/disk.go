package releases

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// disk is the file system operations of a store. Names are under the store's folder,
// with slashes. Tests have one that fails and crashes at every step.
type disk interface {
	Read(name string, max int64) ([]byte, error)
	Size(name string) (int64, error)
	List(dir string) ([]string, error)
	Mkdir(dir string) error                  // with its parents; it may exist
	Write(name string, content []byte) error // a new file, synced to disk
	Rename(from, to string) error            // replaces what is there
	SyncDir(dir string) error                // syncs its names to disk
	Remove(name string) error                // the file need not exist
}

// realDisk is a folder.
type realDisk struct{ dir string }

func (r realDisk) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// Read refuses links, and files that would block a hook.
func (r realDisk) Read(name string, max int64) ([]byte, error) {
	f, err := osfile.OpenItself(r.path(name), os.O_RDONLY, 0)
	if err != nil {
		return nil, osfile.Missing(r.path(name), err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > max {
		return nil, fmt.Errorf("it is not a regular file of at most %d bytes", max)
	}
	b := make([]byte, info.Size())
	_, err = io.ReadFull(f, b)
	return b, err
}

func (r realDisk) Size(name string) (int64, error) {
	info, err := os.Lstat(r.path(name))
	if err != nil {
		return 0, osfile.Missing(r.path(name), err)
	}
	return info.Size(), nil
}

func (r realDisk) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(r.path(dir))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (r realDisk) Mkdir(dir string) error { return os.MkdirAll(r.path(dir), 0o700) }

func (r realDisk) Write(name string, content []byte) error {
	f, err := os.OpenFile(r.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (r realDisk) Rename(from, to string) error { return osfile.Rename(r.path(from), r.path(to)) }

func (r realDisk) SyncDir(dir string) error { return osfile.SyncDir(r.path(dir)) }

func (r realDisk) Remove(name string) error {
	if err := os.Remove(r.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
