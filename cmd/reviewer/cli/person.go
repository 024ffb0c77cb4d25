package cli

import (
	"fmt"
	"os"
	"os/user"
	"path"
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
	started     int64  // Unix milliseconds; 0: unknown
}

// span is a time in which an agent's session ran.
type span struct {
	session     string
	first, last int64 // Unix milliseconds
}

// afterwards is how long after a session's last record a process counts as started in
// it: processes that its last call left running may start others a little later. As
// with the names of multiplexers, no policy can make it shorter.
const afterwards = 10 * time.Minute

// startsBlur is how many milliseconds a process may seem to have been started too early
// or too late: ps counts seconds.
const startsBlur = 2000

// Scene contains the facts that distinguish a person from an agent, as a value,
// so that tests can set them.
type Scene struct {
	Terminal  bool
	agentEnv  string // a variable that agents set for what they run; empty: not set
	Ancestors []process
	sessions  []span // of agents, on this machine
	script    bool   // a script may do it too
}

// RequirePerson returns an error for anything that runs under an agent or without a
// terminal, if only a person may decide it. The agent runs as the same user, so this
// makes it harder and leaves a record, but cannot prevent it.
func (s Scene) RequirePerson(what string, agents []string) error {
	if s.agentEnv != "" {
		return fmt.Errorf("%s needs a person: this is running inside an agent (%s is set)", what, s.agentEnv)
	}
	for _, p := range s.Ancestors {
		if name := agentName(p.command, agents); name != "" {
			return fmt.Errorf("%s needs a person: this is running under the agent %s (process %d)", what, name, p.pid)
		}
	}
	if err := s.ownTerminal(what); err != nil {
		return err
	}
	if !s.Terminal {
		return fmt.Errorf("%s needs a person: run it in a terminal, not in a pipe or script", what)
	}
	return nil
}

// SharedTerminalError means that a person may be at the terminal, but an agent can type into it as
// well. The approval code shows that it is the person.
type SharedTerminalError struct{ why string }

func (e *SharedTerminalError) Error() string { return e.why }

// ownTerminal refuses terminals in which someone else can type, with a SharedTerminalError:
// those of a multiplexer, and those whose program began while an agent's session ran, since
// the agent may have started it. A hook cannot send the person a secret instead: its texts
// are in the client's transcript, which the agent can read (docs/fail-open.md).
func (s Scene) ownTerminal(what string) error {
	const instead = "open a terminal of your own outside it (a console, or a new login) and run the command there"
	for i, p := range s.Ancestors {
		if !s.script && multiplexer(p.command) {
			return &SharedTerminalError{fmt.Sprintf("%s needs a person: this is running in a terminal multiplexer (%s, process %d), "+
				"where an agent can type; %s", what, term.OneLine(p.command, 40), p.pid, instead)}
		}
		if i+1 < len(s.Ancestors) && !adopts(s.Ancestors[i+1]) || p.parent == 0 || p.started == 0 || adopts(p) {
			continue
		}
		for _, ran := range s.sessions {
			if p.started >= ran.first-startsBlur && p.started <= ran.last+afterwards.Milliseconds() {
				return &SharedTerminalError{fmt.Sprintf("%s needs a person: this terminal's program (%s, process %d) was started while "+
					"session %s of an agent was running; use an earlier one, or end the session and %s", what,
					term.OneLine(p.command, 40), p.pid, ran.session, instead)}
			}
		}
	}
	return nil
}

// adopts reports whether a process is the parent of orphaned processes.
func adopts(p process) bool {
	words := strings.Fields(p.command)
	return p.pid == 1 || len(words) > 0 &&
		slices.Contains([]string{"systemd", "explorer", "services", "sihost", "svchost"}, strings.TrimSuffix(path.Base(words[0]), ":"))
}

// multiplexer reports whether a program keeps terminals into which others can type.
// The names are not in the policy, since the commands that lift a denial must not
// become looser with a policy that cannot be read, or that an agent has changed.
func multiplexer(command string) bool {
	words := strings.Fields(command)
	if len(words) == 0 {
		return false
	}
	name := strings.TrimSuffix(strings.TrimPrefix(strings.ToLower(path.Base(words[0])), "-"), ":")
	return slices.Contains([]string{"tmux", "screen", "zellij", "byobu", "tmate", "abduco", "dtach", "dvtm", "mtm", "ttyd", "gotty", "wetty",
		"sshx", "upterm", "tty-share", "wezterm-mux-server", "expect", "reptyr"}, name)
}

// agentName finds an agent in a command line: the program, or the script that
// an interpreter runs, regardless of the options before it.
func agentName(command string, agents []string) string {
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

// Person returns the name of the person who runs the command, and an error if it is not a person.
func (a *App) Person(what string) (string, error) { return a.somebody(what, a.StdinTerminal(), false) }

// NoAgent is Person for commands that scripts may run as well: it only refuses processes under an
// agent.
func (a *App) NoAgent(what string) (string, error) { return a.somebody(what, true, true) }

func (a *App) somebody(what string, terminal, script bool) (string, error) {
	above, err := Ancestors(os.Getpid())
	if err != nil {
		return "", fmt.Errorf("%s needs a person, and it cannot be determined whether an agent is running: %w", what, err)
	}
	s := Scene{Terminal: terminal, script: script, Ancestors: above}
	if s.sessions, err = a.spans(); err != nil {
		return "", fmt.Errorf("%s needs a person, and it cannot be determined whether an agent is running: %w", what, err)
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

// spans lists the times in which agents worked. Damaged logs are skipped.
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

// UserName returns the name of the user who runs the command, for the log.
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
		return nil, fmt.Errorf("process %d is not in the system's process list", pid)
	}
	return above(table, pid), nil
}

// above follows parents to the end, however many shells are between. It removes
// visited processes from the table, since process IDs are reused.
func above(table map[int]process, pid int) []process {
	var list []process
	at := table[pid].parent
	child := table[pid]
	delete(table, pid)
	for p, ok := table[at]; ok && !younger(p, child); p, ok = table[p.parent] {
		delete(table, p.pid)
		list, child = append(list, p), p
	}
	return list
}

// younger reports whether a process began after one that names it as its parent: then
// the parent has ended, and its process ID was reused, which is common on Windows.
func younger(parent, child process) bool {
	return parent.started != 0 && child.started != 0 && parent.started > child.started+startsBlur
}

// psTable reads what ps lists on macOS: pid, parent, elapsed time and command.
func psTable(list string, now time.Time) map[int]process {
	table := map[int]process{}
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) < 4 {
			continue
		}
		pid, err1 := strconv.Atoi(f[0])
		parent, err2 := strconv.Atoi(f[1])
		if err1 == nil && err2 == nil {
			table[pid] = process{pid, parent, strings.Join(f[3:], " "), now.Add(-elapsed(f[2])).UnixMilli()}
		}
	}
	return table
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
