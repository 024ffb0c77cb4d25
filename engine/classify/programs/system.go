package programs

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/options"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// harmlessSignals are options of kill that end nothing: signals that a program ignores unless
// it handles them, and options that list signals.
var harmlessSignals = []string{"-l", "-L", "-0", "-CONT", "-SIGCONT", "-WINCH", "-SIGWINCH", "-URG", "-SIGURG", "-CHLD", "-SIGCHLD"}

// kill parses its arguments in its own way: the first may name a signal, and -1 means all
// processes.
func kill(c *shell.Call) {
	targets, first := c.Args, abstract.Arg{}
	if len(targets) > 0 && targets[0].HasPrefix("-") {
		first, targets = targets[0], targets[1:]
		c.Opts.Flags = []abstract.Given{{Text: first.Show(), Word: first}}
		if first.Is("-s", "-n", "--signal") && len(targets) > 0 {
			targets = targets[1:]
		}
	}
	if first.Is(harmlessSignals...) {
		return
	}
	if len(targets) > 0 && targets[0].Is("--") {
		targets = targets[1:]
	}
	if first.Is("-1") && len(targets) == 0 {
		targets = []abstract.Arg{first}
	}
	c.Opts.Operands = targets
	c.Aims(targets)
	forced, signal := first.Is("-9", "-KILL", "-SIGKILL"), options.Signal(c.Args)
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "kill", ByNumber: true, Forced: forced, Signal: signal}, targets...)
}

// crontab judges the commands in the given crontab.
func crontab(c *shell.Call) {
	if in := c.Shell.Frame.Stdin; in != nil && (len(c.Opts.Operands) == 0 || c.Opts.Operand(0).Is("-")) {
		for _, line := range strings.Split(in.Text, "\n") {
			if code, ok := cronCode(line); ok {
				c.Child(func() shell.Outcome { return c.Shell.Embed(in.With(code), "cron", false) })
			}
		}
		return
	}
	c.Reads(c.Opts.Operands...)
}

// cronCode returns the command of a crontab line.
func cronCode(line string) (string, bool) {
	fields := strings.Fields(line)
	n := 5
	if len(fields) > 0 && strings.HasPrefix(fields[0], "@") {
		n = 1
	}
	if len(fields) <= n || strings.HasPrefix(fields[0], "#") || strings.Trim(fields[0], "0123456789*/,-@abcdefghijklmnopqrstuvwxyz") != "" {
		return "", false
	}
	return strings.Join(fields[n:], " "), true
}

// at judges the job on standard input. An unknown job may recur.
func at(c *shell.Call) {
	if in := c.Shell.Frame.Stdin; in != nil && in.Known() {
		c.Process() // a known job runs once, and is judged by its effects
		c.Child(func() shell.Outcome { return c.Shell.Embed(*in, "at", false) })
		return
	}
	c.Signal(engine.SignalPersistence)
	c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "enable", Persistence: true}, abstract.Word("at"))
}

// bindMount handles mount --bind: changes under the second directory are changes of the first.
func bindMount(c *shell.Call) {
	kind, _ := c.Opts.Get("-o", "--options")
	if len(c.Opts.Operands) != 2 || !c.Opts.Has("--bind", "--rbind", "-B", "-R", "-M", "--move") && !strings.Contains(kind.Text, "bind") {
		return
	}
	for _, dir := range c.Shell.Scope.Dirs {
		if at := abstract.JoinDir(dir, c.Opts.Operands[1]); at.Sure == abstract.Literal && len(c.Shell.Links) < 256 {
			c.Shell.Links[at.Text] = abstract.JoinDir(dir, c.Opts.Operands[0])
		}
	}
}

func lastOperand(c *shell.Call) abstract.Arg {
	if n := len(c.Opts.Operands); n > 0 {
		return c.Opts.Operands[n-1]
	}
	return abstract.Arg{}
}

// destroysDisk records the disks whose contents are lost.
func destroysDisk(c *shell.Call) {
	var devices []abstract.Arg
	images := false
	for _, a := range c.Opts.Operands {
		switch {
		case a.HasPrefix("/dev/") || !a.Known():
			devices = append(devices, a)
		case strings.ContainsAny(a.Text, "/."):
			images = true
			c.Writes("write", a)
		}
	}
	if len(devices) == 0 && images {
		return
	}
	if len(devices) == 0 {
		devices = []abstract.Arg{lastOperand(c)}
	}
	c.Signal(engine.SignalDiskWrite)
	c.System("format", devices...)
}
