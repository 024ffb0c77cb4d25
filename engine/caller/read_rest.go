//go:build !linux

package caller

import (
	"fmt"
	"maps"
)

// Quick reports whether a process can be looked up alone.
const Quick = false

// Read returns the facts about a process and all above it, as far as the system reports them: neither variables nor
// namespaces nor terminals.
func Read(pid int, _ []string) (*Facts, error) {
	table, err := processes()
	if err != nil {
		return nil, err
	}
	if _, ok := table[pid]; !ok {
		return nil, fmt.Errorf("process %d is not in the system's process list", pid)
	}
	return &Facts{Chain: above(maps.Clone(table), pid), others: table}, nil
}

// ReadCaller returns the facts as far as Caller needs them.
func ReadCaller(pid int, _ File) (*Facts, error) { return Read(pid, nil) }

func readOne(pid int) (*Facts, error) { return Read(pid, nil) }

// SpacesOf returns an empty text: the system has no namespaces.
func SpacesOf(int) string { return "" }

// Installed names a program's file; which one runs is not known here.
func Installed(path string) File { return File{Path: path} }
