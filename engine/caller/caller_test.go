package caller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
)

// The times of the tests, in Unix milliseconds: a session ran from began to ended.
const (
	boot, login, before = 1_000, 1_000_000, 4_000_000
	began, during       = 5_000_000, 6_000_000
	ended, soon, later  = 7_000_000, 7_100_000, 90_000_000
)

const home = "4026531836:4026531837:4026531832" // the namespaces of the machine

// at is a process above another one. Its parent is the next one of the chain.
func at(began int64, command string) Process {
	return Process{Began: began, Start: began, Command: command, Program: "1:" + strings.Fields(command)[0], Spaces: home, Terminal: true}
}

func (p Process) alone() Process               { p.Terminal = false; return p }
func (p Process) marked(name string) Process   { p.Marker = name; return p }
func (p Process) within(spaces string) Process { p.Spaces = spaces; return p }
func (p Process) file(program string) Process  { p.Program = program; return p }

// chain numbers processes from the nearest, 100, to the first of the system; the last keeps 0 as its parent.
func chain(list ...Process) []Process {
	for i := range list {
		if list[i].Pid = 100 - i; i+1 < len(list) {
			list[i].Parent = 99 - i
		}
	}
	if last := &list[len(list)-1]; last.name() == "init" || last.name() == "sleep" {
		last.Pid = 1
		if len(list) > 1 {
			list[len(list)-2].Parent = 1
		}
	}
	return list
}

var (
	initial = at(boot, "/sbin/init").alone()
	manager = at(login, "/lib/systemd/systemd --user").alone()
	window  = at(login+1, "/usr/libexec/gnome-terminal-server").alone()
	hook    = at(later, "/usr/bin/reviewer hook claude-code UserPromptSubmit")
	line    = at(later, "sh -c /usr/bin/reviewer hook claude-code UserPromptSubmit || exit 2")
	relay   = at(later, "/opt/bin/reviewer-hook hook claude-code UserPromptSubmit")
	sshd    = at(boot, "/usr/sbin/sshd -D").alone()
)

// agent is the client of the session s1, which a process of a chain can be.
func agent(when int64) Process { return at(when, "/opt/claude/claude") }

// facts are those about a chain on a machine on which s1 ran; its client still lives if it does.
func facts(lives bool, list ...Process) *Facts {
	f := &Facts{Chain: chain(list...), Boot: "b", Agents: []string{"claude", "claude-code", "codex", "gemini"}}
	f.Sessions = []Session{{ID: "s1", First: began, Last: ended, Lives: lives,
		Client: &engine.Client{Pid: 4242, Start: began - 10, Boot: "b", Program: "1:/opt/claude/claude", Spaces: home}}}
	return f
}

// below makes a process of the chain the client of s1.
func (f *Facts) below(i int) *Facts {
	f.Sessions[0].Client = f.client(&f.Chain[i])
	return f
}

// feeding makes a process of the chain the client of s1, whose hooks read from it.
func (f *Facts) feeding(i int) *Facts {
	f.below(i).Sessions[0].Client.Feeds = true
	return f
}

// madeBy says which process made the socket that the hook reads from.
func (f *Facts) madeBy(pid int) *Facts {
	f.Maker = pid
	return f
}

// relayedBy says which file reviewer-hook is.
func (f *Facts) relayedBy(path string) *Facts {
	f.HookClient = File{path, "1:" + path}
	return f
}

// confirmable is what a person would confirm for the client of a hook.
func confirmable(f *Facts) engine.Client {
	client := Facts{Chain: f.Chain[1:], Boot: f.Boot}
	program, _, _ := client.Confirmable(client.client(&client.Chain[0]), nil)
	return *program
}

