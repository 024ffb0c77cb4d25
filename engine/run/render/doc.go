// Package render writes the confinement of a run as the configuration of another sandbox: a profile of Seatbelt, a
// command line of bubblewrap or of docker and podman, or the settings of the sandbox of Claude Code.
//
// Out of scope: which paths and hosts are allowed (policy, passed in), and whether the other sandbox holds what it
// promises.
package render

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
)

// Box is what is to be confined, and how.
type Box struct {
	Plan      sandbox.Plan
	Command   []string
	Dir       string            // the workspace
	Home      string            // of the user
	Links     map[string]string // links of the system among the paths that are read, with their targets
	Variables []string          // that are removed
	Hosts     []string
	Refused   []string // hosts that are refused in any case
	Memory    int64    // bytes
	Processes int
	OpenFiles int
	User      string // its number and that of its group, as docker takes them
}

// Formats are the names of the sandboxes, with what writes their configuration.
func Formats() map[string]func(Box) string {
	return map[string]func(Box) string{"seatbelt": Seatbelt, "bubblewrap": Bubblewrap, "docker": Docker, "claude": Claude}
}

// all reports whether everything is read that is not hidden.
func (b Box) all() bool { return slices.Contains(b.Plan.Read, "/") }

func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// visible lists what is hidden although it is below something that is read or changed.
func (b Box) visible() []string {
	return slices.DeleteFunc(sorted(b.Plan.Hidden), func(path string) bool {
		return !slices.ContainsFunc(slices.Concat(b.Plan.Read, b.Plan.Write), func(dir string) bool { return within(path, dir) })
	})
}

// sorted returns paths in order, so that each comes after those that it is in, and each once.
func sorted(paths []string) []string {
	list := slices.Clone(paths)
	slices.Sort(list)
	return slices.Compact(list)
}

// line writes a command line for a shell, one option on each line.
func line(words [][]string) string {
	var lines []string
	for _, group := range words {
		var quoted []string
		for _, w := range group {
			quoted = append(quoted, quote(w))
		}
		lines = append(lines, strings.Join(quoted, " "))
	}
	return strings.Join(lines, " \\\n  ") + "\n"
}

// quote writes a word for a shell.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,@%+", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// isFile reports whether a path is, by its name, rather a file than a folder. Those that exist are known better.
func isFile(path string, exists func(string) (folder, ok bool)) bool {
	if folder, ok := exists(path); ok {
		return !folder
	}
	return filepath.Ext(path) != ""
}
