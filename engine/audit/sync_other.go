//go:build !linux

package audit

import "os"

// syncData makes what was written survive a loss of power.
func syncData(f *os.File) error { return f.Sync() }

// mapNow has the kernel bring all of a mapping in at once, where it can.
const mapNow = 0
