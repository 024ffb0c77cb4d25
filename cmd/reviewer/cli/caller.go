package cli

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// CalledBy reports whether a client itself started this process, and not a program
// that imitates it: prompts are accepted only from a client. A program of the same
// user that has a client's name and no agent above it cannot be distinguished from the
// client.
func (a *App) CalledBy(client harness.Harness) bool {
	pid := a.Pid
	if pid == 0 {
		pid = os.Getpid()
	}
	above, err := Ancestors(pid)
	if err != nil {
		return false
	}
	var agents []string
	for _, h := range harness.Harnesses() {
		agents = append(agents, h.Programs...)
	}
	return calledBy(above, client.Programs, agents)
}

// calledBy examines the processes above a hook, the nearest first: at most a shell
// that runs the hook's command line, then the client, perhaps with its launcher, and
// no agent above that started the client with its own prompt.
func calledBy(above []process, client, agents []string) bool {
	if len(above) > 0 && runsHook(above[0].command) {
		above = above[1:]
	}
	if len(above) == 0 || agentName(above[0].command, client) == "" {
		return false
	}
	for len(above) > 0 && agentName(above[0].command, client) != "" {
		above = above[1:]
	}
	return !slices.ContainsFunc(above, func(p process) bool { return agentName(p.command, agents) != "" })
}

// runsHook reports whether a process is the shell of a hook's command line.
func runsHook(command string) bool {
	words := strings.Fields(command)
	if len(words) > 2 && slices.Contains([]string{"cmd", "powershell", "pwsh"}, path.Base(words[0])) {
		return strings.Contains(command, "hook_"+harness.ClaudeCode) || strings.Contains(command, " hook ")
	}
	return len(words) > 2 && slices.Contains([]string{"sh", "bash", "zsh", "dash"}, path.Base(words[0])) && words[1] == "-c" &&
		strings.Contains(command, " hook ")
}
