//go:build !windows

package main

import "testing"

// programs are those that scripts use and that a system has not.
func programs() map[string]func() { return nil }

// workdirRoot is the folder for the files of scripts; empty: the usual one.
func workdirRoot(*testing.T) string { return "" }

// forSystem returns the scripts as they run on this system.
func forSystem(_ *testing.T, files []string) []string { return files }
