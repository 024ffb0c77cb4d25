//go:build !linux

package osfile

import "os"

// Sync makes data written to a file survive a power loss.
func Sync(f *os.File) error { return f.Sync() }
