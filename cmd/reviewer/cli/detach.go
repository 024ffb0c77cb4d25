package cli

import (
	"fmt"
	"os"
	"os/exec"
)

// Detach starts this program again as a process of its own that nobody waits for: it
// has no terminal and no pipes, and goes on when this process or its group ends.
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
