package cli

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

func TestRequirePerson(t *testing.T) {
	shell := process{10, 1, "-zsh", 0}
	agents := []string{"claude", "claude-code"}
	ran := []span{{"s1", 1_000_000, 9_000_000}}
	for _, c := range []struct {
		name  string
		scene Scene
		want  string // part of the error; empty: a person
	}{
		{"a person", Scene{Terminal: true, Ancestors: []process{shell}}, ""},
		{"nobody above", Scene{Terminal: true}, ""},
		{"no terminal", Scene{Ancestors: []process{shell}}, "run it in a terminal"},
		{"an agent's mark", Scene{Terminal: true, agentEnv: "CLAUDECODE"}, "CLAUDECODE is set"},
		{"an agent above", Scene{Terminal: true, Ancestors: []process{shell, {9, 1, "claude --resume", 0}}}, "under the agent claude (process 9)"},
		{"an agent's script", Scene{Terminal: true, Ancestors: []process{{9, 1, "node /usr/lib/claude-code/cli.js", 0}}}, "under the agent claude-code"},
		{"a script of that name", Scene{Terminal: true, Ancestors: []process{{9, 1, "node /home/kim/bin/claude.js -c", 0}}}, "under the agent claude"},
		{"options before the script", Scene{Terminal: true, Ancestors: []process{{9, 1, "node --max-old-space-size=8192 --no-warnings /usr/bin/claude", 0}}}, "under the agent claude"},
		{"an editor of a file about one", Scene{Terminal: true, Ancestors: []process{{9, 1, "vim notes claude.md", 0}}}, ""},
		{"a multiplexer", Scene{Terminal: true, Ancestors: []process{shell, {9, 1, "tmux new -s main", 0}}}, "a terminal multiplexer (tmux new -s main, process 9)"},
		{"one that renamed itself", Scene{Terminal: true, Ancestors: []process{shell, {9, 1, "tmux: server", 0}}}, "a terminal multiplexer"},
		{"screen in capitals", Scene{Terminal: true, Ancestors: []process{shell, {9, 1, "SCREEN -dmS a", 0}}}, "a terminal multiplexer"},
		{"a signed policy, from a script in one", Scene{Terminal: true, script: true, Ancestors: []process{{9, 1, "tmux", 0}}}, ""},
		{"a shell that a session left behind", Scene{Terminal: true, sessions: ran, Ancestors: []process{{9, 1, "bash", 5_000_000}}},
			"(bash, process 9) was started while session s1 of an agent was running"},
		{"of a session whose start is a second late", Scene{Terminal: true, sessions: ran, Ancestors: []process{{9, 1, "bash", 999_000}}}, "while session s1"},
		{"a little after its last call", Scene{Terminal: true, sessions: ran, Ancestors: []process{{9, 1, "bash", 9_100_000}}}, "while session s1"},
		{"left to the user's own init", Scene{Terminal: true, sessions: ran, Ancestors: []process{{9, 5, "x", 5_000_000}, {5, 1, "/lib/systemd/systemd --user", 10}}},
			"while session s1"},
		{"a window of a terminal that was there before", Scene{Terminal: true, sessions: ran,
			Ancestors: []process{{12, 9, "bash", 5_000_000}, {9, 1, "gnome-terminal-server", 10}}}, ""},
		{"a login", Scene{Terminal: true, sessions: ran, Ancestors: []process{{12, 11, "bash", 5_000_000}, {11, 9, "sshd: kim", 5_000_000}, {9, 1, "sshd", 10}}}, ""},
		{"long after the session", Scene{Terminal: true, sessions: ran, Ancestors: []process{{9, 1, "bash", 19_000_000}}}, ""},
		{"another program that is called alike", Scene{Terminal: true, Ancestors: []process{{9, 1, "/usr/bin/claudette", 0}}}, ""},
	} {
		err := c.scene.RequirePerson("resuming a session", agents)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "resuming a session needs a person: ")):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestAncestors(t *testing.T) {
	if os.Getppid() == 0 {
		t.Skip("wine: no program of Windows started this one")
	}
	list, err := Ancestors(os.Getpid())
	if err != nil || len(list) == 0 || list[0].pid != os.Getppid() {
		t.Fatalf("the processes above are %v, want %d first", list, os.Getppid())
	}
	if slices.ContainsFunc(list, func(p process) bool { return p.pid == os.Getpid() }) {
		t.Error("a process is above itself")
	}
}

func TestElapsed(t *testing.T) {
	for text, want := range map[string]string{"07": "7s", "01:07": "1m7s", "03:01:07": "3h1m7s", "2-03:01:07": "51h1m7s"} {
		if got := elapsed(text).String(); got != want {
			t.Errorf("elapsed(%q) = %s, want %s", text, got, want)
		}
	}
}

// What is above this test was started before now, and not with the system.
func TestStarted(t *testing.T) {
	if os.Getppid() == 0 {
		t.Skip("wine: no program of Windows started this one")
	}
	list, err := Ancestors(os.Getpid())
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	now := time.Now().UnixMilli()
	if at := list[0].started; at == 0 || at > now+2000 || at < now-24*3600*1000 {
		t.Errorf("%s was started at %d, now is %d", list[0].command, at, now)
	}
}

// An agent is found however many shells it puts in between, and a table in
// which processes are above each other ends too.
func TestAbove(t *testing.T) {
	table := map[int]process{1: {1, 2, "init", 0}, 2: {2, 1, "claude", 0}}
	for pid := 3; pid <= 500; pid++ {
		table[pid] = process{pid, pid - 1, "sh", 0}
	}
	list := above(table, 500)
	if len(list) != 499 || list[497].command != "claude" {
		t.Errorf("%d processes above, want 499 with the agent", len(list))
	}
	if _, err := Ancestors(-1); err == nil {
		t.Error("a process that is not listed has nobody above")
	}
}

// A terminal gets colours, unless it or the person does not want any.
func TestPaint(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a pseudo terminal is opened as on Linux")
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("open a pseudo terminal: %v", err)
	}
	defer terminal.Close()
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		name string
		out  *os.File
		env  map[string]string
		file string // -o
		want string
	}{
		{"terminal", terminal, nil, "", "\x1b[31;1mblock\x1b[0m"},
		{"NO_COLOR", terminal, map[string]string{"NO_COLOR": "1"}, "", "block"},
		{"dumb terminal", terminal, map[string]string{"TERM": "dumb"}, "", "block"},
		{"to a file with -o", terminal, nil, "x", "block"},
		{"redirected", file, nil, "", "block"},
	} {
		a := &App{Streams: term.Streams{Stdout: c.out, Env: func(name string) string { return c.env[name] }}}
		if got := a.Paint(&term.Output{File: c.file}).Verdict("block"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"plain", 10, "plain"},
		{"two\nlines\tand\ra tab", 30, "two lines and a tab"},
		{"\x1b[2J\x07\x00\u009b1m", 10, "?[2J???1m"},
		{"a\u202eb\u2066c\u2028d", 10, "a?b?c?d"},
		{"größer", 6, "größer"},
		{"größere", 6, "größe…"},
	} {
		if got := term.OneLine(c.text, c.n); got != c.want {
			t.Errorf("oneLine(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
