// Package osfile wraps file operations that differ between operating systems:
// locks, identity, owners and permissions, opening without following links, and
// flushing to disk. Each function documents its guarantees on every system; what a
// system cannot do is an error or a documented unknown, never a guess.
//
// Out of scope: which files exist, what they contain, and what their names
// mean. Names are in the system's own form.
package osfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLocked is returned when another process holds a lock.
var ErrLocked = errors.New("another process holds the lock")

// ErrLink is returned for a symbolic link where links are refused.
var ErrLink = errors.New("it is a symbolic link; replace it with the file itself")

// ErrNotFolder is returned where a file is in place of a folder.
var ErrNotFolder = errors.New("not a directory")

// Missing returns the error of opening a path that is not there. Windows reports a file in
// place of one of its folders in the same way; there it becomes the error
// of the other systems.
func Missing(path string, err error) error {
	for dir := filepath.Dir(path); errors.Is(err, fs.ErrNotExist); dir = filepath.Dir(dir) {
		switch info, there := os.Stat(dir); {
		case there == nil && !info.IsDir():
			return &fs.PathError{Op: "open", Path: dir, Err: ErrNotFolder}
		case there == nil || dir == filepath.Dir(dir):
			return err
		}
	}
	return err
}

// ID identifies a file as long as it exists, regardless of its name.
type ID struct {
	Device, File uint64
}

// Shared reports whether several processes may hold a lock together.
type Shared bool

// The two kinds of locks.
const (
	Exclusive Shared = false
	Together  Shared = true
)

// IdentifyPath returns the ID of the file at a path, given its information,
// which contains the ID on some systems.
func IdentifyPath(path string, info fs.FileInfo) (ID, error) {
	if id, ok := IdentifyInfo(info); ok {
		return id, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return ID{}, err
	}
	defer f.Close()
	return Identify(f)
}

// remedy returns the command, on a system, that keeps others from reading a file. owner
// and other are security identifiers, which only Windows needs: those of the user and of
// an account that can read the file.
func remedy(system, path, owner, other string) string {
	if system == "windows" {
		return icacls(path, owner, "F", other)
	}
	return "chmod 600 " + path
}

// icacls returns the command of Windows that leaves rights on a file to one account: it
// drops what the folder passes on, and what was granted to another account.
func icacls(path, owner, rights, other string) string {
	command := fmt.Sprintf(`icacls "%s" /inheritance:r /grant:r "*%s:%s"`, path, owner, rights)
	if other != "" {
		command += fmt.Sprintf(` /remove:g "*%s"`, other)
	}
	return command
}
