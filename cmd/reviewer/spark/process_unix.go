//go:build !windows

package spark

import (
	"os/exec"
	"syscall"
)

// separate keeps a Ctrl-C of the terminal from Spark: it is told to end by interrupt.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interrupt tells the process, and those that it started, to end.
func interrupt(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
