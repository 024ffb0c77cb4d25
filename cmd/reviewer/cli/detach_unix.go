//go:build !windows

package cli

import (
	"os/exec"
	"syscall"
)

// NoCoreDump keeps the memory of this process out of files.
func NoCoreDump() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) } // lowering it needs no rights

// detached makes a command the leader of a session of its own.
func detached(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
