package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// agentVariable checks variables that disable an agent's guards.
func (s *Machine) agentVariable(name string, v abstract.Arg) {
	switch name {
	case "GOOSE_MODE":
		if v.Is("auto") {
			s.Signal(engine.SignalAgentUnguarded)
		}
	case "OPENCODE_PERMISSION":
		if strings.Contains(v.Text, "allow") {
			s.Signal(engine.SignalAgentUnguarded)
		}
	}
}

// envCode checks variables whose value is run by programs that find them in their
// environment.
func (s *Machine) envCode(name string, a abstract.Arg) {
	s.agentVariable(name, a)
	s.trustVariable(name, a)
	s.programVariable(name, a)
	switch name {
	case "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PYTHONSTARTUP", "PERL5DB", "PROMPT_COMMAND":
		if a.Text == "" || name == "ENV" && !strings.Contains(a.Text, "/") {
			return
		}
		s.Signal(engine.SignalEnvInjected)
		if name == "PROMPT_COMMAND" {
			s.Embed(a, "env", false)
		}
		if code, ok := s.CodeIn(a, "shell"); ok && strings.HasSuffix(name, "ENV") {
			s.inFile(code, a, func() { s.Embed(code.Text, "env", false) })
		}
	case "PS0", "PS1", "PS2", "PS4":
		s.Subshell(func() Outcome { return Outcome{Out: s.prompt(a)} })
	case "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "PYTHONPATH_HOOK", "JAVA_TOOL_OPTIONS":
		if strings.Contains(a.Text, "-r") || strings.Contains(a.Text, "--import") || strings.Contains(a.Text, "--loader") ||
			strings.Contains(a.Text, "-M") || strings.Contains(a.Text, "-javaagent") {
			s.Signal(engine.SignalEnvInjected)
		}
	case "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_PROXY_COMMAND",
		"SSH_ASKPASS", "SUDO_ASKPASS", "EDITOR", "VISUAL", "PAGER", "MANPAGER", "LESSOPEN", "BROWSER", "FCEDIT", "RSYNC_RSH":
		s.CommandVariable(strings.TrimPrefix(a.Text, "|"), a)
	case "HUSKY", "LEFTHOOK":
		if a.Is("0", "false") {
			s.Signal(engine.SignalGitNoVerify)
		}
	case "HUSKY_SKIP_HOOKS", "SKIP", "PRE_COMMIT_ALLOW_NO_CONFIG":
		if a.Text != "" {
			s.Signal(engine.SignalGitNoVerify)
		}
	case "HISTFILE", "HISTSIZE", "HISTFILESIZE":
		if a.Is("/dev/null", "0", "") {
			s.Signal(engine.SignalGuardTamper)
		}
	}
}

// programVariable checks variables in lists of the policy: those that hold a command,
// a program with its arguments, options that load code, or the folder from which
// programs or settings come.
func (s *Machine) programVariable(name string, a abstract.Arg) {
	words := func(list string) []string { return s.In.Rows.Words("programs." + list) }
	switch {
	case a.Text == "":
	case strings.HasPrefix(name, "BASH_FUNC_"):
		s.Signal(engine.SignalEnvInjected)
		_, body, _ := strings.Cut(a.Text, ")")
		s.Embed(a.With(body), "env", false)
	case slices.Contains(words("command_variables"), name):
		s.CommandVariable(strings.TrimLeft(a.Text, "|-%s "), a)
	case rows.Fits(words("tool_variables"), name) && strings.ContainsAny(a.Text, " \t"):
		s.Embed(a, "env", false)
	case slices.Contains(words("option_variables"), name):
		s.SignalIf(slices.ContainsFunc(words("code_options"), func(option string) bool { return strings.Contains(a.Text, option) }),
			engine.SignalEnvInjected)
	case slices.Contains(words("folder_variables"), name):
		s.SignalIf(slices.ContainsFunc([]string{"/tmp", "/var/tmp", "/dev/shm"}, func(dir string) bool {
			return place.Within(dir, strings.TrimSuffix(a.Text, ":"))
		}), engine.SignalEnvInjected)
	}
}

