package osfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// lockAt is the byte that is locked: far beyond the end of any file, since
// Windows keeps other processes from reading what is locked.
const lockAt = 1 << 30 // of the high half of an offset

// Lock waits for the lock of a file. It is held until the file is closed or the process ends
// for any reason.
func Lock(f *os.File, shared Shared) error { return lock(f, how(shared)) }

// TryLock takes the lock of a file, or returns ErrLocked at once.
func TryLock(f *os.File, shared Shared) error {
	err := lock(f, how(shared)|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}

func how(shared Shared) uint32 {
	if shared {
		return 0
	}
	return windows.LOCKFILE_EXCLUSIVE_LOCK
}

func lock(f *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockAt})
}

// Identify returns the ID of an open file.
func Identify(f *os.File) (ID, error) {
	info, err := handleInfo(f)
	return ID{uint64(info.VolumeSerialNumber), uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)}, err
}

func handleInfo(f *os.File) (windows.ByHandleFileInformation, error) {
	var info windows.ByHandleFileInformation
	err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info)
	return info, err
}

// IdentifyInfo returns the ID in a file's information, if there is one. On
// Windows there is none.
func IdentifyInfo(fs.FileInfo) (ID, bool) { return ID{}, false }

// Links returns the number of names of a file; 0: unknown.
func Links(fs.FileInfo) uint64 { return 0 }

// OnDisk returns the number of bytes that a file occupies on disk, which can be
// fewer than its size.
func OnDisk(fs.FileInfo) (bytes int64, known bool) { return 0, false }

// Windows access rights for which the mode bits of Private stand.
const (
	changes = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.FILE_WRITE_EA | windows.DELETE |
		windows.WRITE_DAC | windows.WRITE_OWNER | windows.GENERIC_WRITE | windows.GENERIC_ALL
	reads = windows.FILE_READ_DATA | windows.GENERIC_READ | windows.GENERIC_ALL
)

// Private returns an error, which describes what to do, unless a file belongs to the user who runs
// this and has none of the mode bits that only its owner should have. On Windows the bits
// 0o022 stand for write access, and 0o044 for read access. The system and its administrators
// count as the owner, since nothing can be hidden from them.
func Private(f *os.File, bits fs.FileMode) error {
	rights, err := windows.GetSecurityInfo(windows.Handle(f.Fd()), windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("read the permissions of %s: %w", f.Name(), err)
	}
	trusted, err := owners()
	if err != nil {
		return err
	}
	if owner, _, err := rights.Owner(); err != nil || !trusted.holds(owner) {
		return fmt.Errorf("%s belongs to %s: use another state directory (--home), or take ownership with `takeown /F \"%s\"`",
			f.Name(), name(owner), f.Name())
	}
	list, _, err := rights.DACL()
	if err != nil || list == nil {
		return fmt.Errorf("%s has no access control list, so anyone can change it: run `icacls \"%s\" /reset`", f.Name(), f.Name())
	}
	var mask windows.ACCESS_MASK
	if bits&0o022 != 0 {
		mask |= changes
	}
	if bits&0o044 != 0 {
		mask |= reads
	}
	other, err := grantee(list, mask, trusted)
	switch {
	case err != nil:
		return fmt.Errorf("read the permissions of %s: %w", f.Name(), err)
	case other != nil:
		return fmt.Errorf("%s is accessible to %s: run `%s`",
			f.Name(), name(other), icacls(f.Name(), trusted[0].String(), inherited(f)+"F", other.String()))
	}
	return nil
}

// installer is the account of Windows that owns its own folders, such as that of programs.
const installer = "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464"

// Administered returns an error unless a file or folder belongs to the system or its administrators and nobody else can
// change it. A link does not count as the file that it names.
func Administered(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", path, ErrLink)
	}
	rights, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("read the permissions of %s: %w", path, err)
	}
	trusted, err := owners()
	if err != nil {
		return err
	}
	own, err := windows.StringToSid(installer)
	if err != nil {
		return err
	}
	trusted = append(trusted[1:], own) // without the user
	if owner, _, err := rights.Owner(); err != nil || !trusted.holds(owner) {
		return fmt.Errorf("%s belongs to %s, not to the administrators", path, name(owner))
	}
	list, _, err := rights.DACL()
	if err != nil || list == nil {
		return fmt.Errorf("%s has no access control list, so anyone can change it", path)
	}
	if other, err := grantee(list, changes, trusted); err != nil || other != nil {
		return fmt.Errorf("%s can be changed by %s, who is not an administrator", path, name(other))
	}
	return nil
}

