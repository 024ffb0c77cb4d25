//go:build e2e && linux

package agents

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// start runs the client in a process group of its own, and ends what is left of it: the
// group, and daemons that a client leaves behind.
func (s *stage) start(output *bytes.Buffer) (hung bool) {
	s.Helper()
	cmd := s.command(s.driver.args...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 5 * time.Second // daemons may hold the pipes
	s.must(cmd.Start())
	end := time.AfterFunc(limit, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	cmd.Wait() //nolint:errcheck // its status says nothing about the call
	hung = !end.Stop()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may be gone
	s.reap()
	return hung
}

// command is the client with arguments, in the project.
func (s *stage) command(args ...string) *exec.Cmd {
	line := append(slices.Clone(s.client.Command), args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env = s.project, append(s.environment(), s.driver.env(s)...)
	return cmd
}

// reap ends the processes that a client left: those whose HOME is this stage's.
func (s *stage) reap() {
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	s.must(err)
	for _, path := range environments {
		environ, err := os.ReadFile(path)
		if err != nil || !slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return string(v) == "HOME="+s.home }) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it may be gone
		}
	}
}