// CommandVariable is a variable that contains a command: what the command does is part of
// the script; an ordinary pager or editor is ignored.
func (s *Machine) CommandVariable(text string, a abstract.Arg) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return
	}
	if OrdinaryTool(words[0]) {
		if len(words) > 1 { // its options may run something: ssh -o ProxyCommand=…
			s.Embed(a.With(text), "env", false)
		}
		return
	}
	s.Signal(engine.SignalEnvInjected)
	s.Embed(a.With(text), "env", false)
}

// OrdinaryTool reports whether a command is a pager, an editor or similar, which is
// usual in a variable.
func OrdinaryTool(name string) bool {
	switch BaseName(name) {
	case "cat", "less", "more", "most", "bat", "delta", "true", "false", ":", "echo", "vi", "vim", "nvim", "nano", "emacs", "code", "ssh", "diff", "sed", "open", "xdg-open", "none", "touch":
		return true
	}
	return strings.Trim(name, abstract.Holes) == ""
}

// MaxStartup bounds how many texts that run later are examined for one call: a
// write to a start-up file is judged as such anyway.
const MaxStartup = 8

// maxLater bounds the nesting of code that writes code that runs later: a
// start-up file defines an alias. Such code may write itself.
const maxLater = 2

// shellStartup are files that a shell runs when it starts.
var shellStartup = []string{".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc",
	".zprofile", ".zshenv", ".zlogin", ".zlogout", ".kshrc", "bash.bashrc", "zshrc", "zprofile"}

// StartsShells reports whether a shell runs a file when it starts.
func StartsShells(p string) bool {
	return slices.Contains(shellStartup, path.Base(p)) ||
		p == "/etc/profile" || p == "/etc/environment" || place.Within("/etc/profile.d", p)
}

// LaterGuard records that code that runs later, in every new shell, removes the guard
// of a session. What else it does counts when it runs.
func LaterGuard(code string, in Input, signals map[engine.Signal]bool) {
	if in.later >= maxLater {
		return
	}
	in.Disk = nil
	in.later++
	later := Interpret(code, in)
	for _, id := range []engine.Signal{engine.SignalGuardTamper, engine.SignalAgentUnguarded} {
		if later.Signals[id] {
			signals[id] = true
		}
	}
	res := place.NewResolver(place.World{Home: in.Home, Guard: in.Guard, State: in.State}, in.Cwd.Text, in.Rows)
	for _, raw := range later.Effects {
		if e := res.Effect(raw); res.Guard(&e) != "" && e.Guard != place.GuardMay {
			signals[engine.SignalGuardTamper] = true
		}
	}
}

// startup examines what the script writes to a start-up file.
func (s *Machine) startup(file, text string) {
	if StartsShells(file) {
		s.runsLater(text)
	}
}

// runsLater examines code that new shells or later commands run.
func (s *Machine) runsLater(text string) {
	if s.startups[text] || len(s.startups) >= MaxStartup || len(text) > MaxStartupText {
		return
	}
	if s.startups == nil {
		s.startups = map[string]bool{}
	}
	s.startups[text] = true
	LaterGuard(text, s.In, s.Out.Signals)
}

// MaxStartupText is the length of a string that is examined, in bytes.
const MaxStartupText = 64 << 10

// EditsStartup examines an editor's script that changes start-up files in place.
func (c *Call) EditsStartup(scripts, files []abstract.Arg) {
	for _, f := range files {
		for _, script := range scripts {
			c.Shell.SignalIf(StartsShells(f.Text) && (place.NamesGuard(script) || strings.Contains(script.Text, "CLAUDE_CONFIG_DIR")),
				engine.SignalGuardTamper)
		}
	}
}

// settingsVariables are variables with the location of a client's settings, and so of
// its hooks.
var settingsVariables = []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "CURSOR_CONFIG_DIR", "OPENCODE_CONFIG",
	"OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT", "GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
	"GEMINI_CLI_SYSTEM_DEFAULTS_PATH"}

