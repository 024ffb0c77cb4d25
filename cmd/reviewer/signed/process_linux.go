package signed

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"golang.org/x/sys/unix"
)

// Harden keeps the memory of this process, in which a code is about to be, from other processes of the same user: none can
// trace it, read its memory or have it dumped. It refuses to go on if one traces it already.
func Harden() error {
	cli.NoCoreDump()
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep other processes from this one: %w", err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("find out whether this process is traced: %w", err)
	}
	if !bytes.Contains(status, []byte("\nTracerPid:\t0\n")) {
		return errors.New("another process traces this one, and could read the approval code: start it without a debugger")
	}
	return nil
}

// Now reads the clocks of the system.
func Now() Moment {
	var awake, all unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) // both clocks exist since Linux 2.6.39
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &all)
	return Moment{Awake: time.Duration(awake.Nano()), All: time.Duration(all.Nano())}
}
