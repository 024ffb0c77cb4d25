package trash

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// move moves a file or folder into an entry's folder: in one step if both are on one
// file system, else as a copy that is complete and on disk before the original is
// deleted.
func move(from, dir string) error {
	to := filepath.Join(dir, contentName)
	err := osfile.Rename(from, to)
	if !osfile.AcrossDisks(err) {
		return systemError(err)
	}
	return moveAcross(from, dir)
}

func moveAcross(from, dir string) error {
	part := filepath.Join(dir, partName)
	c := copier{}
	if err := c.tree(from, part); err != nil {
		return err
	}
	if err := osfile.Rename(part, filepath.Join(dir, contentName)); err != nil {
		return systemError(err)
	}
	if err := osfile.SyncDir(dir); err != nil {
		return err
	}
	gone, err := c.removeOriginals()
	if err == nil {
		return nil
	}
	if gone == 0 { // the move is undone
		return errors.Join(err, discard(dir))
	}
	return fmt.Errorf("%w; it is complete in the trash as %s, but part of it is still in its original place", err, filepath.Base(dir))
}

// copier copies a tree to another file system.
type copier struct {
	done  []copied
	links map[osfile.ID]string // files with several names: where the first one went
}

// copied describes an original at the time when it was copied.
type copied struct {
	path string
	info fs.FileInfo
}

// tree copies the file or folder at a path. Modes and times of folders come last: they may
// forbid writing.
func (c *copier) tree(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return systemError(err)
	}
	c.done = append(c.done, copied{from, info})
	switch mode := info.Mode(); {
	case info.IsDir():
		err = c.folder(from, to)
	case mode.IsRegular():
		err = c.file(from, to, info)
	case mode&fs.ModeSymlink != 0:
		err = copyLink(from, to)
	case mode&fs.ModeNamedPipe != 0:
		err = osfile.MakePipe(to, mode)
	default:
		err = fmt.Errorf("%s is a socket or a device: it cannot be moved to another file system", from)
	}
	if err != nil {
		return systemError(err)
	}
	return keepTraits(to, info)
}

func (c *copier) folder(from, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, d := range entries {
		if err := c.tree(filepath.Join(from, d.Name()), filepath.Join(to, d.Name())); err != nil {
			return err
		}
	}
	return osfile.SyncDir(to)
}

func (c *copier) file(from, to string, info fs.FileInfo) error {
	key, ok := osfile.IdentifyInfo(info)
	if !ok || osfile.Links(info) < 2 {
		return copyFile(from, to, info)
	}
	if first, seen := c.links[key]; seen {
		return os.Link(first, to)
	}
	if c.links == nil {
		c.links = map[osfile.ID]string{}
	}
	c.links[key] = to
	return copyFile(from, to, info)
}

// copyFile copies contents to a new file, onto the disk.
func copyFile(from, to string, info fs.FileInfo) error {
	in, err := osfile.OpenItself(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if taken, known := osfile.OnDisk(info); known && taken < info.Size() {
		err = copySparse(out, in)
	} else {
		_, err = io.Copy(out, in)
	}
	return errors.Join(err, out.Sync(), out.Close())
}

// copySparse leaves out blocks of nothing but zeros.
func copySparse(out *os.File, in io.Reader) error {
	var size int64
	block, zeros := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(in, block)
		if !bytes.Equal(block[:n], zeros[:n]) {
			if _, err := out.WriteAt(block[:n], size); err != nil {
				return err
			}
		}
		size += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return out.Truncate(size)
		}
		if err != nil {
			return err
		}
	}
}

func copyLink(from, to string) error {
	target, err := os.Readlink(from)
	if err != nil {
		return err
	}
	return os.Symlink(target, to)
}

// keepTraits sets the owner, mode and time of a copy to those of the original. Only
// root can change owners; otherwise the copy belongs to the user.
func keepTraits(to string, info fs.FileInfo) error {
	if err := osfile.KeepOwner(to, info); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil
	}
	return errors.Join(os.Chmod(to, info.Mode()), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// removeOriginals deletes the copied files, from the leaves up, and returns their
// number. Changed and new files stay.
func (c *copier) removeOriginals() (gone int, err error) {
	for _, o := range slices.Backward(c.done) {
		if err := o.remove(); err != nil {
			return gone, err
		}
		gone++
	}
	return gone, nil
}

func (o copied) remove() error {
	now, err := os.Lstat(o.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	same := os.SameFile(now, o.info) && now.Mode() == o.info.Mode()
	if !now.IsDir() { // a folder's time changes as its files are deleted; a new file in it keeps the folder
		same = same && now.Size() == o.info.Size() && now.ModTime().Equal(o.info.ModTime())
	}
	if !same {
		return fmt.Errorf("%s was changed while it was being copied", o.path)
	}
	return os.Remove(o.path)
}

// putBack moves content to a path that must not exist. At least one complete copy of
// the content exists at any time.
func putBack(content, to string) error {
	err := place(content, to)
	if !osfile.AcrossDisks(err) {
		return err
	}
	part := filepath.Join(filepath.Dir(to), ".reviewer-restore-"+filepath.Base(filepath.Dir(content)))
	c := copier{}
	if err = c.tree(content, part); err == nil {
		err = place(part, to)
	}
	if err != nil {
		return errors.Join(err, discard(part))
	}
	return osfile.SyncDir(filepath.Dir(to))
}

// place moves a file to a path without overwriting: creating a link fails if something
// exists there, while a rename would replace it.
func place(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		return placeFolder(from, to, info.Mode())
	case info.Mode()&fs.ModeSymlink != 0:
		err = copyLink(from, to)
	default:
		err = os.Link(from, to)
	}
	switch {
	case errors.Is(err, fs.ErrPermission) || osfile.Unsupported(err):
		return placeFile(from, to) // the file belongs to another user, or the file system does not support hard links
	case err != nil:
		return occupied(err, to)
	}
	return os.Remove(from)
}

// placeFile reserves the name with an empty file.
func placeFile(from, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return occupied(err, to)
	}
	if err := errors.Join(f.Close(), osfile.Rename(from, to)); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// placeFolder renames a folder, which can replace only an empty folder. A read-only
// folder is made writable for a moment, because its parent entry changes.
func placeFolder(from, to string, mode fs.FileMode) error {
	err := errors.Join(os.Chmod(from, mode|0o700), osfile.Rename(from, to))
	if err == nil {
		return os.Chmod(to, mode)
	}
	if _, there := os.Lstat(to); there == nil {
		err = fs.ErrExist
	}
	return errors.Join(occupied(err, to), os.Chmod(from, mode))
}

func occupied(err error, to string) error {
	if errors.Is(err, fs.ErrExist) {
		return taken(to)
	}
	return err
}

// discard deletes a tree of the trash, including read-only folders.
func discard(path string) error {
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && err == nil {
			return makeWritable(name, d)
		}
		return nil
	})
	return errors.Join(err, os.RemoveAll(path))
}

func makeWritable(dir string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil || info.Mode().Perm()&0o700 == 0o700 {
		return nil // RemoveAll returns the error
	}
	return os.Chmod(dir, info.Mode()|0o700)
}

// systemError describes a system error without the trash's own paths.
func systemError(err error) error {
	var e *os.LinkError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
