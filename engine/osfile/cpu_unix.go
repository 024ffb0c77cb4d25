//go:build unix && !linux

package osfile

import (
	"syscall"
	"time"
)

// ThreadTime returns the CPU time that this process has used: the system does not report that of a
// thread. A process that answers one event has done nothing else.
func ThreadTime() time.Duration { return ProcessTime() }

// ProcessTime returns the CPU time that this process has used.
func ProcessTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
