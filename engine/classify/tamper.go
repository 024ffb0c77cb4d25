package classify

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// guardProgram is the name under which reviewer is found among programs.
const guardProgram = "reviewer"

// namesGuard says that a name or a pattern of a process, a service or a package
// means reviewer, or may: [r]eviewer, reviewer.service.
func namesGuard(a arg) bool {
	letters := strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]().*?^$\\\"'", r) {
			return -1
		}
		return r
	}, strings.ToLower(a.text))
	return strings.Contains(letters, guardProgram)
}

// guardName tells by its name alone that a file is reviewer's: what it is told
// in a workspace, and its program where programs are kept. In the workspace
// itself a file of that name is a product of the work there.
func (r *resolver) guardName(n names) bool {
	if n.base == ".reviewer.yaml" || n.base == ".reviewer.yml" || n.has(".reviewer") {
		return true
	}
	at := len(n.parts) - 2
	program := at >= 0 && (n.base == guardProgram || n.base == guardProgram+".exe") && (n.parts[at] == "bin" || n.parts[at] == "sbin")
	return program && r.workspace != "" && !within(strings.ToLower(r.workspace), n.full)
}

// coversGuard says that what is mounted at a path hides files of the guard.
func (r *resolver) coversGuard(at string) bool {
	if class := r.class(at); class == engine.ClassGuard || class == engine.ClassAgent && guards(at) {
		return true
	}
	return slices.ContainsFunc(r.guard, func(g string) bool { return within(at, g) || within(g, at) })
}

// clientSettings are files of a project or a person that decide what a client
// may do, as they lie below the project or the home directory.
var clientSettings = []string{".claude/settings.json", ".claude/settings.local.json", ".reviewer.yaml", ".codex/config.toml", ".gemini/settings.json", ".cursor/hooks.json", ".mcp.json"}

// sweepsSettings says that a pattern which goes through all folders below a
// directory means, by the beginning of a name, a client's settings that are there.
func (r *resolver) sweepsSettings(e *engine.Effect) bool {
	pattern := path.Base(e.Short)
	if e.Certainty != engine.CertaintyGlob || !strings.Contains(e.Short, "/**/") || strings.ContainsAny(pattern[:1], "*?[") {
		return false
	}
	return slices.ContainsFunc(clientSettings, func(name string) bool {
		p := join(e.Target, name)
		return wildcard.Match(pattern, path.Base(name)) && r.lstat(p) != nil
	})
}

// settingsVariables say where a client finds its settings, and with them its
// hooks.
var settingsVariables = []string{
	"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "CURSOR_CONFIG_DIR", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR",
	"OPENCODE_CONFIG_CONTENT", "GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
}

// guardVariable notes that the script sets a variable of the guard's own, or
// one that leads a client past it.
func (s *shell) guardVariable(name string) {
	s.signalIf(strings.HasPrefix(name, "REVIEWER_") || slices.Contains(settingsVariables, name), engine.SignalGuardTamper)
}

// speaksAsClient says that a program of which nothing is known is told of an
// event as a client tells reviewer: a copy of it serves as well.
func (c *call) speaksAsClient() bool {
	if c.known {
		return false
	}
	for i := range len(c.args) - 1 {
		if c.args[i].is("hook") && c.args[i+1].is("claude-code") {
			return true
		}
	}
	return false
}

// withoutVariables looks at env -u NAME.
func (c *call) withoutVariables(o options) {
	if c.name != "env" {
		return
	}
	for _, name := range o.all("-u", "--unset") {
		c.s.guardVariable(name.text)
	}
}

// misled notes that a client is started so that it looks for its settings
// elsewhere, or with code in it that is not its own.
func (c *call) misled() {
	c.s.signalIf(c.s.frame.remade, engine.SignalGuardTamper)
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		_, moved := c.s.scope.lookup(name)
		c.s.signalIf(moved, engine.SignalGuardTamper)
	}
	for _, name := range []string{"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "BASH_ENV"} {
		_, set := c.s.scope.lookup(name)
		c.s.signalIf(set && c.s.out.signals[engine.SignalEnvInjected], engine.SignalGuardTamper)
	}
}

