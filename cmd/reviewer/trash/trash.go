// Package trash moves files aside instead of deleting them, and restores them.
// Each moved file is in a folder of its own under the state directory:
//
//	trash/20250308-142233/info.json   where it came from
//	trash/20250308-142233/content     the file, folder or link itself
//
// The original is deleted only after its copy in the trash is complete, so an
// interrupted move loses nothing. Contents, modes, times, hard links within a folder,
// links as links and holes are kept; extended attributes only where the trash is on
// the same file system.
package trash

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// Bin is a trash.
type Bin struct {
	Dir  string    // absolute; made when something is moved
	Keep []Place   // neither these nor a folder that contains one is moved
	Own  []string  // of reviewer itself: nothing in them is moved, and nothing is put there
	Now  time.Time // of this run
	last int       // number after the newest id of this run
}

// Place is a folder that must stay where it is.
type Place struct{ Path, Name string }

// Entry is one thing in the trash.
type Entry struct {
	ID    string `json:"id"`
	Path  string `json:"path"`                 // where it was; absolute, no link in its folder
	Bytes []byte `json:"path_bytes,omitempty"` // the path, where it is not UTF-8
	T     int64  `json:"t"`                    // when it was moved, Unix milliseconds
	Kind  string `json:"kind"`                 // file, folder, link or other
	Mode  string `json:"mode"`                 // as ls prints it
	Size  int64  `json:"size"`                 // bytes of all files in it, as far as they could be seen
}

// The names in an entry's folder.
const (
	infoName    = "info.json"
	contentName = "content"
	partName    = "part" // a copy that is not whole yet
)

// Put moves what a path names into the trash; of a link, only the link is moved. The path is
// interpreted as the system does: relative to the current folder, links in it followed
// except for the last name. After an error the original is unchanged, unless the error
// reports something else.
func (b *Bin) Put(path string) (Entry, error) {
	full, info, err := locate(path)
	if err != nil {
		return Entry{}, err
	}
	if err := b.check(full, info); err != nil {
		return Entry{}, err
	}
	size, err := measure(full, info)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Path: full, T: b.Now.UnixMilli(), Kind: kindOf(info), Mode: info.Mode().String(), Size: size}
	if e.ID, err = b.reserve(); err != nil {
		return Entry{}, err
	}
	if err := b.fill(&e); err != nil {
		return e, err
	}
	return e, nil
}

// locate resolves an operand to its real folder and its last name.
func locate(path string) (string, fs.FileInfo, error) {
	bare := strings.TrimRight(path, "/")
	switch base := filepath.Base(path); {
	case path == "":
		return "", nil, fs.ErrNotExist
	case base == "." || base == ".." || base == "/":
		return "", nil, errors.New("/, . and .. are not accepted here: give the name of the folder")
	}
	full, err := resolve(bare)
	if err != nil {
		return "", nil, cause(err)
	}
	info, err := os.Lstat(full)
	if err != nil {
		return "", nil, cause(err)
	}
	if bare != path && !info.IsDir() {
		return "", nil, errors.New("it is not a folder: name it without the trailing /")
	}
	return full, info, nil
}

// resolve makes a path absolute and follows the links in its folder, as far as
// the folder exists.
func resolve(path string) (string, error) {
	if !filepath.IsAbs(path) {
		wd, err := os.Getwd()
		if err != nil {
			return "", err
		}
		path = wd + "/" + path
	}
	dir, name := filepath.Split(path)
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(filepath.Clean(dir)) != filepath.Clean(dir) {
		real, err = resolve(filepath.Clean(dir))
	}
	return filepath.Join(real, name), err
}

// check refuses paths that must not be moved.
func (b *Bin) check(full string, info fs.FileInfo) error {
	for _, p := range b.Keep {
		if holds(info, p.Path) {
			return fmt.Errorf("it is or contains %s (%s)", p.Name, p.Path)
		}
	}
	for _, own := range b.Own {
		if holds(info, own) {
			return fmt.Errorf("it is or contains files of reviewer (%s)", own)
		}
	}
	if err := b.checkOwn(full); err != nil {
		return err
	}
	parent, err := os.Lstat(filepath.Dir(full))
	if err != nil {
		return cause(err)
	}
	if info.IsDir() && device(info) != device(parent) {
		return errors.New("it is a mount point")
	}
	return nil
}

// checkOwn refuses a path inside what belongs to reviewer.
func (b *Bin) checkOwn(full string) error {
	for _, own := range b.Own {
		if info, err := os.Stat(own); err == nil && holds(info, full) {
			return fmt.Errorf("it is in %s, which belongs to reviewer", own)
		}
	}
	return nil
}

// holds reports whether a file is a path or one of its parents, by identity and not by
// name.
func holds(outer fs.FileInfo, inner string) bool {
	if real, err := filepath.EvalSymlinks(inner); err == nil {
		inner = real
	}
	for {
		if info, err := os.Stat(inner); err == nil && os.SameFile(info, outer) {
			return true
		}
		up := filepath.Dir(inner)
		if up == inner {
			return false
		}
		inner = up
	}
}

// measure adds up the sizes of the files in a tree, and refuses one in which another
// file system begins: emptying the trash would reach into it. Only folders are
// compared: files of an overlay have the devices of its layers.
func measure(root string, info fs.FileInfo) (int64, error) {
	var size int64
	home := device(info)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be listed can still be moved
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return nil
		case info.IsDir() && device(info) != home:
			return fmt.Errorf("it contains the mount point %s", path)
		case info.Mode().IsRegular():
			size += info.Size()
		}
		return nil
	})
	return size, err
}

