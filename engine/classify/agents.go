package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// agentPrograms are coding agents, and reviewer itself.
func agentPrograms(name string) program {
	switch name {
	case "claude", "codex", "gemini", "q", "copilot", "opencode", "aider", "cursor-agent", "amp", "goose-agent", "crush", "qwen", "kiro-cli", "kiro", "droid", "cline", "plandex", "auggie", "iflow", "openhands",
		"claude-code", "gemini-cli", "qwen-code", "opencode-ai", "copilot-cli", "cline-cli": // as packages are called: npx @anthropic-ai/claude-code
		return program{values: " -p --print --model -m --prompt -c --config -a --ask-for-approval -s --sandbox --permission-mode --allowedTools --disallowedTools --settings --setting-sources --add-dir --mcp-config --approval-mode ", run: agent}
	case "reviewer":
		return program{values: reviewerValues, own: true, run: reviewer}
	case "reviewer-hook":
		return program{own: true, run: func(c *call) { c.process() }}
	}
	return program{}
}

// agent is a coding agent that is started from the shell: with its guards off
// it does what it likes, and no hook sees it.
func agent(c *call) {
	o := c.opts
	c.process()
	if o.operand(0).is("mcp", "config", "settings", "plugin", "extensions") {
		c.subs = subName(o.operand(0))
		if o.operand(1).is("add", "add-json", "remove", "set", "install", "add-from-claude-desktop", "disable", "uninstall", "unset") {
			c.changesAgent(o.operand(0))
		}
	}
	if unguarded(o.list) || unguarded(swallowed(o)) || c.unguardedByName() || c.otherSettings() {
		c.signal(engine.SignalAgentUnguarded)
	}
	c.misled()
}

// changesAgent notes a change to an agent's settings by its own command. A
// server of tools that another agent starts guards nobody here, but it stays.
func (c *call) changesAgent(what arg) {
	if what.is("mcp") && c.name != "claude" {
		c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "enable", persistence: true}, word(c.name+" mcp"))
		return
	}
	c.signal(engine.SignalGuardTamper)
}

// swallowed are options that were taken for the value of the one before: one
// agent's -p has a value, another's has none.
func swallowed(o options) []option {
	var out []option
	for _, opt := range o.list {
		if opt.has && opt.value.hasPrefix("-") {
			name, value, has := strings.Cut(opt.value.text, "=")
			out = append(out, option{name: name, value: opt.value.with(value), has: has})
		}
	}
	return out
}

func unguarded(list []option) bool {
	for _, opt := range list {
		name := strings.TrimLeft(opt.name, "-")
		switch name {
		case "dangerously-skip-permissions", "yolo", "trust-all-tools", "dangerously-bypass-approvals-and-sandbox", "full-auto", "allow-all-tools", "allow-all", "yes-always", "y", "always-approve", "auto-approve", "skip-permissions-unsafe", "dangerously-allow-all", "no-verify", "allow-dangerously-skip-permissions", "bare", "safe-mode":
			return true
		case "approval-mode", "permission-mode", "a", "ask-for-approval", "sandbox", "s":
			if opt.value.is("yolo", "bypassPermissions", "never", "danger-full-access", "full-auto", "dontAsk") {
				return true
			}
		case "setting-sources":
			if !strings.Contains(opt.value.text, "user") { // a person's hooks are not loaded
				return true
			}
		case "c", "config":
			if strings.Contains(opt.value.text, "approval_policy") && strings.Contains(opt.value.text, "never") || strings.Contains(opt.value.text, "danger-full-access") {
				return true
			}
		}
	}
	return false
}

// unguardedByName looks for flags that mean something harmless elsewhere.
func (c *call) unguardedByName() bool {
	switch c.name {
	case "cursor-agent":
		return slices.ContainsFunc(c.args, func(a arg) bool { return a.is("-f", "--force") })
	case "aider":
		return c.opts.exact("--yes")
	}
	return false
}

