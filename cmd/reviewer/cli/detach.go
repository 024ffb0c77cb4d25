package cli

import (
	"fmt"
	"os"
	"os/exec"
)

// Detach starts this program as a separate process without terminal and pipes, which
// continues when this process or its group ends.
func Detach(args ...string) error { return DetachWith(nil, args...) }

// DetachWith is Detach with an environment; nil: that of this process.
func DetachWith(env []string, args ...string) error {
	_, err := Detached(env, args...)
	return err
}

// Detached is DetachWith, and returns the ID of the process.
func Detached(env []string, args ...string) (pid int, err error) {
	program, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(program, args...) // no streams: the system's null device
	cmd.Dir, cmd.Env = os.TempDir(), env
	detached(cmd)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start a process: %w", err)
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}