// grantee returns an account that is granted one of the rights and is not trusted; nil if
// there is none.
func grantee(list *windows.ACL, mask windows.ACCESS_MASK, trusted sids) (*windows.SID, error) {
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &ace); err != nil {
			return nil, err
		}
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Mask&mask == 0 || ace.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 {
			continue
		}
		if sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart)); !trusted.holds(sid) {
			return sid.Copy()
		}
	}
	return nil, nil
}

// ReadByOthers returns the command that prevents others from reading a file; it is empty if they
// cannot read it. The system and its administrators are not others.
func ReadByOthers(f *os.File) (command string, err error) {
	rights, err := windows.GetSecurityInfo(windows.Handle(f.Fd()), windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return "", err
	}
	trusted, err := owners()
	if err != nil {
		return "", err
	}
	list, _, err := rights.DACL()
	if err != nil || list == nil { // without a list, anyone may do anything
		return remedy("windows", f.Name(), trusted[0].String(), ""), nil
	}
	other, err := grantee(list, reads, trusted)
	if err != nil || other == nil {
		return "", err
	}
	return remedy("windows", f.Name(), trusted[0].String(), other.String()), nil
}

// CreatePrivate creates a file that only its owner can read; there must be none yet. Its
// rights do not depend on the folder's.
func CreatePrivate(path string) (*os.File, error) {
	attributes, err := ownersOnly("")
	if err != nil {
		return nil, err
	}
	long, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	handle, err := windows.CreateFile(long, windows.GENERIC_WRITE, windows.FILE_SHARE_READ, attributes,
		windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

// inherited returns the flags of icacls for rights that the contents of a folder inherit.
func inherited(f *os.File) string {
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "(OI)(CI)"
	}
	return ""
}

// sids lists the accounts that may do everything with the user's files.
type sids []*windows.SID

func (s sids) holds(sid *windows.SID) bool {
	for _, one := range s {
		if sid != nil && one.Equals(sid) {
			return true
		}
	}
	return false
}

func owners() (sids, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("look up the current user: %w", err)
	}
	list := sids{user.User.Sid}
	for _, known := range []windows.WELL_KNOWN_SID_TYPE{
		windows.WinLocalSystemSid, windows.WinBuiltinAdministratorsSid, windows.WinCreatorOwnerSid, windows.WinCreatorOwnerRightsSid,
	} {
		sid, err := windows.CreateWellKnownSid(known)
		if err != nil {
			return nil, fmt.Errorf("look up the current user: %w", err)
		}
		list = append(list, sid)
	}
	return list, nil
}

