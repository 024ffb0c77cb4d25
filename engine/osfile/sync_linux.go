package osfile

import (
	"os"
	"syscall"
)

// Sync makes what was written to a file survive a loss of power. File times need not.
func Sync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
