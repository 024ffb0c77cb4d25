//go:build !windows

package main

import (
	"os"
	"syscall"
	"testing"
)

// systemPrograms are those that scripts use and that a system has not.
func systemPrograms() map[string]func() { return nil }

// putProgram makes this binary a program of another name.
func putProgram(self, path string) error {
	if os.Link(self, path) == nil {
		return nil
	}
	return copyProgram(self, path)
}

// become replaces this process by a program, with the same arguments.
func become(program string) error { return syscall.Exec(program, os.Args, os.Environ()) }

// workdirRoot is the folder for the files of scripts; empty: the usual one.
func workdirRoot(*testing.T) string { return "" }

// forSystem returns the scripts as they run on this system.
func forSystem(_ *testing.T, files []string) []string { return files }
