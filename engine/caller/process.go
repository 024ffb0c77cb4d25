package caller

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Process is what the system knows about a process.
type Process struct {
	Pid, Parent int
	Start       int64  // as in engine.Client
	Began       int64  // Unix milliseconds; 0: unknown
	Group       string // its session of processes; empty: unknown
	Terminal    bool   // it has a controlling terminal
	Lost        int    // rights that it has given up for good: new privileges, and a filter of system calls each; -1: unknown
	Program     string // as in engine.Client
	Spaces      string // as in engine.Client
	Command     string // its command line
	Marker      string // the variable of an agent with which it was started; empty: none
}

// name is how a process calls itself: the base of its first word.
func (p *Process) name() string {
	words := strings.Fields(p.Command)
	if len(words) == 0 {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(path.Base(words[0])), "-"), ":")
}

func (f *Facts) client(p *Process) *engine.Client {
	return &engine.Client{Pid: p.Pid, Start: p.Start, Boot: f.Boot, Program: p.Program, Spaces: p.Spaces}
}

// The names are not in the policy, since the commands that lift a denial must not
// become looser with a policy that cannot be read, or that an agent has changed.

// multiplexer reports whether a program keeps terminals into which others can type.
func (p *Process) multiplexer() bool {
	return slices.Contains([]string{"tmux", "screen", "zellij", "byobu", "tmate", "abduco", "dtach", "dvtm", "mtm", "ttyd", "gotty", "wetty",
		"sshx", "upterm", "tty-share", "wezterm-mux-server", "expect", "reptyr"}, p.name())
}

// serves reports whether a program starts others for whoever asks it: when it was started itself says nothing about them. A
// multiplexer does that too, but a window of it is what people open, and what agents type there is known from their calls.
func (p *Process) serves() bool {
	return p.Pid == 1 || p.schedules() || slices.Contains([]string{"systemd", "init", "launchd",
		"explorer", "services", "sihost", "svchost", "dbus-daemon", "dbus-broker", "dbus-broker-launch", "sshd", "sshd-session", "dropbear", "inetd", "xinetd", "conmon", "containerd-shim",
		"containerd-shim-runc-v2", "dockerd", "docker-init", "tini", "dumb-init", "supervisord", "runsvdir", "runsv", "s6-svscan",
		"s6-supervise"}, p.name())
}

// schedules reports whether a program starts others at a time that was chosen before.
func (p *Process) schedules() bool {
	return slices.Contains([]string{"cron", "crond", "anacron", "fcron", "atd", "atrun", "taskeng"}, p.name())
}

// shell reports whether a program is a shell, which starts what a person or a program writes.
func (p *Process) shell() bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "fish", "csh", "tcsh", "busybox",
		"cmd", "powershell", "pwsh"}, p.name())
}

// runsHook reports whether a process is the shell of a hook's command line.
func (p *Process) runsHook() bool {
	words := strings.Fields(p.Command)
	switch {
	case len(words) < 3 || !p.shell():
		return false
	case slices.Contains([]string{"cmd", "powershell", "pwsh"}, p.name()):
		return strings.Contains(p.Command, "hook_") || strings.Contains(p.Command, " hook ")
	}
	return words[1] == "-c" && strings.Contains(p.Command, " hook ")
}

// AgentName finds an agent in a command line: the program, or the script that
// an interpreter runs, regardless of the options before it.
func AgentName(command string, agents []string) string {
	words := slices.DeleteFunc(strings.Fields(command), func(w string) bool { return strings.HasPrefix(w, "--") })
	for _, w := range words[:min(2, len(words))] {
		base := strings.TrimSuffix(path.Base(w), ".js")
		if slices.Contains(agents, base) {
			return base
		}
		for _, part := range strings.Split(w, "/") {
			if slices.Contains(agents, part) {
				return part
			}
		}
	}
	return ""
}

// above follows parents to the end, however many shells are between. It removes visited processes from the table, since
// a table can be read while process IDs are reused.
func above(table map[int]Process, pid int) []Process {
	p, ok := table[pid]
	if !ok {
		return nil
	}
	list := []Process{p}
	delete(table, pid)
	for next, ok := table[p.Parent]; ok && !younger(&next, &p); next, ok = table[p.Parent] {
		delete(table, next.Pid)
		list, p = append(list, next), next
	}
	return list
}

// younger reports whether a process began after one that names it as its parent: then
// the parent has ended, and its process ID was reused, which is common on Windows.
func younger(parent, child *Process) bool {
	return parent.Began != 0 && child.Began != 0 && parent.Began > child.Began+engine.StartBlur
}
