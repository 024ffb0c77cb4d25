//go:build !linux

package audit

import "os"

// syncData makes what was written survive a loss of power.
func syncData(f *os.File) error { return f.Sync() }
