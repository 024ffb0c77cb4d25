package settings

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// claudeCode describes all settings files of Claude Code.
func claudeCode() form {
	agent, _ := harness.Find(harness.ClaudeCode)
	return form{agent: agent.Name, hooks: hooksOf(agent), matcher: "*",
		off:      []offSwitch{{path: "disableAllHooks", value: "true"}},
		handler:  func(c HookCommand, h Hook) any { return c.claudeCode(h) },
		problems: claudeCodeProblems,
		open:     func(OwnHook, Hook) bool { return false }, // Git Bash starts a line, so the line has its guard
	}
}

// execSince is the first client that supports the exec form together with
// onFailure; older ones ignore onFailure silently.
const execSince = "2.1.295"

// ExecForm reports whether a client of a version is given the exec form (a
// program and its arguments, no shell). Where the version is unknown, it is
// not.
func ExecForm(client string) bool {
	return client != "" && atLeast(client, execSince)
}

// atLeast compares versions such as "2.1.329 (Claude Code)".
func atLeast(version, least string) bool {
	v, l := versionParts(version), versionParts(least)
	return v != nil && slices.Compare(v, l) >= 0
}

func versionParts(version string) []int {
	version, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(version), "v"), " ")
	version, _, _ = strings.Cut(version, "-")
	var parts []int
	for _, p := range strings.Split(version, ".") {
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil
		}
		parts = append(parts, n)
	}
	return parts
}

// handler is one hook in the settings. onFailure is written in both forms:
// clients that do not know it ignore it, and get safe when they are updated.
type handler struct {
	Type      string   `json:"type"`
	Command   string   `json:"command"`
	Args      []string `json:"args,omitempty"`
	Shell     string   `json:"shell,omitempty"` // of the shell form
	Timeout   int      `json:"timeout"`         // seconds
	OnFailure string   `json:"onFailure,omitempty"`
}

func (c HookCommand) claudeCode(on Hook) handler {
	words := append([]string{"hook", harness.ClaudeCode, on.Event, "--home", c.Home}, c.more(on)...)
	h := handler{Type: "command", Command: c.Program, Args: words,
		Timeout: int(on.Timeout.Seconds())}
	if on.gate() {
		h.OnFailure = "block"
	}
	if ExecForm(c.Client) {
		return h
	}
	h.Args, h.Command = nil, c.line(harness.ClaudeCode, on)
	if c.System == "windows" {
		h.Shell = "bash" // PowerShell 5 does not support ||, and would let the call run
	}
	if on.gate() {
		// Nowhere else: exit 2 erases prompts, ends loops and forces the agent to continue.
		h.Command += " || exit 2"
	}
	return h
}

// claudeCodeProblems compares an entry with what is installed.
func claudeCodeProblems(o OwnHook, h object, on Hook, client string) []string {
	found := commonProblems(harness.ClaudeCode, o, h)
	failsClosed := strings.HasSuffix(strings.TrimSpace(h.text("command")), "|| exit 2")
	found.report(o.Form == "exec" && client != "" && !ExecForm(client), "clients older than "+execSince+
		" run the call when a program in exec form is missing")
	found.report(o.Form == "shell" && ExecForm(client), "the shell form loads what LD_PRELOAD names; this client supports the exec form")
	found.report(h.value("if") != nil, "`if` excludes some calls")
	found.report(string(h.value("async")) == "true" || string(h.value("asyncRewake")) == "true", "an async hook cannot deny")
	found.report(o.Timeout > 0 && o.Timeout < max(int(harness.ClaudeCodeTimeout(o.Event).Seconds()), o.Wait), shortTimeout)
	if on.gate() {
		found.report(!matchesAll(o.Matcher), "the matcher "+o.Matcher+" excludes some tools")
		found.report(o.Form == "exec" && h.text("onFailure") != "block", "no onFailure: block, so a failing hook lets the call run")
		found.report(o.Form == "shell" && !failsClosed, "no `|| exit 2`, so a failing hook lets the call run")
		return found
	}
	found.report(o.Form == "shell" && failsClosed, "`|| exit 2` "+afterwards)
	return found
}