func TestClient(t *testing.T) {
	names := []string{"claude", "claude-code"}
	for _, c := range []struct {
		name  string
		facts *Facts
		want  string // part of the missing fact; empty: a person's client
	}{
		// Ordinary situations.
		{"in a terminal", facts(false, hook, agent(later), at(login, "-zsh"), window, manager, initial), ""},
		{"with the shell of the hook's line", facts(false, hook, line, agent(later), at(login, "-zsh"), window, manager, initial), ""},
		{"a script under node, of any name", facts(false, hook, line, at(later, "node /opt/tool/cli.js"), at(login, "-zsh"), window, manager, initial), ""},
		{"its launcher, of the same name", facts(false, hook, agent(later), at(later, "node /usr/bin/claude"), at(login, "-zsh"), window, initial), ""},
		{"the launcher sets the variable", facts(false, hook, agent(later).marked("CLAUDECODE"), at(later, "node /usr/bin/claude"), at(login, "-zsh"), window, initial), ""},
		{"an SDK script that a person runs", facts(false, hook, at(later, "claude"), at(later, "python3 nightly.py"), at(login, "bash"), window, initial), ""},
		{"a new tab while another session runs", facts(true, hook, agent(during), at(during, "zsh"), window, manager, initial), ""},
		{"a login by ssh before", facts(true, hook, agent(during), at(before, "-bash"), at(before, "sshd: kim@pts/0"), at(before, "sshd: kim [priv]"), sshd, initial), ""},
		{"a login by ssh afterwards", facts(false, hook, agent(later), at(later, "-bash"), at(later, "sshd: kim@pts/0"), sshd, initial), ""},
		{"a new window of tmux", facts(true, hook, agent(during), at(during, "bash"), at(before, "tmux: server"), initial), ""},
		{"a new window of screen", facts(true, hook, agent(during), at(during, "bash"), at(before, "SCREEN -S a"), initial), ""},
		{"tmux, begun before", facts(true, hook, agent(during), at(before, "-bash"), at(before, "tmux new"), initial), ""},
		{"an editor's terminal", facts(false, hook, agent(later), at(later, "/bin/zsh"), at(login, "/usr/share/code/code").alone(), manager, initial), ""},
		{"an editor's extension", facts(false, hook, agent(later).alone(), at(later, "/usr/share/code/code --type=utility").alone(), at(login, "/usr/share/code/code").alone(), manager, initial), ""},
		{"a container whose first process lasts", facts(false, hook, agent(later), at(later, "bash"), at(boot, "sleep infinity").alone()), ""},
		{"docker exec: nobody is seen above", facts(false, hook, agent(later), at(later, "bash")), ""},
		{"a console", facts(false, hook, agent(later), at(later, "-bash"), at(boot, "login -- kim"), initial), ""},
		{"a session of its own goes on", facts(true, hook, agent(began-10), at(before, "zsh"), window, initial).below(1), ""},
		{"the only program of its window", facts(true, hook, agent(began-10), initial).below(1), ""},
		{"confirmed by the person", func() *Facts {
			f := facts(true, hook, agent(during), at(during, "bash"), at(during, "kitty"), manager, initial)
			f.Mine = []engine.Client{confirmable(f)}
			return f
		}(), ""},

		{"another session of a client whose hooks read from it", facts(true, hook, agent(began-10), initial).feeding(1).madeBy(99), ""},
		{"started by reviewer-hook", facts(false, hook, relay, line, agent(later), window, initial).relayedBy("/opt/bin/reviewer-hook"), ""},

		// Ways to pass for a client.
		{"a call that becomes the hook, in another session", facts(true, hook, agent(began-10), initial).feeding(1), "does not read from the client"},
		{"the same, with a socket of its own", facts(true, hook, agent(began-10), initial).feeding(1).madeBy(98), "does not read from the client"},
		{"a program with the name of reviewer-hook", facts(false, hook, relay, agent(later), window, initial).relayedBy("/usr/bin/reviewer-hook"), "reviewer itself"},
		{"its program, called by another name", facts(false, hook, at(later, "reviewer.test").file("1:/opt/bin/reviewer-hook"), agent(later), window, initial).relayedBy("/opt/bin/reviewer-hook"), "reviewer itself"},
		{"reviewer-hook, started by a shell", facts(false, hook, relay, at(later, "bash x.sh"), agent(later), window, initial).relayedBy("/opt/bin/reviewer-hook"), "a shell"},
		{"the shell of a tool", facts(true, hook, at(during, "/bin/zsh -c reviewer hook claude-code < x"), agent(before), at(before, "zsh"), initial).below(2), ""}, // see Joined
		{"a shell", facts(true, hook, at(during, "bash"), agent(before), initial).below(2), "a shell (bash"},
		{"a program of a call", facts(true, hook, at(during, "python3 x.py"), at(during, "zsh -c python3 x.py"), agent(before), initial).below(3), "below the client of session s1"},
		{"exec -a claude", facts(true, hook, at(during, "claude x"), at(during, "bash -c exec"), agent(before), initial).below(3), "below the client of session s1"},
		{"two of the client's name in a row", facts(true, hook, at(during, "claude x"), agent(before), initial).below(2), "below the client of session s1"},
		{"a client that an agent of another name started", facts(true, hook, agent(during), at(during, "bash"), at(before, "node /opt/tool/cli.js"), initial).below(3), "below the client of session s1"},
		{"a client below an agent whose session is unknown", facts(false, hook, agent(later), at(later, "bash"), at(later, "codex"), at(login, "zsh"), initial), "below the agent codex"},
		{"the real client, started by a call", facts(false, hook, agent(later).marked("CLAUDECODE"), at(later, "bash"), window, initial), "was started by a call"},
		{"by a call that hides its client", facts(false, hook, agent(later), at(later, "bash").marked("GEMINI_CLI"), window, initial), "process 98 has GEMINI_CLI"},
		{"an orphan", facts(true, hook, agent(during), initial), "was started while session s1"},
		{"an orphan named systemd", facts(true, hook, agent(during), at(during, "systemd"), initial), "was started while session s1"},
		{"an orphan below an orphan named tmux", facts(true, hook, agent(during), at(during, "bash"), at(during, "tmux"), initial), "was started while session s1"},
		{"an orphan named init", facts(true, hook, agent(during), at(during, "bash"), at(during, "init --"), initial), "was started while session s1"},
		{"a little after the last call", facts(false, hook, agent(soon), at(soon, "bash"), initial), "was started while session s1"},
		{"long after it, while its client lives", facts(true, hook, agent(later), at(later, "bash"), initial), "was started while session s1"},
		{"systemd-run --user", facts(true, hook, agent(during), manager, initial), "was started while session s1"},
		{"systemd-run as root", facts(true, hook, agent(during), at(during, "sh -c claude"), initial), "was started while session s1"},
		{"D-Bus", facts(true, hook, agent(during), at(during, "x"), at(login, "dbus-daemon --session"), manager, initial), "was started while session s1"},
		{"a timer, when nobody works", facts(false, hook, at(later, "claude -p go").alone(), manager, initial), "a service or a timer"},
		{"a timer's shell", facts(false, hook, at(later, "claude -p go").alone(), at(later, "sh -c claude -p go").alone(), initial), "a service or a timer"},
		{"cron", facts(false, hook, agent(later).alone(), at(later, "sh -c claude").alone(), at(later, "CRON -f").alone(), at(boot, "/usr/sbin/cron -f").alone(), initial), "a schedule started it"},
		{"at", facts(false, hook, agent(later), at(later, "sh"), at(boot, "atd").alone(), initial), "a schedule started it"},
		{"cron, with a terminal of script", facts(false, hook, agent(later), at(later, "script -qc claude"), at(boot, "crond").alone(), initial), "a schedule started it"},
		{"ssh to this machine", facts(true, hook, agent(during), at(during, "-bash"), at(during, "sshd: kim@pts/3"), at(during, "sshd: kim [priv]"), sshd, initial), "was started while session s1"},
		{"a server of tmux of its own", facts(true, hook, agent(during), at(during, "bash"), at(during, "tmux: server"), initial), "was started while session s1"},
		{"docker exec while a session runs", facts(true, hook, agent(during), at(during, "bash")), "was started while session s1"},
		{"a new PID namespace", facts(true, hook, agent(during), at(during, "sh"), at(during, "sleep 9").alone()), "was started while session s1"},
		{"the first process of one", facts(true, hook, agent(during), at(during, "init")), "was started while session s1"},
		{"below whatever adopts orphans", facts(false, hook, initial), "has ended"},
		{"below the user's service manager", facts(false, hook, manager, initial), "has ended"},
		{"below sshd", facts(false, hook, sshd, initial), "starts others for everybody"},
		{"nobody above", facts(false, hook), "no program is above"},
		{"only the shell of a line above", facts(false, hook, line), "no program is above"},
		{"the program itself", facts(false, hook, at(later, "/tmp/reviewer run -- x"), agent(later), initial), "reviewer itself"},
		{"a start that is unknown", facts(true, hook, at(0, "claude"), initial), "unknown when it was started"},
		{"a confirmed program that ended, its number given again", func() *Facts {
			f := facts(true, hook, agent(during), at(during, "bash"), at(during, "kitty"), initial)
			mine := confirmable(f)
			mine.Start--
			f.Mine = []engine.Client{mine}
			return f
		}(), "was started while session s1"},
		{"a confirmed program of before the system was started", func() *Facts {
			f := facts(true, hook, agent(during), at(during, "kitty"), initial)
			mine := confirmable(f)
			mine.Boot = "a"
			f.Mine = []engine.Client{mine}
			return f
		}(), "was started while session s1"},
		{"another program in the place of a confirmed one", func() *Facts {
			f := facts(true, hook, agent(during), at(during, "kitty"), initial)
			mine := confirmable(f)
			mine.Program = "1:/tmp/x"
			f.Mine = []engine.Client{mine}
			return f
		}(), "was started while session s1"},
	} {
		got := c.facts.Client(names)
		if c.want == "" && got.Missing != "" || c.want != "" && !strings.Contains(got.Missing, c.want) {
			t.Errorf("%s: missing %q, want %q", c.name, got.Missing, c.want)
		}
		if got.Pid == 0 && got.Verified() {
			t.Errorf("%s: a client without a process", c.name)
		}
	}
}

