package rows

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Find parses the rows of a folder that one name has: those of patterns that end
// in *, then those of the name itself, each in the order of layers, files and
// lines. No other row is parsed.
func Find[T any](s *Set, folder, name string) ([]Entry[T], error) {
	var list []Entry[T]
	for _, own := range []bool{false, true} {
		for _, b := range s.folder(folder) {
			if !b.names(name, own) {
				continue
			}
			row, err := parse[T](b.text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.place, err)
			}
			list = append(list, Entry[T]{b.named, row, b.place, b.adds})
		}
	}
	return list, nil
}

// NamesIn lists the names of the rows of a folder, patterns that end in * too.
func (s *Set) NamesIn(folder string) []string {
	var names []string
	for _, b := range s.folder(folder) {
		names = append(names, b.named...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// folderBlock is the text of a row of a folder.
type folderBlock struct {
	named []string
	place Place
	adds  bool
	text  string
}

// names reports whether a block has a row for a name: under the name itself, or
// under a pattern.
func (b folderBlock) names(name string, own bool) bool {
	return slices.ContainsFunc(b.named, func(n string) bool {
		start, pattern := strings.CutSuffix(n, "*")
		return own && n == name || !own && pattern && strings.HasPrefix(name, start)
	})
}

// folder splits the files of a folder, once.
func (s *Set) folder(folder string) []folderBlock {
	if s == nil {
		return nil
	}
	return Once(s, "blocks of "+folder, func() []folderBlock {
		var list []folderBlock
		for _, l := range s.layers {
			for _, file := range slices.Sorted(maps.Keys(l.Files)) {
				if !strings.HasPrefix(file, folder) {
					continue
				}
				for _, b := range Split(string(l.Files[file])) {
					list = append(list, folderBlock{b.Names, Place{l.Name, file, b.Line}, l.Adds, b.Text})
				}
			}
		}
		return list
	})
}
