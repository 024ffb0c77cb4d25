package tree

import (
	"os"
	"syscall"
)

// grouped lets the process have a group, which signals of the console reach.
func grouped(a *syscall.SysProcAttr) { a.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP }

// groupAlive reports whether the process can be found.
func groupAlive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release() // it was only looked for
	return true
}

// signalGroup terminates the process: there are no other signals here.
func signalGroup(pid int, _ syscall.Signal) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // it may have ended
		_ = p.Release()
	}
}
