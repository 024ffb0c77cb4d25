package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// Findings lists the contents of a settings file of Claude Code that matter to the hook.
type Findings struct {
	Problem               string        // why the client ignores the whole file; empty if it does not
	DisableAllHooks       bool          // hooks of lower layers and of this one are off
	AllowManagedHooksOnly bool          // hooks of all other layers are off
	Env                   []EnvFinding  // variables that reach the hook and could subvert it
	Own                   []OwnHook     // reviewer's entries
	Foreign               []ForeignHook // others that could change a call after it was reviewed
}

// EnvFinding is a variable of the settings' env.
type EnvFinding struct{ Name, Why string }

// OwnHook is one of reviewer's entries.
type OwnHook struct {
	Event    string
	Matcher  string
	Form     string // exec or shell
	Program  string
	Home     string
	Timeout  int      // seconds; 0: the client's default
	Problems []string // what keeps the entry from failing closed, or from working
}

// ForeignHook is an entry of another program on an event where it can rewrite
// or allow a call: of two rewrites the last one wins, so a review of the first
// input does not cover what runs.
type ForeignHook struct{ Event, Matcher, Type, What string }

// Inspect reads a settings file. client is the client's version, as it prints
// it; empty if unknown.
func Inspect(settings []byte, client string) Findings {
	var f Findings
	top, err := readSettings(settings)
	if err == nil {
		err = f.switches(top)
	}
	if err == nil {
		err = f.inspectHooks(top, client)
	}
	if err != nil {
		f.Problem = err.Error()
	}
	f.inspectEnv(top)
	return f
}

// Installed reports whether an event calls reviewer for every tool.
func (f Findings) Installed(event string) bool {
	return slices.ContainsFunc(f.Own, func(o OwnHook) bool { return o.Event == event && matchesAll(o.Matcher) })
}

func (f *Findings) switches(top object) error {
	switch v := top.value("disableAllHooks"); string(v) {
	case "true":
		f.DisableAllHooks = true
	case "", "false":
	default:
		return fmt.Errorf("settings: disableAllHooks is %s, expected true or false", v)
	}
	v := top.value("allowManagedHooksOnly")
	f.AllowManagedHooksOnly = v != nil && string(v) != "false" // the client treats an invalid value as true
	return nil
}

func (f *Findings) inspectHooks(top object, client string) error {
	hooks, err := top.hooks()
	if err != nil {
		return err
	}
	for _, m := range hooks {
		groups, err := parseList(m.value)
		if err != nil {
			return fmt.Errorf("settings: hooks.%s %w", m.key, err)
		}
		for _, raw := range groups {
			group, err := parseObject(raw)
			if err != nil {
				return fmt.Errorf("settings: a group of hooks.%s %w", m.key, err)
			}
			list, err := parseList(group.value("hooks"))
			if err != nil {
				return fmt.Errorf("settings: hooks in a group of hooks.%s %w", m.key, err)
			}
			for _, h := range list {
				f.inspectHook(m.key, group.text("matcher"), h, client)
			}
		}
	}
	return nil
}

func (f *Findings) inspectHook(event, matcher string, raw json.RawMessage, client string) {
	if own := ownEntry(raw); own != nil {
		own.Event, own.Matcher = event, matcher
		own.Problems = ownProblems(*own, raw, client)
		f.Own = append(f.Own, *own)
		return
	}
	if event != harness.PreToolUse && event != "PermissionRequest" {
		return
	}
	h, err := parseObject(raw)
	if err != nil {
		return
	}
	what := cmp.Or(h.text("command"), h.text("url"), h.text("tool"), h.text("prompt"))
	if args := strings.TrimSpace(string(h.value("args"))); args != "" {
		what += " " + args
	}
	f.Foreign = append(f.Foreign, ForeignHook{event, matcher, h.text("type"), what})
}

func matchesAll(matcher string) bool {
	return matcher == "" || matcher == "*" || matcher == ".*"
}

// ownEntry recognises an entry of reviewer by its arguments, regardless of the name and form of
// the program; nil for others.
func ownEntry(raw json.RawMessage) *OwnHook {
	var h struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Timeout float64  `json:"timeout"`
	}
	if json.Unmarshal(raw, &h) != nil || h.Type != "command" {
		return nil
	}
	own := OwnHook{Form: "exec", Program: h.Command, Timeout: int(h.Timeout)}
	words := h.Args
	if words == nil {
		line, err := splitShell(h.Command)
		if err != nil {
			return nil
		}
		i := slices.Index(line, "hook")
		if i < 1 {
			return nil
		}
		own.Form, own.Program, words = "shell", line[i-1], line[i:]
	}
	if len(words) < 2 || words[0] != "hook" || words[1] != harness.ClaudeCode {
		return nil
	}
	own.Home = flagValue(words, "--home")
	return &own
}

