package osfile

import (
	"time"

	"golang.org/x/sys/windows"
)

// ThreadTime returns the CPU time that this process has used. A process that answers one
// event has done nothing else.
func ThreadTime() time.Duration { return ProcessTime() }

// ProcessTime returns the CPU time that this process has used.
func ProcessTime() time.Duration {
	var began, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &began, &ended, &kernel, &user) != nil {
		return 0
	}
	return hundreds(kernel) + hundreds(user)
}

// hundreds reads a duration, which is counted in steps of 100 ns.
func hundreds(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32+int64(t.LowDateTime)) * 100
}