func device(info fs.FileInfo) uint64 {
	id, _ := osfile.IdentifyInfo(info)
	return id.Device
}

func kindOf(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "folder"
	case info.Mode().IsRegular():
		return "file"
	case info.Mode()&fs.ModeSymlink != 0:
		return "link"
	}
	return "other"
}

// reserve makes the folder of a new entry. Its name is the time, so that ids sort;
// creating it succeeds for only one of several processes.
func (b *Bin) reserve() (string, error) {
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return "", fmt.Errorf("create the trash: %w", err)
	}
	for {
		b.last++
		id := b.Now.UTC().Format("20060102-150405")
		if b.last > 1 {
			id += "-" + strconv.Itoa(b.last)
		}
		err := os.Mkdir(filepath.Join(b.Dir, id), 0o700)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return id, err
		}
	}
}

// fill writes the origin of a file, then moves it. If it cannot be moved, the entry is
// removed.
func (b *Bin) fill(e *Entry) error {
	dir := filepath.Join(b.Dir, e.ID)
	err := writeInfo(dir, *e)
	if err == nil {
		err = move(e.Path, dir)
	}
	if _, gone := os.Lstat(filepath.Join(dir, contentName)); err != nil && gone != nil {
		return errors.Join(err, discard(dir))
	}
	return err
}

func writeInfo(dir string, e Entry) error {
	if !utf8.ValidString(e.Path) {
		e.Bytes, e.Path = []byte(e.Path), strings.ToValidUTF8(e.Path, "\uFFFD")
	}
	doc, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, infoName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(doc, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.Name(), err)
	}
	return osfile.SyncDir(dir)
}

// Entries lists the entries of the trash, the newest first, and the folders of incomplete entries:
// a move or the emptying of the trash was interrupted, or is still running.
func (b *Bin) Entries() (whole []Entry, rest []string, err error) {
	names, err := os.ReadDir(b.Dir)
	err = osfile.Missing(b.Dir, err)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list the trash: %w", err)
	}
	for _, d := range names {
		if e, err := b.entry(d.Name()); err == nil {
			whole = append(whole, e)
		} else {
			rest = append(rest, filepath.Join(b.Dir, d.Name()))
		}
	}
	slices.SortStableFunc(whole, newestFirst)
	return whole, rest, nil
}

func newestFirst(a, b Entry) int {
	return cmp.Or(cmp.Compare(b.T, a.T), cmp.Compare(b.ID, a.ID))
}

// entry reads an entry that is whole.
func (b *Bin) entry(id string) (Entry, error) {
	dir := filepath.Join(b.Dir, id)
	if _, err := os.Lstat(filepath.Join(dir, contentName)); err != nil {
		return Entry{}, err
	}
	doc, err := os.ReadFile(filepath.Join(dir, infoName))
	if err != nil {
		return Entry{}, err
	}
	var e Entry
	if err := json.Unmarshal(doc, &e); err != nil {
		return Entry{}, fmt.Errorf("read %s: %w", filepath.Join(dir, infoName), err)
	}
	if e.ID = id; e.Bytes != nil {
		e.Path = string(e.Bytes)
	}
	return e, nil
}

// ErrNoEntry is returned if no entry of the trash has that id or came from that path.
var ErrNoEntry = errors.New("nothing in the trash has this id or original path; `reviewer trash --list` shows what is there")

// Find returns the entry with an id, or else the newest one that came from a
// path; older counts the others that came from there.
func (b *Bin) Find(selector string) (e Entry, older int, err error) {
	list, _, err := b.Entries()
	if err != nil {
		return Entry{}, 0, err
	}
	if i := slices.IndexFunc(list, func(e Entry) bool { return e.ID == selector }); i >= 0 {
		return list[i], 0, nil
	}
	full, err := resolve(strings.TrimRight(selector, "/"))
	if err != nil {
		return Entry{}, 0, cause(err)
	}
	list = slices.DeleteFunc(list, func(e Entry) bool { return e.Path != full })
	if len(list) == 0 {
		return Entry{}, 0, ErrNoEntry
	}
	return list[0], len(list) - 1, nil
}

// Restore puts an entry back where it was, or to another path, and returns
// where it is then. Folders that are missing above it are made. Existing files are kept, and
// are an error.
func (b *Bin) Restore(e Entry, to string) (string, error) {
	if to == "" {
		to = e.Path
	}
	full, err := resolve(strings.TrimRight(to, "/"))
	if err != nil {
		return "", cause(err)
	}
	if err := b.checkOwn(full); err != nil {
		return "", err
	}
	if _, err := os.Lstat(full); err == nil {
		return "", taken(full)
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return "", fmt.Errorf("create its original folder: %w", err)
	}
	dir := filepath.Join(b.Dir, e.ID)
	if err := putBack(filepath.Join(dir, contentName), full); err != nil {
		return "", err
	}
	return full, discard(dir)
}

func taken(full string) error {
	return fmt.Errorf("%s already exists and is not overwritten: move it away, or use --to to restore to another path", full)
}

// Remove permanently deletes an entry. The description is deleted first, so that after an
// interruption it is no longer an entry.
func (b *Bin) Remove(e Entry) error { return Discard(filepath.Join(b.Dir, e.ID)) }

// Discard deletes the folder of an entry, complete or not.
func Discard(dir string) error {
	if err := os.Remove(filepath.Join(dir, infoName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return discard(dir)
}

// cause is the error without the path: the caller adds the path as given.
func cause(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
