package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Findings lists the contents of a settings file that matter to the hooks.
type Findings struct {
	Problem               string        // why the client ignores the whole file; empty if it does not
	Off                   []Off         // switches that turn hooks off
	AllowManagedHooksOnly bool          // hooks of all other layers are off
	Pinned                bool          // switches of weaker layers do not turn its hooks off
	Env                   []EnvFinding  // variables that reach the hook and could subvert it
	Own                   []OwnHook     // reviewer's entries
	Foreign               []ForeignHook // others that could change a call after it was reviewed
}

// Off is a switch that turns hooks off.
type Off struct {
	Name   string
	Always bool // managed hooks too, whatever the managed settings say
}

// offSwitch is a member of a document that turns hooks off.
type offSwitch struct {
	path, value string
	names       bool // the value is a list that names hooks
	always      bool
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
	Line     string   // in the shell form: the whole line
	Timeout  int      // in the client's unit; 0: the client's default
	Wait     int      // seconds that the command line tells the hook it has; 0: as long as usual
	Key      string   // fingerprint of the person's key; empty: the ledger's own counts
	Problems []string // what keeps the entry from failing closed, or from working
	Open     bool     // a call runs when the program is missing or killed, and no entry on this system prevents it
}

// posix reports whether a shell of POSIX starts the line of a hook: on Windows, the path of its program
// begins with a drive or names another machine. Settings are read wherever they were written.
func (h OwnHook) posix() bool { return strings.HasPrefix(h.Program, "/") }

// ForeignHook is an entry of another program on an event where it can rewrite
// or allow a call: of two rewrites the last one wins, so a review of the first
// input does not cover what runs.
type ForeignHook struct{ Event, Matcher, Type, What string }

// inspect reads a settings file. client is the client's version, as it prints
// it; empty if unknown.
func (f form) inspect(settings []byte, client string) Findings {
	var found Findings
	top, err := f.read(settings)
	if err == nil {
		err = f.switches(&found, top)
	}
	if err == nil {
		err = f.inspectHooks(&found, top, client)
	}
	if err != nil {
		found.Problem = err.Error()
	}
	found.inspectEnv(top)
	return found
}

// Installed reports whether an event calls reviewer for every tool.
func (f Findings) Installed(event string) bool {
	return slices.ContainsFunc(f.Own, func(o OwnHook) bool { return o.Event == event && matchesAll(o.Matcher) })
}

func (f form) switches(found *Findings, top object) error {
	for _, s := range f.off {
		v := string(top.at(s.path))
		switch {
		case s.names:
			if name := f.namedIn(v); name != "" {
				found.Off = append(found.Off, Off{fmt.Sprintf("%s names reviewer's hook (%s)", s.path, name), s.always})
			}
		case v == s.value:
			found.Off = append(found.Off, Off{s.text(), s.always})
		case v != "" && v != "true" && v != "false":
			return fmt.Errorf("settings: %s is %s, expected true or false", s.path, v)
		}
	}
	v := top.value("allowManagedHooksOnly")
	found.AllowManagedHooksOnly = v != nil && string(v) != "false" // the client treats an invalid value as true
	found.Pinned = f.pinned(top)
	return nil
}

// text names a switch for a person.
func (s offSwitch) text() string {
	if s.value == "true" {
		return s.path
	}
	return s.path + " = " + s.value
}

// pinned reports whether the document contains all members that keep weaker layers
// from turning its hooks off.
func (f form) pinned(top object) bool {
	return !slices.ContainsFunc(f.pins, func(m fixed) bool { return string(top.at(m.path)) != m.value })
}

// namedIn returns the entry of a list that names reviewer's hooks, by their name or by their command.
func (f form) namedIn(list string) string {
	var names []string
	if json.Unmarshal([]byte(list), &names) != nil {
		return ""
	}
	i := slices.IndexFunc(names, func(name string) bool { return name == hookName || ownWords(f.agent, splitLine(name)) != nil })
	if i < 0 {
		return ""
	}
	return names[i]
}

