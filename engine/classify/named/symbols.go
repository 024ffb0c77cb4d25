package named

import (
	"path"
	"slices"
	"strings"
)

// Bounds of the search for symbols: names in larger workspaces count as found.
const (
	maxEntries = 4000
	maxBytes   = 16 << 20
	maxSource  = 1 << 20 // bytes of one file
	maxDepth   = 12
)

// Symbols returns the identifiers that are not in any file of the directories. If not everything
// can be read within the bounds, it returns none.
func (f *Finder) Symbols(names []string) []string {
	s := search{f: f, left: slices.Clone(names)}
	if f.World.ReadDir == nil || f.World.ReadFile == nil || !f.Res.Looking() {
		return nil
	}
	for _, dir := range outermost(f.Dirs) {
		if f.Res.Lstat(dir) == nil || !s.folder(dir, 0) {
			return nil
		}
	}
	if s.sources == 0 {
		return nil
	}
	return s.left
}

// outermost lists the directories that are not in any of the others.
func outermost(dirs []string) []string {
	var list []string
	for _, d := range dirs {
		inner := func(o string) bool { return o != d && strings.HasPrefix(d, strings.TrimSuffix(o, "/")+"/") }
		if !slices.ContainsFunc(dirs, inner) && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// search is a search for identifiers.
type search struct {
	f                       *Finder
	left                    []string // not found so far
	entries, bytes, sources int
}

// folder searches a folder and those in it; false: not all of it could be.
func (s *search) folder(dir string, depth int) bool {
	list, err := s.f.World.ReadDir(dir, maxEntries)
	if s.entries += len(list); err != nil || s.entries >= maxEntries || depth > maxDepth {
		return false
	}
	for _, entry := range list {
		at := path.Join(dir, entry.Name())
		if len(s.left) == 0 {
			return true
		}
		switch {
		case entry.IsDir():
			if !s.f.is("told.passed", entry.Name()) && !s.folder(at, depth+1) {
				return false
			}
		case entry.Type().IsRegular() && !s.file(at):
			return false
		}
	}
	return true
}

// file removes the identifiers that a file has.
func (s *search) file(name string) bool {
	raw, err := s.f.World.ReadFile(name, maxSource)
	if err != nil {
		return s.f.is("told.binaries", path.Ext(name)) // a binary file; any other is too long to be searched
	}
	s.sources++
	if s.bytes += len(raw); s.bytes > maxBytes {
		return false
	}
	text := string(raw)
	s.left = slices.DeleteFunc(s.left, func(symbol string) bool { return strings.Contains(text, symbol) })
	return true
}
