package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// ErrSettingsChanged means that a file was changed after it was read.
var ErrSettingsChanged = errors.New("the file was changed in the meantime; run the command again")

// backupInfix is between the name of a file and the number of its backup.
const backupInfix = ".reviewer-backup-"

// WriteSettings atomically replaces a settings file. old is what the caller read (nil:
// there was no file); if the file differs from it by now, it is not changed and the
// error is ErrSettingsChanged. The old bytes are kept in a backup next to the file,
// whose name is returned. Links are followed, mode and owner kept. Nothing is written
// if new equals old. If new is nil, the file is removed.
func WriteSettings(path string, old, new []byte) (backup string, err error) {
	return write(path, old, new, 0o644) // readable by all, since the managed file must be
}

// Write is WriteSettings for the file of a layer.
func (l Layer) Write(old, new []byte) (backup string, err error) {
	if l.Run {
		return write(l.Path, old, new, 0o755)
	}
	return WriteSettings(l.Path, old, new)
}

func write(path string, old, new []byte, mode fs.FileMode) (backup string, err error) {
	if path, err = followLinks(path); err != nil {
		return "", fmt.Errorf("write settings: %w", err)
	}
	if err := unchanged(path, old); err != nil {
		return "", fmt.Errorf("write settings: %w", err)
	}
	if (old == nil) == (new == nil) && bytes.Equal(old, new) {
		return "", nil
	}
	if old != nil {
		if backup, err = keepBackup(path, old); err != nil {
			return "", fmt.Errorf("keep a backup of the settings: %w", err)
		}
	}
	if new == nil {
		err = os.Remove(path)
	} else {
		err = replaceFile(path, old, new, mode)
	}
	if err != nil {
		return backup, fmt.Errorf("write settings: %w", err)
	}
	return backup, nil
}

// followLinks returns the file that is to be replaced: a rename onto a link
// would replace the link. The last target need not exist.
func followLinks(path string) (string, error) {
	for range 40 {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if !info.Mode().IsRegular() {
				return "", fmt.Errorf("%s is not a file", path)
			}
			return path, nil
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", fmt.Errorf("%s: too many links", path)
}

func unchanged(path string, old []byte) error {
	now, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		now, err = nil, nil
	}
	if err != nil {
		return err
	}
	if (now == nil) != (old == nil) || !bytes.Equal(now, old) {
		return fmt.Errorf("%s: %w", path, ErrSettingsChanged)
	}
	return nil
}

func keepBackup(path string, old []byte) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		backup := path + backupInfix + strconv.Itoa(n)
		f, err := os.OpenFile(backup, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return backup, fillFile(f, old, info, info.Mode().Perm())
	}
}

func replaceFile(path string, old, new []byte, mode fs.FileMode) error {
	var info fs.FileInfo
	var err error
	if old == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	} else {
		info, err = os.Stat(path)
	}
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".reviewer-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // no longer there after the rename
	if err := fillFile(tmp, new, info, mode); err != nil {
		return err
	}
	if err := unchanged(path, old); err != nil {
		return err
	}
	if err := osfile.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return osfile.SyncDir(filepath.Dir(path))
}

// fillFile writes a file to the disk with the mode and owner of another, or with a mode
// if there is none.
func fillFile(f *os.File, data []byte, like fs.FileInfo, mode fs.FileMode) error {
	_, err := f.Write(data)
	if like != nil {
		mode = like.Mode().Perm()
		err = errors.Join(err, osfile.SameOwner(f, like))
	}
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
}