func (f form) inspectHooks(found *Findings, top object, client string) error {
	events, err := f.events(top)
	if err != nil {
		return err
	}
	for _, m := range events {
		if slices.Contains(f.others, m.key) {
			continue
		}
		groups, err := parseList(m.value)
		if err != nil {
			return fmt.Errorf("settings: %s %w", f.name(m.key), err)
		}
		for _, raw := range groups {
			if err := f.inspectGroup(found, m.key, raw, client); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f form) inspectGroup(found *Findings, event string, raw json.RawMessage, client string) error {
	group, err := parseObject(raw)
	if err != nil {
		return fmt.Errorf("settings: a group of %s %w", f.name(event), err)
	}
	if f.flat {
		f.inspectHook(found, event, group.text("matcher"), raw, client)
		return nil
	}
	list, err := parseList(group.value("hooks"))
	if err != nil {
		return fmt.Errorf("settings: hooks in a group of %s %w", f.name(event), err)
	}
	for _, h := range list {
		f.inspectHook(found, event, group.text("matcher"), h, client)
	}
	return nil
}

func (f form) inspectHook(found *Findings, event, matcher string, raw json.RawMessage, client string) {
	h, err := parseObject(raw)
	if own := ownEntry(f.agent, raw); own != nil && err == nil {
		own.Event, own.Matcher = event, matcher
		own.Problems, own.Open = f.problems(*own, h, f.hook(event), client), f.open(*own, f.hook(event))
		found.Own = append(found.Own, *own)
		return
	}
	if err != nil || !f.hook(event).gate() && event != "PermissionRequest" && event != "permissionRequest" {
		return
	}
	what := cmp.Or(h.text("command"), h.text("bash"), h.text("url"), h.text("tool"), h.text("prompt"))
	if args := strings.TrimSpace(string(h.value("args"))); args != "" {
		what += " " + args
	}
	found.Foreign = append(found.Foreign, ForeignHook{event, matcher, h.text("type"), what})
}

// hook returns what is installed at an event.
func (f form) hook(event string) Hook {
	for _, h := range f.hooks {
		if h.Event == event {
			return h
		}
	}
	return Hook{Event: event, Phase: engine.PhaseOther}
}

func matchesAll(matcher string) bool {
	return matcher == "" || matcher == "*" || matcher == ".*"
}

// ownEntry recognises an entry of reviewer by its arguments, regardless of the name and form of
// the program; nil for others.
func ownEntry(agent string, raw json.RawMessage) *OwnHook {
	var h struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Bash    string   `json:"bash"`
		Args    []string `json:"args"`
		Timeout float64  `json:"timeout"`
		Seconds float64  `json:"timeoutSec"`
	}
	if json.Unmarshal(raw, &h) != nil || h.Type != "command" && h.Type != "" {
		return nil
	}
	line := cmp.Or(h.Command, h.Bash)
	own := &OwnHook{Form: "exec", Program: line}
	if h.Args == nil {
		own = ownWords(agent, splitLine(line))
	} else if !isOwn(agent, h.Args) {
		return nil
	} else {
		own.Home, own.Wait, own.Key = flagValue(h.Args, "--home"), waitOf(h.Args), flagValue(h.Args, keyFlag)
	}
	if own == nil {
		return nil
	}
	if own.Form == "shell" {
		own.Line = line
	}
	own.Timeout = int(cmp.Or(h.Timeout, h.Seconds))
	return own
}

// isOwn reports whether words are arguments of the hook of an agent.
func isOwn(agent string, words []string) bool {
	return len(words) >= 2 && words[0] == "hook" && words[1] == agent
}

// ownWords recognises a line of a shell that starts reviewer's hook; nil for others.
func ownWords(agent string, line []string) *OwnHook {
	i := slices.Index(line, "hook")
	if i < 1 || !isOwn(agent, line[i:]) {
		return nil
	}
	return &OwnHook{Form: "shell", Program: line[i-1], Home: flagValue(line[i:], "--home"), Wait: waitOf(line[i:]),
		Key: flagValue(line[i:], keyFlag)}
}

// waitOf returns the seconds that words tell a hook it has; 0: as long as usual.
func waitOf(words []string) int {
	n, err := strconv.Atoi(flagValue(words, timeoutFlag))
	if err != nil {
		return 0
	}
	return n
}

// splitLine is splitShell for lines that others may have written: nil if one cannot
// be read.
func splitLine(line string) []string {
	words, err := splitShell(line)
	if err != nil {
		return nil
	}
	return words
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

func namesEvent(agent string, h object, event string) bool {
	var words []string
	if json.Unmarshal(h.value("args"), &words) != nil || words == nil {
		words = splitLine(cmp.Or(h.text("command"), h.text("bash")))
	}
	i := slices.Index(words, agent)
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

// OwnLine reports whether a line of a shell starts reviewer's hook for an agent.
func OwnLine(agent, line string) bool { return ownWords(agent, splitLine(line)) != nil }
