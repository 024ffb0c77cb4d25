package cli

import (
	"fmt"
	"os"
	"os/exec"
)

// Detach starts this program as a separate process without terminal and pipes, which
// continues when this process or its group ends.
func Detach(args ...string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(program, args...) // no streams: the system's null device
	cmd.Dir = os.TempDir()
	detached(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	return cmd.Process.Release()
}
