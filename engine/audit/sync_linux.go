package audit

import (
	"os"
	"syscall"
)

// syncData makes what was written survive a loss of power. File times need not.
func syncData(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
