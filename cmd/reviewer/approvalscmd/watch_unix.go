//go:build !windows

package approvalscmd

import (
	"os"
	"syscall"
)

// suspensions are the signals with which a shell suspends and continues a program.
func suspensions() []os.Signal { return []os.Signal{syscall.SIGTSTP, syscall.SIGCONT} }

// suspend stops this process until a SIGCONT.
func suspend() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

func continues(s os.Signal) bool { return s == syscall.SIGCONT }
