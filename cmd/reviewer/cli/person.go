package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// process is one row of the process table.
type process struct {
	pid, parent int
	command     string // the whole command line
}

// Scene is what tells a person from an agent: the check takes it as a value, so
// that tests can give any.
type Scene struct {
	Terminal  bool
	agentEnv  string // a variable that agents set for what they run; empty: not set
	Ancestors []process
}

// RequirePerson refuses what only a person may decide to anything that runs
// below an agent or without a terminal. The agent runs as the same user, so
// this is a hurdle and leaves a trace; it is no wall.
func (s Scene) RequirePerson(what string, agents []string) error {
	if s.agentEnv != "" {
		return fmt.Errorf("%s is for a person: this runs inside an agent (%s is set)", what, s.agentEnv)
	}
	for _, p := range s.Ancestors {
		if name := agentName(p.command, agents); name != "" {
			return fmt.Errorf("%s is for a person: this runs below the agent %s (process %d)", what, name, p.pid)
		}
	}
	if !s.Terminal {
		return fmt.Errorf("%s is for a person: run it in a terminal, not in a pipe or script", what)
	}
	return nil
}

// agentName finds an agent in a command line: the program, or the script that
// an interpreter runs, whatever options stand before it.
func agentName(command string, agents []string) string {
	words := slices.DeleteFunc(strings.Fields(command), func(w string) bool { return strings.HasPrefix(w, "--") })
	for _, w := range words[:min(2, len(words))] {
		base := strings.TrimSuffix(filepath.Base(w), ".js")
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

// Person returns an error unless a person is at work, and who.
func (a *App) Person(what string) (string, error) { return a.somebody(what, a.StdinTerminal()) }

// NoAgent is Person for what scripts may do, too: only below an agent it is
// refused.
func (a *App) NoAgent(what string) (string, error) { return a.somebody(what, true) }

func (a *App) somebody(what string, terminal bool) (string, error) {
	above, err := Ancestors(os.Getpid())
	if err != nil {
		return "", fmt.Errorf("%s is for a person, and whether an agent is at work cannot be told: %w", what, err)
	}
	s := Scene{Terminal: terminal, Ancestors: above}
	var agents []string
	for _, h := range harness.Harnesses() {
		agents = append(agents, h.Programs...)
		if h.Marker != "" && a.Env(h.Marker) != "" {
			s.agentEnv = h.Marker
		}
	}
	if err := s.RequirePerson(what, agents); err != nil {
		return "", err
	}
	return UserName(), nil
}

// UserName says who runs the command, for the log.
func UserName() string {
	u, err := user.Current()
	if err != nil {
		return "uid " + strconv.Itoa(os.Getuid())
	}
	return u.Username
}

// Ancestors lists the processes above one, the nearest first.
func Ancestors(pid int) ([]process, error) {
	table, err := processTable()
	if err != nil {
		return nil, err
	}
	if _, ok := table[pid]; !ok {
		return nil, fmt.Errorf("process %d is not among those that the system lists", pid)
	}
	return above(table, pid), nil
}

// above follows parents to the end, however many shells lie between. It takes
// from the table what it has seen, since a number may be given again meanwhile.
func above(table map[int]process, pid int) []process {
	var list []process
	at := table[pid].parent
	delete(table, pid)
	for p, ok := table[at]; ok; p, ok = table[p.parent] {
		delete(table, p.pid)
		list = append(list, p)
	}
	return list
}

func processTable() (map[int]process, error) {
	if runtime.GOOS == "linux" {
		return procTable()
	}
	out, err := exec.Command("/bin/ps", "-axo", "pid=,ppid=,command=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	table := map[int]process{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		pid, err1 := strconv.Atoi(f[0])
		parent, err2 := strconv.Atoi(f[1])
		if errors.Join(err1, err2) == nil {
			table[pid] = process{pid, parent, strings.Join(f[2:], " ")}
		}
	}
	return table, nil
}

// procTable reads /proc. A process that ends meanwhile is left out.
func procTable() (map[int]process, error) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	table := map[int]process{}
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		stat, err1 := os.ReadFile("/proc/" + d.Name() + "/stat")
		line, err2 := os.ReadFile("/proc/" + d.Name() + "/cmdline")
		// The name in brackets may hold anything; what follows its end does not.
		_, after, ok := strings.Cut(string(stat[max(0, strings.LastIndexByte(string(stat), ')')):]), ") ")
		f := strings.Fields(after)
		if errors.Join(err1, err2) != nil || !ok || len(f) < 2 {
			continue
		}
		parent, err := strconv.Atoi(f[1])
		if err == nil {
			table[pid] = process{pid, parent, strings.ReplaceAll(string(line), "\x00", " ")}
		}
	}
	return table, nil
}
