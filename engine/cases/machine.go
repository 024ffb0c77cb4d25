package cases

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Machine is an in-memory file system, as far as a case describes it. Parent folders of
// described paths exist implicitly. It is not safe for concurrent use while files are
// added.
type Machine struct {
	c     Case
	files map[string]File // by absolute path; links are not followed
}

// Machine returns the machine of a case: its files, and the folders of every machine. It is
// nil if the case does not describe one.
func (c Case) Machine() *Machine {
	if c.Files == nil {
		return nil
	}
	m := &Machine{c: c, files: map[string]File{}}
	for _, dir := range []string{"/", "/etc", "/usr", "/bin", "/var", "/tmp", "/dev", c.Home, c.Path(".")} {
		m.put(dir, File{Folder: true})
	}
	m.Put(c.Files)
	return m
}

// Put adds or replaces files.
func (m *Machine) Put(files map[string]File) {
	for name, f := range files {
		m.put(m.c.Path(name), f)
	}
}

func (m *Machine) put(name string, f File) {
	m.files[name] = f
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if _, there := m.files[dir]; there {
			return
		}
		m.files[dir] = File{Folder: true}
	}
}

// GitState returns the state of a file in git; empty: the case does not specify it.
func (c Case) GitState(name string) string {
	for _, key := range sortedKeys(c.Git) {
		if c.Path(key) == path.Clean(name) && c.Git[key] == Conflict {
			return "dirty"
		}
		if c.Path(key) == path.Clean(name) {
			return c.Git[key]
		}
	}
	return ""
}

// GitStates lists the states in git of the files that the case names at or under a path,
// sorted; nil: nothing is known about any of them.
func (c Case) GitStates(name string) []string {
	var list []string
	at := strings.TrimSuffix(path.Clean(name), "/")
	for key, state := range c.Git {
		if p := c.Path(key); p == at || strings.HasPrefix(p, at+"/") {
			list = append(list, state)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// find follows the links in the folders of a path, but not its last part, and resolves
// other names of a path.
func (m *Machine) find(op, name string) (string, File, error) {
	at := path.Clean(name)
	for range maxLinks {
		dir, link := m.linkAbove(at)
		if dir == "" {
			f, there := m.files[at]
			if !there {
				return at, f, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
			}
			if f.Same == "" {
				return at, f, nil
			}
			dir, link = at, f
		}
		at = path.Join(m.target(dir, link), strings.TrimPrefix(at, dir))
	}
	return at, File{}, &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("more than %d links", maxLinks)}
}

// maxLinks limits how many links are followed for one path.
const maxLinks = 40

// linkAbove returns the first folder of a path that is a link, or another name of a path.
func (m *Machine) linkAbove(name string) (dir string, link File) {
	for i := 1; i < len(name); i++ {
		if name[i] == '/' {
			if f := m.files[name[:i]]; f.Link+f.Same != "" {
				return name[:i], f
			}
		}
	}
	return "", File{}
}

func (m *Machine) target(name string, link File) string {
	if link.Same != "" {
		return m.c.Path(link.Same)
	}
	if path.IsAbs(link.Link) {
		return link.Link
	}
	return path.Join(path.Dir(name), link.Link)
}

// Lstat describes a path; it describes a link itself, not its target.
func (m *Machine) Lstat(name string) (fs.FileInfo, error) {
	at, f, err := m.find("lstat", name)
	if err != nil {
		return nil, err
	}
	return info{path.Base(name), at, f}, nil
}

// Readlink returns the target of a link.
func (m *Machine) Readlink(name string) (string, error) {
	_, f, err := m.find("readlink", name)
	if err == nil && f.Link == "" {
		err = &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return f.Link, err
}

// follow resolves a path.
func (m *Machine) follow(op, name string) (string, File, error) {
	at, f, err := m.find(op, name)
	for range maxLinks {
		if err != nil || f.Link == "" {
			return at, f, err
		}
		at, f, err = m.find(op, m.target(at, f))
	}
	return at, f, &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("more than %d links", maxLinks)}
}

// ReadDir lists a folder sorted by name, at most limit entries.
func (m *Machine) ReadDir(name string, limit int) ([]fs.DirEntry, error) {
	at, f, err := m.follow("open", name)
	if err == nil && !f.Folder {
		err = &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	var entries []fs.DirEntry
	for _, child := range slices.Sorted(maps.Keys(m.files)) {
		if path.Dir(child) == at && child != at && len(entries) < limit {
			entries = append(entries, fs.FileInfoToDirEntry(info{path.Base(child), child, m.files[child]}))
		}
	}
	return entries, nil
}

// ReadFile returns a file's content; content longer than limit is an error.
func (m *Machine) ReadFile(name string, limit int64) ([]byte, error) {
	text, err := m.ReadHead(name, limit+1)
	if err == nil && int64(len(text)) > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("longer than %d bytes", limit)}
	}
	return text, err
}

// ReadHead returns the beginning of a file's content, at most limit bytes.
func (m *Machine) ReadHead(name string, limit int64) ([]byte, error) {
	_, f, err := m.follow("open", name)
	if err == nil && f.Folder {
		err = &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	return []byte(f.Content)[:min(limit, int64(len(f.Content)))], nil
}

// info describes a file of a Machine.
type info struct {
	name string
	at   string // the resolved path: the same for all names of one file
	f    File
}

// Same reports whether two files of a Machine are the same file under two names.
func (m *Machine) Same(a, b fs.FileInfo) bool {
	x, xOK := a.(info)
	y, yOK := b.(info)
	return xOK && yOK && x.at == y.at
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.f.Content)) }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.f.Folder }
func (i info) Sys() any           { return nil }

func (i info) Mode() fs.FileMode {
	switch {
	case i.f.Link != "":
		return fs.ModeSymlink | 0o777
	case i.f.Folder:
		return fs.ModeDir | 0o755
	}
	return 0o644
}
