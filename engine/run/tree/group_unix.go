//go:build unix && !linux

package tree

import "syscall"

func grouped(a *syscall.SysProcAttr) { a.Setpgid = true }

func groupAlive(pid int) bool { return syscall.Kill(-pid, 0) == nil }

func signalGroup(pid int, sig syscall.Signal) {
	_ = syscall.Kill(-pid, sig) // it may have ended
}
