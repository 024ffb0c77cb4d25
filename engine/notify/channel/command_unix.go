//go:build !windows

package channel

import (
	"os/exec"
	"syscall"
)

// together starts a program in a process group of its own, so that the whole group can
// be killed.
func together(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
