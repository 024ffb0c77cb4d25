package live

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// Possible reports whether what an agent leaves running can be found and ended on this system.
func Possible() bool { return true }

// grouped puts a command and what it starts into a process group of its own, which ends as a whole.
func grouped(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

func endGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may be gone
}

// Reap ends the processes whose home is a temporary one: daemons that an agent started, which are not in
// its process group.
func Reap(home string) {
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || home == "" {
		return
	}
	for _, path := range environments {
		environ, err := os.ReadFile(path)
		if err != nil || !slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return string(v) == "HOME="+home }) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
		}
	}
}
