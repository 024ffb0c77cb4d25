package bundles

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Memory is a tree of files by their names, as fs.FS spells them. A folder exists as
// long as it contains a file.
type Memory map[string][]byte

// Check rejects a name that is both a file and a folder: readers would differ in which
// of the two counts.
func (m Memory) Check() error {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, file := m[dir]; file {
				return inFile(dir).wrong("is a file and a folder; keep one of them")
			}
		}
	}
	return nil
}

// Open opens a file or a folder.
func (m Memory) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if content, ok := m[name]; ok {
		return &openFile{entry{name, int64(len(content)), false}, bytes.NewReader(content)}, nil
	}
	if list := m.below(name); len(list) > 0 || name == "." {
		return &openFolder{entry{name, 0, true}, list}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// below lists the entries directly in a folder, by name.
func (m Memory) below(folder string) []fs.DirEntry {
	prefix := folder + "/"
	if folder == "." {
		prefix = ""
	}
	seen := map[string]entry{}
	for name, content := range m {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		first, _, deeper := strings.Cut(rest, "/")
		if e := (entry{prefix + first, 0, true}); deeper {
			seen[first] = e
		} else {
			seen[first] = entry{name, int64(len(content)), false}
		}
	}
	var list []fs.DirEntry
	for _, e := range seen {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

// entry describes a file or folder; it is its own fs.FileInfo and fs.DirEntry.
type entry struct {
	path   string
	size   int64
	folder bool
}

// Name is the last part of the path.
func (e entry) Name() string { return path.Base(e.path) }

// Size is that of a file's content.
func (e entry) Size() int64 { return e.size }

// IsDir reports whether it is a folder.
func (e entry) IsDir() bool { return e.folder }

// ModTime returns the zero time: files in memory have none.
func (e entry) ModTime() time.Time { return time.Time{} }

// Sys is nil.
func (e entry) Sys() any { return nil }

// Info is the entry.
func (e entry) Info() (fs.FileInfo, error) { return e, nil }

// Type is that of the mode.
func (e entry) Type() fs.FileMode { return e.Mode().Type() }

// Mode returns a read-only mode.
func (e entry) Mode() fs.FileMode {
	if e.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

type openFile struct {
	entry
	*bytes.Reader
}

// Size is that of the content.
func (f *openFile) Size() int64 { return f.size }

// Stat describes the file.
func (f *openFile) Stat() (fs.FileInfo, error) { return f.entry, nil }

// Close does nothing.
func (f *openFile) Close() error { return nil }

type openFolder struct {
	entry
	left []fs.DirEntry
}

// Stat describes the folder.
func (f *openFolder) Stat() (fs.FileInfo, error) { return f.entry, nil }

// Close does nothing.
func (f *openFolder) Close() error { return nil }

// Read fails: a folder has no content.
func (f *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.path, Err: fs.ErrInvalid}
}

// ReadDir returns the next n entries; with n at most 0, all that are left.
func (f *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 || n > len(f.left) {
		if n > 0 && len(f.left) == 0 {
			return nil, io.EOF
		}
		n = len(f.left)
	}
	list := f.left[:n]
	f.left = f.left[n:]
	return list, nil
}
