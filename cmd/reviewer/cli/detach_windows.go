package cli

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detached gives a command no console and a process group of its own.
func detached(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// NoCoreDump keeps the memory of this process out of files.
func NoCoreDump() {} // Windows writes none unless an administrator asks for it
