package cli

import (
	"fmt"
	"os"
	"os/exec"
)

// Detach starts this program again as a process of its own that nobody waits for: it
// has no terminal and no pipes, and goes on when this process or its group ends.
func Detach(args ...string) error { return DetachWith(nil, args...) }

// DetachWith is Detach with an environment; nil: that of this process.
func DetachWith(env []string, args ...string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(program, args...) // no streams: the system's null device
	cmd.Dir, cmd.Env = os.TempDir(), env
	detached(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	return cmd.Process.Release()
}
