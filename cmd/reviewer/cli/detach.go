package cli

import (
	"errors"
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
	return startDetached(env, nil, args)
}

// DetachReady is Detach with an empty environment, but for a variable that says which file descriptor to close. ready ends
// once the process has closed it.
func DetachReady(variable string, args ...string) (ready *os.File, err error) {
	ready, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close() // the process has a copy
	if _, err := startDetached([]string{variable + "=3"}, []*os.File{w}, args); err != nil {
		return nil, errors.Join(err, ready.Close())
	}
	return ready, nil
}

func startDetached(env []string, files []*os.File, args []string) (pid int, err error) {
	program, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(program, args...) // no streams: the system's null device
	cmd.Dir, cmd.Env, cmd.ExtraFiles = os.TempDir(), env, files
	detached(cmd)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start a process: %w", err)
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}
