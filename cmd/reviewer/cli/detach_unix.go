//go:build !windows

package cli

import (
	"os/exec"
	"syscall"
)

// detached makes a command the leader of a session of its own.
func detached(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
