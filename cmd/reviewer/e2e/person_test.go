//go:build e2e

package e2e

import (
	"os/exec"
	"runtime"
	"strings"
)

// decide runs a command that only a person may give: one that wants a terminal
// and no agent among its ancestors.
func (s *stage) decide(args ...string) {
	s.t.Helper()
	s.answer("", args...)
}

// answer does the same, and types a line when it is asked.
func (s *stage) answer(line string, args ...string) {
	s.t.Helper()
	args = append([]string{s.reviewer}, args...)
	cmd := exec.Command("script", append([]string{"-q", "/dev/null"}, args...)...)
	if runtime.GOOS == "linux" {
		cmd = exec.Command("script", "-q", "-e", "-c", shellLine(args), "/dev/null")
	}
	cmd.Dir = s.Project
	cmd.Env = s.programEnv()
	if line != "" {
		cmd.Stdin = strings.NewReader(line + "\n")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("reviewer %s: %v\n%s", strings.Join(args[1:], " "), err, out)
	}
}

func shellLine(args []string) string {
	var quoted []string
	for _, a := range args {
		quoted = append(quoted, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
	}
	return strings.Join(quoted, " ")
}
