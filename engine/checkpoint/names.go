package checkpoint

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// system describes how a file system treats names. Some treat upper and lower case alike:
// there, a file is found by names that its folder does not list.
type system struct {
	lstat func(root *os.Root, name string) (fs.FileInfo, error)
	folds func(dir string) bool // reports whether the file system of a folder treats upper and lower case alike; it may write to the folder
}

func localSystem() system {
	return system{lstat: (*os.Root).Lstat, folds: foldsCase}
}

// spelled returns a path of a folder as the folders list it, and whether it was
// given that way. What does not exist stays as it is.
func (s *system) spelled(root *os.Root, p string) (string, bool) {
	at := ""
	for _, name := range strings.Split(p, "/") {
		at = join(at, s.listed(root, at, name))
	}
	return at, at == p
}

func (s *system) listed(root *os.Root, dir, name string) string {
	info, err := s.lstat(root, filepath.FromSlash(path.Join(dir, name)))
	if err != nil {
		return name
	}
	f, err := root.Open(filepath.FromSlash(path.Join(".", dir)))
	if err != nil {
		return name
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil || slices.Contains(names, name) {
		return name
	}
	for _, other := range names {
		if !strings.EqualFold(other, name) {
			continue
		}
		if same, err := s.lstat(root, filepath.FromSlash(path.Join(dir, other))); err == nil && os.SameFile(same, info) {
			return other
		}
	}
	return name
}

// foldsCase reports whether the file system of a folder treats upper and lower case
// alike. It writes a file there to find out.
func foldsCase(dir string) bool {
	name := filepath.Join(dir, "case")
	if os.WriteFile(name, nil, 0o600) != nil {
		return false // the error is reported when contents are written
	}
	_, err := os.Lstat(filepath.Join(dir, "CASE"))
	_ = os.Remove(name) // the folder is removed in any case
	return err == nil
}

// collision returns two paths that differ only in upper and lower case, of which changes
// create at least one, given what is there now.
func collision(changes []Change, now tree) (a, b string) {
	folded, changed := map[string]string{}, map[string]bool{}
	for _, c := range changes {
		changed[c.Path] = true
		if c.After == nil {
			continue
		}
		key := strings.ToLower(c.Path)
		if other, ok := folded[key]; ok {
			return other, c.Path
		}
		folded[key] = c.Path
	}
	for _, list := range now {
		for i := range list {
			p := list[i].Path
			if other, ok := folded[strings.ToLower(p)]; ok && other != p && !changed[p] {
				return p, other
			}
		}
	}
	return "", ""
}