func TestPerson(t *testing.T) {
	self, shell := at(later, "/usr/bin/reviewer allow"), at(later, "-zsh")
	plain := Command{What: "allowing a call", Terminal: true}
	with := func(change func(*Command)) Command {
		c := plain
		change(&c)
		return c
	}
	installed := with(func(c *Command) { c.Installed = []File{{"/usr/bin/reviewer", self.Program}} })
	spaces := with(func(c *Command) { c.Spaces = []string{home} })
	const other = "4026532001:4026532002:4026532003"
	for _, c := range []struct {
		name    string
		facts   *Facts
		command Command
		unseen  bool   // the code is enough
		want    string // part of the error; empty: a person
	}{
		// Ordinary situations.
		{"a terminal", facts(false, self, shell, window, manager, initial), plain, false, ""},
		{"a terminal of before, while a session runs", facts(true, self, at(during, "zsh"), window, manager, initial), plain, false, ""},
		{"a login by ssh before the session", facts(true, self, at(before, "-bash"), at(before, "sshd: kim@pts/0"), sshd, initial), plain, false, ""},
		{"long after the session", facts(false, self, shell, at(later, "xterm"), initial), plain, false, ""},
		{"the installed program", facts(false, self, shell, window, initial), installed, false, ""},
		{"the namespaces of the resident process", facts(false, self, shell, window, initial), spaces, false, ""},
		{"an editor of a file about an agent", facts(false, self, at(later, "vim notes claude.md"), window, initial), plain, false, ""},
		{"a program that is called alike", facts(false, self, at(later, "/usr/bin/claudette"), window, initial), plain, false, ""},
		{"a script may do it, from a multiplexer", facts(false, self, at(later, "make"), at(login, "tmux"), initial), with(func(c *Command) { c.Script = true }), false, ""},
		{"a script may do it, from cron", facts(false, self, at(later, "sh -c x"), at(boot, "cron"), initial), with(func(c *Command) { c.Script = true }), false, ""},
		{"a script may do it, with a copy", facts(false, self.file("1:/tmp/r"), shell, window, initial), with(func(c *Command) { c.Script, c.Installed = true, installed.Installed }), false, ""},
		{"a container", facts(false, self, shell, at(boot, "sleep infinity").alone()), plain, false, ""},
		{"the code: a login by ssh during the session", facts(true, self, at(during, "-bash"), at(during, "sshd: kim@pts/0"), sshd, initial), plain, true, "use an earlier one"},
		{"the code: docker exec during the session", facts(true, self, at(during, "bash")), plain, true, "use an earlier one"},
		{"the code: tmux", facts(false, self, shell, at(login, "tmux new -s main"), initial), plain, true, "a terminal multiplexer (tmux, process 98)"},
		{"the code: a terminal that was opened during the session", facts(true, self, at(during, "bash"), at(during, "kitty"), manager, initial), plain, true, "program is kitty"},
		{"the code: a new login of the user, with a manager of its own", facts(true, self, shell, at(during, "xterm"), at(during, "systemd --user"), initial), plain, true, "use an earlier one"},
		{"no terminal", facts(false, self, shell, window, initial), with(func(c *Command) { c.Terminal = false }), false, "run it in a terminal"},

		// Ways to pass for a person.
		{"an agent's variable", facts(false, self, shell, initial), with(func(c *Command) { c.Marker = "CLAUDECODE" }), false, "CLAUDECODE is set"},
		{"below an agent", facts(false, self, shell, agent(later), window, initial), plain, false, "under the agent claude (process 98)"},
		{"below the script of an agent", facts(false, self, at(later, "node /usr/lib/claude-code/cli.js"), window, initial), plain, false, "under the agent claude-code"},
		{"options before the script", facts(false, self, at(later, "node --max-old-space-size=8192 /usr/bin/claude"), window, initial), plain, false, "under the agent claude"},
		{"below the client of a session, whatever its name", facts(true, self, shell, at(before, "node /opt/tool/cli.js"), initial).below(2), plain, false, "under the client of session s1"},
		{"env -i below a call", facts(true, self, at(during, "script -qc x"), at(during, "bash").marked("CLAUDECODE"), initial), plain, false, "process 98 has CLAUDECODE"},
		{"cron, a terminal of script", facts(false, self, at(later, "script -qc x"), at(later, "cron"), initial), plain, false, "a schedule started this"},
		{"at", facts(false, self, at(later, "sh"), at(boot, "atd"), initial), plain, false, "a schedule started this"},
		{"a copy of the program", facts(false, self.file("1:/tmp/r"), shell, window, initial), installed, false, "run /usr/bin/reviewer"},
		{"unshare, from an orphan", facts(true, self.within(other), at(during, "script").within(other), initial), spaces, false, "namespaces of its own"},
		{"unshare, from a terminal of before", facts(true, self.within(other), at(during, "script").within(other), at(login, "zsh"), window, initial), plain, false, "(zsh, process 98) is not in"},
		{"bwrap", facts(true, self.within(other), at(during, "bwrap --unshare-pid").within(other), at(during, "sh"), window, initial), spaces, false, "namespaces of its own"},
		{"only another mount namespace", facts(true, self.within("4026531836:4026531837:4026532003"), shell, window, initial), spaces, false, "namespaces of its own"},
		{"a resident process that cannot be seen", facts(false, self, shell, window, initial), with(func(c *Command) { c.Spaces = []string{""} }), false, "namespaces of its own"},
		{"the first process of a PID namespace", facts(true, self, at(during, "init")), plain, true, "use an earlier one"},
		{"below it", facts(true, self, at(during, "sh"), at(during, "sleep 9")), plain, true, "use an earlier one"},
		{"an orphan named systemd", facts(true, self, at(during, "script -qc x"), at(during, "systemd -c x"), initial), plain, true, "use an earlier one"},
		{"a manager of the user's own, from a call", facts(true, self, at(during, "script"), at(during, "/lib/systemd/systemd --user"), initial), plain, true, "use an earlier one"},
		{"setsid", facts(true, self, at(during, "script -qc x"), initial), plain, true, "program is script"},
		{"the orphan itself", facts(true, at(during, "/usr/bin/reviewer allow"), initial), plain, true, "program is reviewer"},
		{"of a session whose start is a second late", facts(true, self, at(began-1_000, "bash"), initial), plain, true, "program is bash"},
		{"a little after its last call", facts(false, self, at(soon, "bash"), initial), plain, true, "program is bash"},
		{"systemd-run", facts(true, self, at(during, "script"), manager, initial), plain, true, "program is script"},
		{"ssh to this machine", facts(true, self, at(during, "bash"), at(during, "sshd-session: kim"), sshd, initial), plain, true, "use an earlier one"},
		{"a window of zellij", facts(true, self, at(during, "bash"), at(before, "zellij --server x"), initial), plain, true, "zellij"},
		{"expect", facts(false, self, at(later, "expect x"), window, initial), plain, true, "expect"},
		{"a renamed server of tmux", facts(false, self, shell, at(login, "tmux: server"), initial), plain, true, "multiplexer"},
		{"a start that is unknown", facts(true, self, at(0, "xterm"), initial), plain, true, "unknown when"},
	} {
		err := c.facts.Person(c.command)
		_, unseen := err.(*UnseenError)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "allowing a call needs a person")):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		case unseen != c.unseen:
			t.Errorf("%s: %v; the code is enough: %t", c.name, err, unseen)
		}
	}
}

