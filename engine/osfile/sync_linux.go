package osfile

import (
	"os"
	"syscall"
)

// Sync makes data written to a file survive a power loss. File times need not.
func Sync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
