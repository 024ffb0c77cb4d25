package channel

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// together ensures that the children of a program are killed with it.
func together(cmd *exec.Cmd) {
	cmd.Cancel = func() error {
		taskkill := filepath.Join(os.Getenv("SystemRoot"), "System32", "taskkill.exe")
		if exec.Command(taskkill, "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run() == nil {
			return nil
		}
		return cmd.Process.Kill()
	}
}
