package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// agent is a coding agent that is started from the shell: with its guards off
// it does what it likes, and no hook sees it.
func agent(c *shell.Call) {
	o := c.Opts
	c.Process()
	if o.Operand(0).Is("mcp", "config", "settings", "plugin", "extensions") {
		c.Subs = subName(o.Operand(0))
		if o.Operand(1).Is("add", "add-json", "remove", "set", "install", "add-from-claude-desktop", "disable", "uninstall", "unset") {
			changesAgent(c, o.Operand(0))
		}
	}
	if unguarded(o.List) || unguarded(swallowed(o)) || unguardedByName(c) || otherSettings(c) {
		c.Signal(engine.SignalAgentUnguarded)
	}
	misled(c)
}

// changesAgent notes a change to an agent's settings by its own command. A
// server of tools that another agent starts guards nobody here, but it stays.
func changesAgent(c *shell.Call, what abstract.Arg) {
	if what.Is("mcp") && c.Name != "claude" {
		c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "enable", Persistence: true}, abstract.Word(c.Name+" mcp"))
		return
	}
	c.Signal(engine.SignalGuardTamper)
}

// swallowed are options that were taken for the value of the one before: one
// agent's -p has a value, another's has none.
func swallowed(o shell.Options) []shell.Option {
	var out []shell.Option
	for _, opt := range o.List {
		if opt.Has && opt.Value.HasPrefix("-") {
			name, value, has := strings.Cut(opt.Value.Text, "=")
			out = append(out, shell.Option{Name: name, Value: opt.Value.With(value), Has: has})
		}
	}
	return out
}

func unguarded(list []shell.Option) bool {
	for _, opt := range list {
		name := strings.TrimLeft(opt.Name, "-")
		switch name {
		case "dangerously-skip-permissions", "yolo", "trust-all-tools", "dangerously-bypass-approvals-and-sandbox", "full-auto", "allow-all-tools", "allow-all", "yes-always", "y", "always-approve", "auto-approve", "skip-permissions-unsafe", "dangerously-allow-all", "no-verify", "allow-dangerously-skip-permissions", "bare", "safe-mode":
			return true
		case "approval-mode", "permission-mode", "a", "ask-for-approval", "sandbox", "s":
			if opt.Value.Is("yolo", "bypassPermissions", "never", "danger-full-access", "full-auto", "dontAsk") {
				return true
			}
		case "setting-sources":
			if !strings.Contains(opt.Value.Text, "user") { // a person's hooks are not loaded
				return true
			}
		case "c", "config":
			if strings.Contains(opt.Value.Text, "approval_policy") && strings.Contains(opt.Value.Text, "never") ||
				strings.Contains(opt.Value.Text, "danger-full-access") {
				return true
			}
		}
	}
	return false
}

// unguardedByName looks for flags that mean something harmless elsewhere.
func unguardedByName(c *shell.Call) bool {
	switch c.Name {
	case "cursor-agent":
		return slices.ContainsFunc(c.Args, func(a abstract.Arg) bool { return a.Is("-f", "--force") })
	case "aider":
		return c.Opts.Exact("--yes")
	}
	return false
}

// reviewer is the guard itself: what changes how it decides is tampering when
// an agent does it.
func reviewer(c *shell.Call) {
	o := c.Opts
	first, second := o.Operand(0), o.Operand(1)
	c.Subs = subName(first)
	if first.Is("trash") {
		trash(c, o)
		return
	}
	c.Process()
	c.Writes("create", reports(o)...)
	if first.Is("policy") && (second.Is("fmt") && !on(o, "--check") && !on(o, "--diff") || second.Is("new")) {
		c.Writes("modify", o.Operands[2:]...)
	}
	switch {
	// hook: what a client says of the session, a person's words among it, is not
	// for others to say.
	case first.Is("uninstall", "allow", "install", "trust", "purge", "hook"):
		c.Signal(engine.SignalGuardTamper)
	case first.Is("session") && second.Is("resume", "allow", "scope", "limits"), first.Is("policy") && second.Is("activate", "disable", "enable", "set", "install", "rollback", "sign"),
		first.Is("policy") && second.Is("trust") && !o.Operand(2).Is("show"),
		first.Is("policy") && second.Is("pull") && on(o, "--activate"),
		first.Is("audit") && second.Is("purge", "rotate", "delete"), first.Is("config") && second.Is("set", "unset", "edit"), first.Is("scope", "limits", "off", "disable"):
		c.Subs = append(c.Subs, second.Show())
		c.Signal(engine.SignalGuardTamper)
	}
}

// reports are the files and folders that a command of reviewer writes by itself.
func reports(o shell.Options) []abstract.Arg {
	files := o.All("-o", "--output", "--out", "--save-cases", "--in")
	for _, f := range o.All("-f", "--format") { // json=FILE
		if _, file, named := strings.Cut(f.Text, "="); named {
			files = append(files, f.With(file))
		}
	}
	return files
}

// trash is `reviewer trash`: what rm does, but it can be undone. Only reviewer
// itself is believed to do that, and only with the trash of its own state.
func trash(c *shell.Call, o shell.Options) {
	operands := o.Operands[1:]
	to, elsewhere := o.Get("--to")
	switch {
	case on(o, "--empty"):
		c.Signal(engine.SignalGuardTamper) // what could be undone no longer can
		c.Process()
	case on(o, "--list"), !genuine(c):
		c.Process()
	case elsewhere:
		c.Process()
		c.Writes("create", to)
	case on(o, "--restore"):
		c.Process()
		for _, a := range operands {
			if strings.Trim(a.Text, "0123456789-") != "" { // a path and no id
				c.Writes("create", a)
			}
		}
	case o.Has("--home"):
		c.Deletes(true, false, operands...)
	default:
		c.Out = abstract.Arg{}
		c.Removes(abstract.RawEffect{Verb: "trash", Recursive: true, Reversible: engine.R1}, operands...)
	}
}

// on tells whether a switch is given and not taken back: --list=false.
func on(o shell.Options, name string) bool {
	on := false
	for _, opt := range o.List {
		if opt.Matches(name) {
			on = !opt.Has || !opt.Value.Is("false", "False", "FALSE", "f", "F", "0")
		}
	}
	return on
}

// genuine tells whether this is reviewer and not a file of the project that
// has its name, or what the code itself has put in its way.
func genuine(c *shell.Call) bool {
	if c.Shell.In.Program != "" && c.Path.Is(c.Shell.In.Program) {
		return true
	}
	_, moved := c.Shell.Scope.Lookup("PATH")
	return !c.Local() && !moved
}