func flagValue(words []string, flag string) string {
	for i, w := range words {
		if value, found := strings.CutPrefix(w, flag+"="); found {
			return value
		}
		if w == flag && i+1 < len(words) {
			return words[i+1]
		}
	}
	return ""
}

// ownProblems compares an entry with what Install writes.
func ownProblems(o OwnHook, raw json.RawMessage, client string) []string {
	h, err := parseObject(raw)
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	report := func(wrong bool, text string) {
		if wrong {
			found = append(found, text)
		}
	}
	report(!absolute(o.Program), "the program is not an absolute path: PATH decides what runs")
	report(o.Home == "", "no --home: the environment decides where the state is")
	report(!namesEvent(h, o.Event), "the arguments do not name the event "+o.Event)
	report(o.Form == "exec" && client != "" && !ExecForm(client), "clients below "+execSince+
		" run the call when a program in exec form is missing")
	report(o.Form == "shell" && ExecForm(client), "the shell form loads what LD_PRELOAD names; this client supports the exec form")
	report(h.value("if") != nil, "`if` excludes some calls")
	report(string(h.value("async")) == "true" || string(h.value("asyncRewake")) == "true", "an async hook cannot deny")
	report(o.Timeout > 0 && o.Timeout < int(harness.ClaudeCodeTimeout(o.Event).Seconds()), "the timeout is shorter than the hook's own deadline")
	failsClosed := strings.HasSuffix(strings.TrimSpace(h.text("command")), "|| exit 2")
	if o.Event == harness.PreToolUse {
		report(!matchesAll(o.Matcher), "the matcher "+o.Matcher+" excludes some tools")
		report(o.Form == "exec" && h.text("onFailure") != "block", "no onFailure: block, so a failing hook lets the call run")
		report(o.Form == "shell" && !failsClosed, "no `|| exit 2`, so a failing hook lets the call run")
		return found
	}
	report(o.Form == "shell" && failsClosed, "`|| exit 2` erases prompts or forces the agent to continue when the hook fails")
	return found
}

func namesEvent(h object, event string) bool {
	var words []string
	if json.Unmarshal(h.value("args"), &words) != nil || words == nil {
		words, _ = splitShell(h.text("command"))
	}
	i := slices.Index(words, harness.ClaudeCode)
	return i >= 0 && i+1 < len(words) && words[i+1] == event
}

// inspectEnv lists variables in a repository's settings that could subvert the
// hook: they reach its process.
func (f *Findings) inspectEnv(top object) {
	env, err := parseObject(bytes.TrimSpace(top.value("env")))
	if err != nil {
		return
	}
	for _, m := range env {
		if why := envReason(m.key); why != "" {
			f.Env = append(f.Env, EnvFinding{m.key, why})
		}
	}
}

func envReason(name string) string {
	switch name = strings.ToUpper(name); name { // variables of Windows ignore case
	case "PATHEXT", "COMSPEC", "SYSTEMROOT", "CLAUDE_CODE_GIT_BASH_PATH":
		return "decides what is started, on Windows"
	case "USERPROFILE", "LOCALAPPDATA", "APPDATA", "PROGRAMDATA", "TEMP", "TMP":
		return "moves folders that a program looks up"
	case "PATH", "SHELL", "BASH_ENV", "ENV", "SHELLOPTS", "IFS", "CLAUDE_CODE_SHELL", "CLAUDE_CODE_SHELL_PREFIX":
		return "determines what a hook in shell form runs"
	case "HOME", "TMPDIR", "CLAUDE_PROJECT_DIR":
		return "changes folders that programs look up"
	case "GODEBUG", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GOTRACEBACK", "GOCOVERDIR":
		return "configures the hook's runtime"
	case "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE":
		return "removes the settings that contain the hooks"
	}
	for _, p := range []struct{ prefix, why string }{
		{"LD_", "loads code into programs that are started"},
		{"DYLD_", "loads code into programs that are started"},
		{"XDG_", "changes folders that programs look up"},
		{"REVIEWER_", "configures reviewer"},
		{"BASH_FUNC_", "determines what a hook in shell form runs"},
	} {
		if strings.HasPrefix(name, p.prefix) {
			return p.why
		}
	}
	return ""
}
