package checkpoint

import (
	"maps"
	"slices"
	"strings"
)

// item is an entry of a folder, with what the file system said about it when
// its contents were read.
type item struct {
	Entry
	name    string
	stat    stat
	has     bool // Digest is that of the contents
	linked  bool // the file has several hard links
	ignored bool // by git; known during a scan only
	racy    bool // changed so shortly before it was read that a later change could look the same
}

// stat is the metadata that shows a change of a file. Two equal ones mean the same contents,
// unless the file is racy.
type stat struct {
	size     int64
	modified int64 // nanoseconds
	changed  int64 // the inode, nanoseconds; 0: unknown
	inode    uint64
	device   uint64
}

// tree is the state of a workspace: its folders by path, the entries of each in the order of
// their names. Folders outside the workspace contain only requested paths.
type tree map[string][]item

func (t tree) folders() []string { return slices.Sorted(maps.Keys(t)) }

// find returns the entry of a path, or nil.
func (t tree) find(p string) *item {
	dir, name := split(p)
	list := t[dir]
	i, ok := slices.BinarySearchFunc(list, name, byName)
	if !ok {
		return nil
	}
	return &list[i]
}

func byName(i item, name string) int { return strings.Compare(i.name, name) }

// set puts an entry in its place, or removes it if it is nil.
func (t tree) set(p string, e *item) {
	dir, name := split(p)
	list := t[dir]
	i, ok := slices.BinarySearchFunc(list, name, byName)
	switch {
	case ok && e != nil:
		list[i] = *e
	case ok:
		t[dir] = slices.Delete(list, i, i+1)
	case e != nil:
		t[dir] = slices.Insert(list, i, *e)
	}
	if len(t[dir]) == 0 {
		delete(t, dir)
	}
}

// clone returns a copy whose folders can be changed.
func (t tree) clone() tree {
	c := make(tree, len(t))
	for dir, list := range t {
		c[dir] = slices.Clone(list)
	}
	return c
}

// compare returns how the second tree differs from the first, sorted by path.
func compare(before, after tree) []Change {
	var list []Change
	for dir, now := range after {
		list = compareFolder(list, before[dir], now)
	}
	for dir, then := range before {
		if after[dir] == nil {
			list = compareFolder(list, then, nil)
		}
	}
	slices.SortFunc(list, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func compareFolder(list []Change, before, after []item) []Change {
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(before) == 0 || len(after) > 0 && after[0].name < before[0].name:
			list = append(list, Change{Path: after[0].Path, After: &after[0].Entry})
			after = after[1:]
		case len(after) == 0 || before[0].name < after[0].name:
			list = append(list, Change{Path: before[0].Path, Before: &before[0].Entry})
			before = before[1:]
		default:
			if !before[0].same(&after[0].Entry) {
				list = append(list, Change{Path: after[0].Path, Before: &before[0].Entry, After: &after[0].Entry})
			}
			before, after = before[1:], after[1:]
		}
	}
	return list
}

// group names the hard links of each file by the first of their paths.
func (t tree) group() {
	type file struct{ device, inode uint64 }
	links := map[file][]*item{}
	for _, dir := range t.folders() {
		for n := range t[dir] {
			i := &t[dir][n]
			if i.Group = ""; i.linked && i.Kind == File {
				id := file{i.stat.device, i.stat.inode}
				links[id] = append(links[id], i)
			}
		}
	}
	for _, list := range links {
		for _, i := range list {
			if len(list) > 1 {
				i.Group = list[0].Path
			}
		}
	}
}

// totals returns the number of files and links, their bytes, and what is left out.
func (t tree) totals() (files int, bytes int64, left []Left) {
	for _, list := range t {
		for i := range list {
			switch e := &list[i]; e.Kind {
			case File, Link:
				files++
				bytes += e.Size
			case LeftOut:
				left = append(left, Left{Path: e.Path, Why: e.Why, Size: e.Size})
			}
		}
	}
	slices.SortFunc(left, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	return files, bytes, left
}

// Left is a path whose contents are not stored: a change to it cannot be undone.
type Left struct {
	Path string `json:"path"`
	Why  string `json:"why"`
	Size int64  `json:"size,omitempty"` // bytes
}
