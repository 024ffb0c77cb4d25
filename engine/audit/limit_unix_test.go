//go:build unix

package audit

import (
	"os/signal"
	"syscall"
)

// limitFiles lets this process write no file of more bytes.
func limitFiles(bytes uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes})
}
