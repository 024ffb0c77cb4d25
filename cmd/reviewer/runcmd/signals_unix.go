//go:build unix

package runcmd

import (
	"os"
	"syscall"
)

// passed are the signals that are passed on. A stop of the terminal (SIGTSTP) stops supervisor and command alike.
func passed() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGWINCH, syscall.SIGCONT}
}
