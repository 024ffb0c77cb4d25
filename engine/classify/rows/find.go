package rows

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Find parses the rows of a folder that apply to a name: first those of patterns that end
// in *, then those of the name itself, each in the order of layers, files and lines. No
// other row is parsed.
func Find[T any](s *Set, folder, name string) ([]Entry[T], error) {
	if s == nil {
		return nil, nil
	}
	f := s.folder(folder)
	var list []Entry[T]
	for _, b := range f.of(name) {
		read := Once(s, b.key, func() func() (T, error) {
			row, err := parse[T](b.text)
			return func() (T, error) { return row, err }
		})
		row, err := read()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.place, err)
		}
		list = append(list, Entry[T]{b.named, row, b.place, b.adds})
	}
	return list, nil
}

// Where returns the places of the rows of a folder that apply to a name.
func (s *Set) Where(folder, name string) []Place {
	if s == nil {
		return nil
	}
	var places []Place
	for _, b := range s.folder(folder).of(name) {
		places = append(places, b.place)
	}
	return places
}

// NamesIn lists the names of the rows of a folder, including patterns that end in *.
func (s *Set) NamesIn(folder string) []string {
	if s == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.folder(folder).exact))
}

// HasRow reports whether a row of a folder has exactly this name.
func (s *Set) HasRow(folder, name string) bool {
	return s != nil && s.folder(folder).exact[name] != nil
}

// folderBlock is the text of a row of a folder.
type folderBlock struct {
	key   string // key of the parsed row in the cache
	named []string
	place Place
	adds  bool
	text  string
}

// folderIndex contains the rows of a folder by their names.
type folderIndex struct {
	all      []*folderBlock
	exact    map[string][]*folderBlock
	patterns []*folderBlock
}

// of returns the blocks that apply to a name.
func (f *folderIndex) of(name string) []*folderBlock {
	var list []*folderBlock
	for _, b := range f.patterns {
		if slices.ContainsFunc(b.named, func(n string) bool {
			start, pattern := strings.CutSuffix(n, "*")
			return pattern && strings.HasPrefix(name, start)
		}) {
			list = append(list, b)
		}
	}
	return append(list, f.exact[name]...)
}

func (f *folderIndex) enter(b *folderBlock) {
	f.all = append(f.all, b)
	pattern := false
	for _, name := range b.named {
		pattern = pattern || strings.HasSuffix(name, "*")
		f.exact[name] = append(f.exact[name], b)
	}
	if pattern {
		f.patterns = append(f.patterns, b)
	}
}

// folder splits the files of a folder, once.
func (s *Set) folder(folder string) *folderIndex {
	return Once(s, folder, func() *folderIndex {
		f := &folderIndex{exact: map[string][]*folderBlock{}}
		if s == nil {
			return f
		}
		for _, l := range s.layers {
			for _, file := range slices.Sorted(maps.Keys(l.Files)) {
				if !strings.HasPrefix(file, folder) {
					continue
				}
				for _, b := range Split(string(l.Files[file])) {
					at := Place{l.Name, file, b.Line}
					f.enter(&folderBlock{"row " + at.String(), b.Names, at, l.Adds, b.Text})
				}
			}
		}
		return f
	})
}
