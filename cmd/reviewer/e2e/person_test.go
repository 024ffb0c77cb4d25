//go:build e2e

package e2e

import (
	"context"
	"os/exec"
	"runtime"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// decide runs a command that only a person may give: one that wants a terminal
// and no agent among its ancestors. It types the approval code.
func (s *stage) decide(args ...string) {
	s.t.Helper()
	s.answer(s.personCode(), args...)
}

// personCode returns the person's approval code, which it makes if there is none.
func (s *stage) personCode() string {
	s.t.Helper()
	if s.code == "" {
		made, err := (&code.Store{Log: &audit.Store{Dir: s.state}, Cheap: true}).Set(context.Background(), "kim", nil)
		s.must(err)
		s.code = made
		s.acceptPolicy()
	}
	return s.code
}

// acceptPolicy has the person accept their own policy, which counts only so once there is a code.
func (s *stage) acceptPolicy() {
	s.t.Helper()
	s.answer(s.code, "policy", "accept", "--home", s.state)
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