// GuardVariable records that the script sets a variable of the guard's own, or one that
// makes a client bypass it.
func (s *Machine) GuardVariable(name string) {
	s.SignalIf(strings.HasPrefix(name, "REVIEWER_") || slices.Contains(settingsVariables, name), engine.SignalGuardTamper)
}

// TakesMarker records the removal of the variable by which reviewer's commands recognise
// that an agent started them.
func (s *Machine) TakesMarker(name string) {
	s.SignalIf(name != "" && slices.Contains(s.In.Rows.Words("programs.markers"), name), engine.SignalGuardTamper)
}

// Unmarked records that a program is started without any variable: a terminal, an agent
// or reviewer that is started this way cannot tell which agent started it.
func (s *Machine) Unmarked(kind string) {
	s.SignalIf(s.Frame.Cleared && (kind == rows.Terminal || kind == rows.Agent), engine.SignalGuardTamper)
}

// LooksUp records a lookup of the guard's process IDs. Its result is unknown: from then
// on, any process that is ended or attached to by an unknown ID may be the guard.
func (c *Call) LooksUp(names ...abstract.Arg) {
	c.Shell.sought = c.Shell.sought || slices.ContainsFunc(names, place.NamesGuard)
}

// LooksUpLines is LooksUp for patterns of whole command lines.
func (c *Call) LooksUpLines(patterns ...abstract.Arg) {
	c.Shell.sought = c.Shell.sought || slices.ContainsFunc(patterns, place.MatchesGuard)
}

// AimsAtLines records that a signal is sent to processes whose command lines match patterns.
func (c *Call) AimsAtLines(patterns []abstract.Arg) {
	c.Shell.SignalIf(slices.ContainsFunc(patterns, place.MatchesGuard), engine.SignalGuardTamper)
}

// Aims records that a signal is sent to a process of the guard.
func (c *Call) Aims(targets []abstract.Arg) {
	c.Shell.SignalIf(slices.ContainsFunc(targets, func(t abstract.Arg) bool {
		return place.NamesGuard(t) || c.Shell.sought && !t.Known()
	}), engine.SignalGuardTamper)
}

// Takes records that a process attaches to a process of the guard, or of the client that
// runs it.
func (c *Call) Takes(targets []abstract.Arg) {
	c.Aims(targets)
	c.Shell.SignalIf(slices.ContainsFunc(targets, func(t abstract.Arg) bool { return t.Is(parentProcess) }), engine.SignalGuardTamper)
}

// parentProcess stands for the number of the process above the shell, which is
// the client's.
const parentProcess = "$PPID"

// overrides notes that the name of the guard's program is assigned to something else.
func (s *Machine) overrides(name string) {
	s.SignalIf(slices.Contains(place.GuardPrograms(), name), engine.SignalGuardTamper)
}

// trustVariable checks variables that disable verification, or set the source of
// packages.
func (s *Machine) trustVariable(name string, v abstract.Arg) {
	switch name {
	case "NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONHTTPSVERIFY":
		s.SignalIf(v.Is("0"), engine.SignalUnchecked)
	case "npm_config_strict_ssl", "NPM_CONFIG_STRICT_SSL":
		s.SignalIf(v.Is("false"), engine.SignalUnchecked)
	case "GOSUMDB":
		s.SignalIf(v.Is("off"), engine.SignalUnchecked)
	case "GIT_SSL_NO_VERIFY", "GONOSUMDB", "GONOSUMCHECK", "GOINSECURE", "PIP_TRUSTED_HOST", "UV_INSECURE_HOST":
		s.SignalIf(v.Text != "" && !v.Is("0", "false"), engine.SignalUnchecked)
	case "GOFLAGS":
		s.SignalIf(strings.Contains(v.Text, "-insecure"), engine.SignalUnchecked)
	case "GOPROXY":
		s.SignalIf(!v.Is("", "direct", "off"), engine.SignalPackageSource)
	case "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "npm_config_registry", "NPM_CONFIG_REGISTRY", "YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER":
		s.SignalIf(v.Text != "", engine.SignalPackageSource)
	}
}
