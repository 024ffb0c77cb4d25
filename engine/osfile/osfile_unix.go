//go:build unix

package osfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Lock waits for the lock of a file. It is held until the file is closed or the process ends
// for any reason.
func Lock(f *os.File, shared Shared) error { return flock(f, how(shared)) }

// TryLock takes the lock of a file, or returns ErrLocked at once.
func TryLock(f *os.File, shared Shared) error {
	err := flock(f, how(shared)|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

func how(shared Shared) int {
	if shared {
		return syscall.LOCK_SH
	}
	return syscall.LOCK_EX
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

// Identify returns the ID of an open file.
func Identify(f *os.File) (ID, error) {
	info, err := f.Stat()
	if err != nil {
		return ID{}, err
	}
	id, _ := IdentifyInfo(info)
	return id, nil
}

// IdentifyInfo returns the ID in a file's information, if there is one. On
// Windows there is none.
func IdentifyInfo(info fs.FileInfo) (ID, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ID{}, false
	}
	return ID{uint64(st.Dev), st.Ino}, true
}

// Links returns the number of names of a file; 0: unknown.
func Links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 0
}

// OnDisk returns the number of bytes that a file occupies on disk, which can be
// fewer than its size.
func OnDisk(info fs.FileInfo) (bytes int64, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Blocks * 512, true
}

// Private returns an error, which describes what to do, unless a file belongs to the
// user who runs this and has none of the mode bits that only its owner should
// have. On Windows the bits 0o022 stand for write access, and 0o044 for read
// access.
func Private(f *os.File, bits fs.FileMode) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, not to user %d: use another state directory (--home), or `chown` it",
			f.Name(), st.Uid, os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&bits != 0 {
		return fmt.Errorf("%s has mode %#o: other users could reach the audit log; run `chmod go-rwx %s`", f.Name(), mode, f.Name())
	}
	return nil
}

// Administered returns an error unless a file or folder belongs to the administrator and nobody else can change it. A
// link does not count as the file that it names.
func Administered(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir() && !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w", path, ErrLink)
	case !ok || st.Uid != 0:
		return fmt.Errorf("%s does not belong to root: run `chown root %s`", path, path)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others than root can write to %s: run `chmod go-w %s`", path, path)
	}
	return nil
}

// ReadByOthers returns the command that prevents others from reading a file; it is empty if they
// cannot read it.
func ReadByOthers(f *os.File) (command string, err error) {
	info, err := f.Stat()
	if err != nil || info.Mode().Perm()&0o044 == 0 {
		return "", err
	}
	return remedy("unix", f.Name(), "", ""), nil
}

// CreatePrivate creates a file that only its owner can read; there must be none yet.
func CreatePrivate(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// OpenFile opens a file as os.OpenFile does. Others may rename and delete it in the meantime, which
// Windows refuses for files opened in other ways.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}

// Truncate truncates an open file, even one that was opened for appending.
func Truncate(f *os.File, size int64) error { return f.Truncate(size) }

// OpenItself opens a file as os.OpenFile does, and returns ErrLink if the last part of the
// path is a link. It does not wait for the other end of a pipe.
func OpenItself(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, perm)
	if errors.Is(err, syscall.ELOOP) {
		return nil, ErrLink
	}
	return f, err
}

// SetTime sets a file's modification and access time.
func SetTime(f *os.File, t time.Time) error {
	tv := syscall.NsecToTimeval(t.UnixNano())
	return syscall.Futimes(int(f.Fd()), []syscall.Timeval{tv, tv})
}

// SyncDir makes the names in a folder survive a power loss. Windows has no such call: there, the
// file system's own journal does it.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// SameOwner gives an open file the owner and group of another. On Windows files
// take their owner from the folder's rules.
func SameOwner(f *os.File, like fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	want, ok := like.Sys().(*syscall.Stat_t)
	got, same := info.Sys().(*syscall.Stat_t)
	if !ok || !same || want.Uid == got.Uid && want.Gid == got.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

// KeepOwner gives the file at a path, or the link itself, the owner of its
// original, where the user may change owners: only root can.
func KeepOwner(path string, original fs.FileInfo) error {
	st, ok := original.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(st.Uid), int(st.Gid))
}

// MakePipe makes a named pipe. On Windows there are none in folders.
func MakePipe(path string, perm fs.FileMode) error { return syscall.Mkfifo(path, uint32(perm.Perm())) }

// AcrossDisks reports whether a rename failed because the two names are on
// different file systems.
func AcrossDisks(err error) bool { return errors.Is(err, syscall.EXDEV) }

// Unsupported reports whether a file system does not support the operation.
func Unsupported(err error) bool { return errors.Is(err, syscall.ENOTSUP) }

// LongName returns a path with all of its names in full: Windows generates short ones.
func LongName(path string) (string, error) { return path, nil }

// Rename renames a file, replacing an existing file. Windows refuses that while a process has one
// of the two open: there it is retried for a while.
func Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file. Windows refuses that while a process has it open, also under another
// name (a hard link): there it is retried for a while.
func Remove(path string) error { return os.Remove(path) }

// Open opens a file to read it, as os.Open does. On Windows it waits a while for other
// processes that lock it. Errors are as described at Missing.
func Open(path string) (*os.File, error) { return os.Open(path) }

// ReadFile is os.ReadFile by way of Open.
func ReadFile(path string) ([]byte, error) { return os.ReadFile(path) }

// MkdirPrivate makes a folder, and missing parents, that only its owner can access. Existing
// folders stay as they are.
func MkdirPrivate(path string) error { return os.MkdirAll(path, 0o700) }

// OfRoot reports whether a file belongs to root, and only root can change it.
func OfRoot(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0 && info.Mode().Perm()&0o022 == 0
}
