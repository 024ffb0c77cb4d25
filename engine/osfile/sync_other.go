//go:build !linux

package osfile

import "os"

// Sync makes what was written to a file survive a loss of power.
func Sync(f *os.File) error { return f.Sync() }
