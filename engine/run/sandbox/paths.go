package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// without returns the paths that together cover everything under a path except what is
// hidden. What is created later next to something hidden is not covered. Links are left
// out: their targets have their own paths.
func without(path string, hidden []string) []string {
	if slices.ContainsFunc(hidden, func(h string) bool { return Within(path, h) }) {
		return nil
	}
	if !slices.ContainsFunc(hidden, func(h string) bool { return Within(h, path) }) {
		return []string{path}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil // what cannot be listed is hidden as a whole
	}
	var list []string
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			list = append(list, without(filepath.Join(path, e.Name()), hidden)...)
		}
	}
	return list
}

// Within reports whether a path is another one, or is in it.
func Within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