// An agent is found however many shells it puts in between, and a table in
// which processes are above each other ends too.
func TestAbove(t *testing.T) {
	table := map[int]Process{1: {Pid: 1, Parent: 2, Command: "init"}, 2: {Pid: 2, Parent: 1, Command: "claude"}}
	for pid := 3; pid <= 500; pid++ {
		table[pid] = Process{Pid: pid, Parent: pid - 1, Command: "sh"}
	}
	if list := above(table, 500); len(list) != 500 || list[498].Command != "claude" {
		t.Errorf("%d processes, want 500 with the agent", len(list))
	}
}

// A process that began after its child is not its parent.
func TestNumbersGivenAgain(t *testing.T) {
	table := map[int]Process{9: {Pid: 9, Parent: 8, Command: "reviewer", Began: 90_000}, 8: {Pid: 8, Parent: 7, Command: "cmd", Began: 80_000},
		7: {Pid: 7, Parent: 1, Command: "claude", Began: 500_000}}
	if list := above(table, 9); len(list) != 2 || list[1].Command != "cmd" {
		t.Errorf("above it are %v, want cmd alone", list)
	}
}

// A person can confirm a terminal, and neither what runs below an agent nor what a schedule starts.
func TestConfirmable(t *testing.T) {
	for _, c := range []struct {
		facts     *Facts
		name, why string
	}{
		{facts(true, agent(during), at(during, "bash"), at(during, "kitty"), manager, initial), "kitty, process 98", ""},
		{facts(true, agent(during), at(during, "bash"), at(during, "sshd: kim"), sshd, initial), "bash, process 99", ""},
		{facts(true, agent(during), at(during, "bash"), at(during, "node x"), initial).below(2), "node, process 98", "below the client of session s1"},
		{facts(true, agent(later), at(later, "sh"), at(later, "cron"), initial), "sh, process 99", "a schedule started it"},
	} {
		_, name, why := c.facts.Confirmable(c.facts.client(&c.facts.Chain[0]), []string{"claude"})
		if name != c.name || c.why == "" && why != "" || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", name, why, c.why)
		}
	}
}