// harmlessSettings are those of a client that neither allow nor run anything.
var harmlessSettings = []string{
	"model", "outputStyle", "language", "theme", "verbose", "includeCoAuthoredBy", "cleanupPeriodDays", "alwaysThinkingEnabled",
	"effortLevel", "spinnerTipsEnabled",
}

// otherSettings says that a client is given settings of which some, or what
// they are is not known, may switch its hooks off or allow it more.
func (c *call) otherSettings() bool {
	return slices.ContainsFunc(c.opts.all("--settings"), func(a arg) bool {
		if !strings.HasPrefix(strings.TrimSpace(a.text), "{") {
			file, ok := c.s.codeIn(a, "json")
			if !ok {
				return true
			}
			a = file.text
		}
		all, read := settingsIn(a.text)
		return !a.known() || !read || slices.ContainsFunc(sortedKeys(all), func(k string) bool { return !slices.Contains(harmlessSettings, k) })
	})
}

// looksUp notes that the numbers of the guard's processes are asked for. Which
// numbers come out nobody knows: whatever is ended or taken hold of by an
// unknown number from then on may be the guard.
func (c *call) looksUp(names ...arg) {
	c.s.sought = c.s.sought || slices.ContainsFunc(names, namesGuard)
}

// aims notes that a signal goes to a process of the guard.
func (c *call) aims(targets []arg) {
	c.s.signalIf(slices.ContainsFunc(targets, func(t arg) bool {
		return namesGuard(t) || c.s.sought && !t.known()
	}), engine.SignalGuardTamper)
}

// takes notes that a process of the guard, or the client whose hooks it is, is
// taken hold of.
func (c *call) takes(targets []arg) {
	c.aims(targets)
	c.s.signalIf(slices.ContainsFunc(targets, func(t arg) bool { return t.is(parentProcess) }), engine.SignalGuardTamper)
}

// parentProcess stands for the number of the process above the shell, which is
// the client's.
const parentProcess = "$PPID"

// tracer is strace -p and ltrace -p: a process that runs already is stopped at
// each step, and told what comes out.
func tracer(c *call) {
	c.takes(c.opts.all("-p", "--attach"))
	c.process()
}

// processLimits is prlimit of another process.
func processLimits(c *call) {
	c.takes(c.opts.all("-p", "--pid"))
	c.process()
}

// fuser ends the processes that have a file or a port open.
func fuser(c *call) {
	if !c.opts.has("-k", "--kill") {
		return
	}
	c.aims(c.opts.operands)
	c.emit(rawEffect{kind: engine.EffectProcess, verb: "kill"}, c.opts.operands...)
}

// debugFS reads a file system past its rights, and with -w writes it.
func debugFS(c *call) {
	if c.opts.has("-w") {
		c.signal(engine.SignalDiskWrite)
		c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "write"}, c.lastOperand())
	}
	c.process()
}

// overrides notes that a name of the guard's program is given to something else.
func (s *shell) overrides(name string) { s.signalIf(name == guardProgram, engine.SignalGuardTamper) }

// replacesGuard notes that a package or module is installed or taken away that
// holds reviewer's program, or that the client it stands at is taken away or
// gets a certain, perhaps older version.
func (c *call) replacesGuard(packages []arg, removed bool) {
	for _, p := range packages {
		name, version := p.text, ""
		if i := strings.LastIndexByte(name, '@'); i > 0 {
			name, version = name[:i], name[i+1:]
		}
		switch base := baseName(name); {
		case base == guardProgram:
			c.signal(engine.SignalGuardTamper)
		case agentPrograms(base).run != nil && (removed || strings.Trim(version, "0123456789.") == "" && version != ""):
			c.signal(engine.SignalGuardTamper)
		}
	}
}