// agentVariable looks at variables that take an agent's guards off.
func (s *shell) agentVariable(name string, v arg) {
	switch name {
	case "GOOSE_MODE":
		if v.is("auto") {
			s.signal(engine.SignalAgentUnguarded)
		}
	case "OPENCODE_PERMISSION":
		if strings.Contains(v.text, "allow") {
			s.signal(engine.SignalAgentUnguarded)
		}
	}
}

// reviewerValues are the flags of reviewer that take a value.
const reviewerValues = " --policy --home -o --output -f --format --to --older-than --out --save-cases --in --baseline --candidate --sweep --fail-on --since --session --tool --sample --shard -p --parallel --signing-key --verification-key --channel --expires --created --simulation --reason --layer --role --name --from --threshold --run --timeout --against "

// reviewer is the guard itself: what changes how it decides is tampering when
// an agent does it.
func reviewer(c *call) {
	o := c.opts
	first, second := o.operand(0), o.operand(1)
	c.subs = subName(first)
	if first.is("trash") {
		c.trash(o)
		return
	}
	c.process()
	c.writes("create", reports(o)...)
	if first.is("policy") && (second.is("fmt") && !o.on("--check") && !o.on("--diff") || second.is("new")) {
		c.writes("modify", o.operands[2:]...)
	}
	switch {
	// hook: what a client says of the session, a person's words among it, is not
	// for others to say.
	case first.is("uninstall", "allow", "install", "trust", "purge", "hook"):
		c.signal(engine.SignalGuardTamper)
	case first.is("session") && second.is("resume", "allow", "scope", "limits"), first.is("policy") && second.is("activate", "disable", "enable", "set", "install", "rollback", "sign"),
		first.is("policy") && second.is("trust") && !o.operand(2).is("show"),
		first.is("policy") && second.is("pull") && o.on("--activate"),
		first.is("audit") && second.is("purge", "rotate", "delete"), first.is("config") && second.is("set", "unset", "edit"), first.is("scope", "limits", "off", "disable"):
		c.subs = append(c.subs, second.show())
		c.signal(engine.SignalGuardTamper)
	}
}

// reports are the files and folders that a command of reviewer writes by itself.
func reports(o options) []arg {
	files := o.all("-o", "--output", "--out", "--save-cases", "--in")
	for _, f := range o.all("-f", "--format") { // json=FILE
		if _, file, named := strings.Cut(f.text, "="); named {
			files = append(files, f.with(file))
		}
	}
	return files
}

// trash is `reviewer trash`: what rm does, but it can be undone. Only reviewer
// itself is believed to do that, and only with the trash of its own state.
func (c *call) trash(o options) {
	operands := o.operands[1:]
	to, elsewhere := o.get("--to")
	switch {
	case o.on("--empty"):
		c.signal(engine.SignalGuardTamper) // what could be undone no longer can
		c.process()
	case o.on("--list"), !c.genuine():
		c.process()
	case elsewhere:
		c.process()
		c.writes("create", to)
	case o.on("--restore"):
		c.process()
		for _, a := range operands {
			if strings.Trim(a.text, "0123456789-") != "" { // a path and no id
				c.writes("create", a)
			}
		}
	case o.has("--home"):
		c.deletes(true, false, operands...)
	default:
		c.out = arg{}
		c.removes(rawEffect{verb: "trash", recursive: true, reversible: engine.R1}, operands...)
	}
}

// on tells whether a switch is given and not taken back: --list=false.
func (o options) on(name string) bool {
	on := false
	for _, opt := range o.list {
		if opt.matches(name) {
			on = !opt.has || !opt.value.is("false", "False", "FALSE", "f", "F", "0")
		}
	}
	return on
}

// genuine tells whether this is reviewer and not a file of the project that
// has its name, or what the code itself has put in its way.
func (c *call) genuine() bool {
	if c.s.in.program != "" && c.path.is(c.s.in.program) {
		return true
	}
	_, moved := c.s.scope.lookup("PATH")
	return !c.local() && !moved
}