// The session of processes that the first program of a container has, or of a small virtual machine, can have the number 0.
func TestJoined(t *testing.T) {
	for _, c := range []struct {
		hook, client string
		want         bool
	}{{"7", "7", true}, {"0", "0", true}, {"7", "8", false}, {"7", "0", false}, {"", "", false}} {
		f := facts(true, hook, agent(before), initial)
		f.Chain[0].Group, f.Chain[1].Group = c.hook, c.client
		if got := f.Caller().Joined; got != c.want {
			t.Errorf("a hook of session %q of a client of session %q: joined %t", c.hook, c.client, got)
		}
	}
}

func TestClientIs(t *testing.T) {
	c := engine.Client{Pid: 7, Start: 50, Boot: "b", Program: "1:2"}
	for name, change := range map[string]func(*engine.Client){
		"pid": func(o *engine.Client) { o.Pid++ }, "start": func(o *engine.Client) { o.Start++ }, "boot": func(o *engine.Client) { o.Boot = "" },
		"program": func(o *engine.Client) { o.Program = "1:3" },
	} {
		o := c
		if change(&o); c.Is(&o) {
			t.Errorf("another %s is the same process", name)
		}
	}
	rough, about := engine.Client{Pid: 7, Start: 10_000}, engine.Client{Pid: 7, Start: 11_500}
	if !c.Is(&c) || !rough.Is(&about) || (&engine.Client{}).Is(&engine.Client{}) || (*engine.Client)(nil).Is(&c) {
		t.Error("a process is not the same as itself, or nobody is somebody")
	}
}

