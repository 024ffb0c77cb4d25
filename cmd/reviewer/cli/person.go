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
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// process is one row of the process table.
type process struct {
	pid, parent int
	command     string // the whole command line
	started     int64  // Unix milliseconds; 0: not known
}

// span is a time in which an agent's session ran.
type span struct {
	session     string
	first, last int64 // Unix milliseconds
}

// afterwards is how long after a session's last record a process counts as
// started in it: what its last call left behind starts a little later.
const afterwards = 10 * time.Minute

// Scene is what tells a person from an agent: the check takes it as a value, so
// that tests can give any.
type Scene struct {
	Terminal  bool
	agentEnv  string // a variable that agents set for what they run; empty: not set
	Ancestors []process
	sessions  []span // of agents, on this machine
	script    bool   // a script may do it, too
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
	if err := s.ownTerminal(what); err != nil {
		return err
	}
	if !s.Terminal {
		return fmt.Errorf("%s is for a person: run it in a terminal, not in a pipe or script", what)
	}
	return nil
}

// ownTerminal refuses terminals in which somebody else can type: those of a
// multiplexer, and those whose program began while an agent's session ran, since
// the agent may have started it. A code that only the person sees would be a way
// out, if there were a channel to the person that no tool of the agent can read:
// what a hook tells the person stands in the client's transcript (docs/fail-open.md).
func (s Scene) ownTerminal(what string) error {
	const instead = "open a terminal window of your own outside of it (a console, or a new login), and run it there"
	for i, p := range s.Ancestors {
		if !s.script && multiplexer(p.command) {
			return fmt.Errorf("%s is for a person: this runs in a terminal multiplexer (%s, process %d), where an agent can type; %s",
				what, term.OneLine(p.command, 40), p.pid, instead)
		}
		if i+1 < len(s.Ancestors) && !adopts(s.Ancestors[i+1]) || p.parent == 0 || p.started == 0 || adopts(p) {
			continue
		}
		for _, ran := range s.sessions {
			if p.started >= ran.first && p.started <= ran.last+afterwards.Milliseconds() {
				return fmt.Errorf("%s is for a person: the program of this terminal (%s, process %d) was started while session %s of an agent "+
					"ran; use one that was there before, or end the session and %s", what, term.OneLine(p.command, 40), p.pid, ran.session, instead)
			}
		}
	}
	return nil
}

// adopts says that a process is the parent of what nobody waits for any more.
func adopts(p process) bool {
	words := strings.Fields(p.command)
	return p.pid == 1 || len(words) > 0 && strings.TrimSuffix(filepath.Base(words[0]), ":") == "systemd"
}

// multiplexer says that a program keeps terminals into which others can type.
func multiplexer(command string) bool {
	words := strings.Fields(command)
	if len(words) == 0 {
		return false
	}
	name := strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(filepath.Base(words[0])), "-"), ":")
	return slices.Contains([]string{"tmux", "screen", "zellij", "byobu", "tmate", "abduco", "dtach", "dvtm", "mtm", "ttyd", "gotty", "wetty",
		"sshx", "upterm", "tty-share", "wezterm-mux-server", "expect", "reptyr"}, name)
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
func (a *App) Person(what string) (string, error) { return a.somebody(what, a.StdinTerminal(), false) }

// NoAgent is Person for what scripts may do, too: only below an agent it is
// refused.
func (a *App) NoAgent(what string) (string, error) { return a.somebody(what, true, true) }

func (a *App) somebody(what string, terminal, script bool) (string, error) {
	above, err := Ancestors(os.Getpid())
	if err != nil {
		return "", fmt.Errorf("%s is for a person, and whether an agent is at work cannot be told: %w", what, err)
	}
	s := Scene{Terminal: terminal, script: script, Ancestors: above}
	if s.sessions, err = a.spans(); err != nil {
		return "", fmt.Errorf("%s is for a person, and whether an agent is at work cannot be told: %w", what, err)
	}
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

// spans lists the times in which agents worked. A log that is damaged tells nothing.
func (a *App) spans() ([]span, error) {
	store, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	sessions, err := store.Sessions()
	var list []span
	for _, s := range sessions {
		if s.N > 0 {
			list = append(list, span{s.Key.Session, s.First, s.Last})
		}
	}
	return list, err
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
	out, err := exec.Command("/bin/ps", "-axo", "pid=,ppid=,etime=,command=").Output()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	table, now := map[int]process{}, time.Now()
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		pid, err1 := strconv.Atoi(f[0])
		parent, err2 := strconv.Atoi(f[1])
		if errors.Join(err1, err2) == nil {
			table[pid] = process{pid, parent, strings.Join(f[3:], " "), now.Add(-elapsed(f[2])).UnixMilli()}
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
	table, boot := map[int]process{}, bootTime()
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
			table[pid] = process{pid, parent, strings.ReplaceAll(string(line), "\x00", " "), startOf(f, boot)}
		}
	}
	return table, nil
}

// ticks is how many units of time /proc counts in a second, on all of Linux.
const ticks = 100

// startOf is when a process was started: the 22nd field of its stat, of which the
// first two are cut off here.
func startOf(stat []string, boot int64) int64 {
	if len(stat) < 20 || boot == 0 {
		return 0
	}
	n, err := strconv.ParseInt(stat[19], 10, 64)
	if err != nil {
		return 0
	}
	return boot + n*1000/ticks
}

// bootTime is when the system was started, in Unix milliseconds; 0: not known.
func bootTime() int64 {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(stat), "btime ")
	seconds, err := strconv.ParseInt(strings.TrimSpace(strings.SplitN(after, "\n", 2)[0]), 10, 64)
	if err != nil {
		return 0
	}
	return seconds * 1000
}

// elapsed reads a time as ps writes it: days-hours:minutes:seconds.
func elapsed(text string) time.Duration {
	days, clock, ok := strings.Cut(text, "-")
	if !ok {
		days, clock = "0", text
	}
	n, _ := strconv.Atoi(days)
	total := time.Duration(n) * 24 * time.Hour
	unit := time.Second
	parts := strings.Split(clock, ":")
	for i := len(parts) - 1; i >= 0; i-- {
		n, _ := strconv.Atoi(parts[i])
		total += time.Duration(n) * unit
		unit *= 60
	}
	return total
}
