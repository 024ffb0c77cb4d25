// Package render writes the confinement of a run as the configuration of another sandbox: a profile of Seatbelt, a
// command line of bubblewrap or of docker and podman, or the settings of the sandbox of Claude Code.
//
// Out of scope: which paths and hosts are allowed (policy, passed in), and whether the other sandbox holds what it
// promises.
package render

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
	"mvdan.cc/sh/v3/syntax"
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

// visible lists what is hidden although it is under something that is read or changed.
func (b Box) visible() []string {
	return slices.DeleteFunc(sorted(b.Plan.Hidden), func(path string) bool {
		return !slices.ContainsFunc(slices.Concat(b.Plan.Read, b.Plan.Write), func(dir string) bool { return sandbox.Within(path, dir) })
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
	quoted, err := syntax.Quote(word, syntax.LangBash)
	if err != nil {
		return "''" // the word contains a byte 0, with which no program can be started
	}
	return quoted
}

// isFile reports whether a path is that of a file; of one that does not exist, whether its name is rather one.
func isFile(path string) bool {
	if info, err := os.Stat(path); err == nil {
		return !info.IsDir()
	}
	return filepath.Ext(path) != ""
}