func ExampleFacts_Client() {
	f := &Facts{Chain: []Process{{Pid: 9, Parent: 8, Command: "reviewer hook claude-code"}, {Pid: 8, Parent: 7, Command: "bash"}}}
	fmt.Println(f.Client(nil).Missing)
	// Output: a shell (bash, process 8) started the hook, and not a client
}

func TestOfCall(t *testing.T) {
	client := at(began, "claude")
	f := func(list ...Process) *Facts {
		return &Facts{Chain: chain(append(list, at(login, "bash"), at(boot, "init"))...)}
	}
	started := at(during, "bash -c x").marked("CLAUDECODE")
	for name, c := range map[string]struct {
		f    *Facts
		want bool
	}{
		"a child of a call's shell":      {f(at(during, "python train.py"), started, client), true},
		"the call's shell itself":        {f(started, client), true},
		"the client":                     {f(client), false},
		"a server of the client's own":   {f(at(during, "node server.js"), client), false},
		"below such a server":            {f(started, at(during, "node server.js"), client), false},
		"a client that passes it on":     {f(started, client.marked("CLAUDECODE")), false},
		"another client":                 {f(started, at(began, "claude").file("2:9")), false},
		"no client":                      {f(started), false},
		"a service that others use":      {f(at(during, "worker"), at(during, "dockerd"), started, client), false},
		"a terminal that others type to": {f(at(during, "vim"), at(during, "tmux"), started, client), false},
		"reviewer":                       {f(at(during, "reviewer serve"), started, client), false},
		"below reviewer":                 {f(at(during, "sh"), at(during, "reviewer serve"), started, client), false},
		"of other namespaces":            {f(at(during, "sh").within("1:2:3"), started, client), false},
		"of another user":                {f(at(during, "sh").file(""), started, client), false},
	} {
		t.Run(name, func(t *testing.T) {
			want := &Facts{Chain: c.f.Chain}
			by := engine.Client{}
			for i := range want.Chain {
				if want.Chain[i].Program == client.Program {
					by = *want.client(&want.Chain[i])
				}
			}
			if got := c.f.OfCall(&by, "1:reviewer"); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