// name returns the readable name of an account.
func name(sid *windows.SID) string {
	if sid == nil {
		return "nobody"
	}
	account, domain, _, err := sid.LookupAccount("")
	if err != nil {
		return sid.String()
	}
	return domain + `\` + account
}

// OpenFile opens a file as os.OpenFile does. Others may rename and delete it in the meantime, which
// Windows refuses for files opened in other ways.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	dir, err := os.OpenRoot(filepath.Dir(path)) // files opened under a root are shared that way
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.OpenFile(filepath.Base(path), flag, perm)
}

// Truncate truncates an open file, even one that was opened for appending: such
// a file lacks the right here, so it is opened again.
func Truncate(f *os.File, size int64) error {
	again, err := OpenFile(f.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	held, err := Identify(f)
	named, err2 := Identify(again)
	switch {
	case errors.Join(err, err2) != nil:
		err = errors.Join(err, err2)
	case held != named:
		err = fmt.Errorf("%s was replaced by another file in the meantime", f.Name())
	default:
		err = again.Truncate(size)
	}
	return errors.Join(err, again.Close())
}

// OpenItself opens a file as os.OpenFile does, and returns ErrLink if the last part of the
// path is a link. It does not wait for the other end of a pipe.
func OpenItself(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|windows.FILE_FLAG_OPEN_REPARSE_POINT, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 { // a junction is irregular
		err = ErrLink
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// SetTime sets a file's modification and access time.
func SetTime(f *os.File, t time.Time) error {
	ft := windows.NsecToFiletime(t.UnixNano())
	return windows.SetFileTime(windows.Handle(f.Fd()), nil, &ft, &ft)
}

// SyncDir makes the names in a folder survive a power loss. Windows has no such call: there, the
// file system's own journal does it.
func SyncDir(dir string) error {
	_, err := os.Stat(dir)
	return err
}

// SameOwner gives an open file the owner and group of another. On Windows files
// take their owner from the folder's rules.
func SameOwner(*os.File, fs.FileInfo) error { return nil }

// KeepOwner gives the file at a path, or the link itself, the owner of its
// original, where the user may change owners: only root can.
func KeepOwner(string, fs.FileInfo) error { return nil }

// MakePipe makes a named pipe. On Windows there are none in folders.
func MakePipe(path string, _ fs.FileMode) error {
	return &fs.PathError{Op: "mkfifo", Path: path, Err: windows.ERROR_NOT_SUPPORTED}
}

// AcrossDisks reports whether a rename failed because the two names are on
// different file systems.
func AcrossDisks(err error) bool { return errors.Is(err, windows.ERROR_NOT_SAME_DEVICE) }

// Unsupported reports whether a file system does not support the operation.
func Unsupported(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}

// LongName returns a path with all of its names in full: Windows generates short ones.
func LongName(path string) (string, error) {
	short, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return "", err
	}
	long := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetLongPathName(short, &long[0], uint32(len(long)))
	if err != nil {
		return "", &fs.PathError{Op: "name in full", Path: path, Err: err}
	}
	return windows.UTF16ToString(long[:n]), nil
}

// patience is how long to wait for others who have a file open: virus scanners and indexers
// examine what was just written, a hook reads for milliseconds.
const patience = 2 * time.Second

// patiently retries what fails while others have a file open.
func patiently(do func() error, busy ...error) error {
	pause := time.Millisecond
	for end := time.Now().Add(patience); ; pause = min(2*pause, 50*time.Millisecond) {
		err := do()
		if err == nil || time.Now().After(end) || !isOne(err, busy) {
			return err
		}
		time.Sleep(pause)
	}
}

func isOne(err error, list []error) bool {
	for _, one := range list {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// Rename renames a file, replacing an existing file. Windows refuses that while a process has one
// of the two open: there it is retried for a while.
func Rename(from, to string) error {
	return patiently(func() error { return os.Rename(from, to) },
		windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION, windows.ERROR_ACCESS_DENIED)
}

// Remove removes a file. Windows refuses that while a process has it open, also under another
// name (a hard link): there it is retried for a while.
func Remove(path string) error {
	return patiently(func() error { return os.Remove(path) },
		windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION, windows.ERROR_ACCESS_DENIED)
}

// Open opens a file to read it, as os.Open does. On Windows it waits a while for other
// processes that lock it. Errors are as described at Missing.
func Open(path string) (*os.File, error) {
	var f *os.File
	err := patiently(func() (err error) {
		f, err = os.Open(path)
		return err
	}, windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION)
	return f, Missing(path, err)
}

// ReadFile is os.ReadFile by way of Open.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

// MkdirPrivate makes a folder, and missing parents, that only its owner can access. Existing
// folders stay as they are.
func MkdirPrivate(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	attributes, err := ownersOnly("OICI")
	if err != nil {
		return err
	}
	long, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	err = windows.CreateDirectory(long, attributes)
	if errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		return isFolder(path)
	}
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return nil
}

// isFolder returns an error if a file is where a folder should be.
func isFolder(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "mkdir", Path: path, Err: ErrNotFolder}
	}
	return err
}

// ownersOnly are rights for the user, the system and its administrators alone, not mixed
// with those of the folder above. With the flags OICI they apply to a folder and to what
// is created in it.
func ownersOnly(flags string) (*windows.SecurityAttributes, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("look up the current user: %w", err)
	}
	list := "D:P"
	for _, account := range []string{user.User.Sid.String(), "SY", "BA"} {
		list += fmt.Sprintf("(A;%s;FA;;;%s)", flags, account)
	}
	rights, err := windows.SecurityDescriptorFromString(list)
	if err != nil {
		return nil, err
	}
	attributes := &windows.SecurityAttributes{SecurityDescriptor: rights}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	return attributes, nil
}

// OfRoot returns false: there is no root.
func OfRoot(fs.FileInfo) bool { return false }
