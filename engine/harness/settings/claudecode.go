package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// HookCommand is the command that the client is to start for each event.
type HookCommand struct {
	Program string // absolute path of the program
	Home    string // absolute path of reviewer's state; in the arguments, since a repository's settings reach the environment
	Client  string // the client's version, as it prints it; empty: unknown
	System  string // windows, or another value of runtime.GOOS
}

// claudeCodeFormat is the format of all settings files of Claude Code.
func claudeCodeFormat() Format {
	return Format{
		Install:   func(old []byte, c HookCommand) ([]byte, error) { return Install(old, c, harness.ClaudeCodeEvents()) },
		Uninstall: Uninstall, Inspect: Inspect,
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

func (c HookCommand) handler(event string) handler {
	args := []string{"hook", harness.ClaudeCode, event, "--home", c.Home}
	h := handler{Type: "command", Command: c.Program, Args: args, Timeout: int(harness.ClaudeCodeTimeout(event).Seconds())}
	if event == harness.PreToolUse {
		h.OnFailure = "block"
	}
	if ExecForm(c.Client) {
		return h
	}
	h.Args = nil
	h.Command = fmt.Sprintf("%s hook %s %s --home %s", c.word(c.Program), harness.ClaudeCode, event, c.word(c.Home))
	if c.System == "windows" {
		h.Shell = "bash" // PowerShell 5 does not support ||, and would let the call run
	}
	if event == harness.PreToolUse {
		// Nowhere else: exit 2 erases prompts, ends loops and forces the agent to continue.
		h.Command += " || exit 2"
	}
	return h
}

// word is a path as one word of a shell. On Windows it has slashes, and quotes only
// where it needs them, so that it is the same word to Git Bash, PowerShell and cmd.
func (c HookCommand) word(path string) string {
	if c.System != "windows" {
		return harness.QuoteShell(path)
	}
	path = strings.ReplaceAll(path, `\`, "/")
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:") == "" {
		return path
	}
	return harness.QuoteShell(path)
}

func (c HookCommand) group(event string) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	group := struct {
		Matcher string    `json:"matcher,omitempty"`
		Hooks   []handler `json:"hooks"`
	}{Hooks: []handler{c.handler(event)}}
	switch event {
	case harness.PreToolUse, harness.PostToolUse, harness.PostToolUseFailure:
		group.Matcher = "*"
	}
	err := e.Encode(group)
	return bytes.TrimSpace(b.Bytes()), err
}

// absolute reports whether a path is one on some system: settings are read wherever
// they were written.
func absolute(path string) bool {
	drive := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') && (path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z')
	return drive || strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\\`)
}

func (c HookCommand) check() error {
	for _, path := range []string{c.Program, c.Home} {
		if !absolute(path) || strings.ContainsAny(path, "\x00\n\r") {
			return fmt.Errorf("hook command needs an absolute path, not %q", path)
		}
	}
	return nil
}

// Install returns settings in which each event calls the command, once. Everything
// else stays unchanged and in its order; older entries of reviewer are replaced in
// their place. Installing again changes nothing.
func Install(settings []byte, c HookCommand, events []string) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	top, err := readSettings(settings)
	if err != nil {
		return nil, err
	}
	hooks, err := top.hooks()
	if err != nil {
		return nil, err
	}
	hooks, places, err := hooks.without(events)
	if err != nil {
		return nil, err
	}
	for _, event := range events {
		if hooks, err = hooks.insert(c, event, places); err != nil {
			return nil, err
		}
	}
	return top.set("hooks", hooks.bytes()).print()
}

// Uninstall returns settings without entries of reviewer, and without the
// lists that only held those.
func Uninstall(settings []byte) ([]byte, error) {
	top, err := readSettings(settings)
	if err != nil {
		return nil, err
	}
	hooks, err := top.hooks()
	if err != nil {
		return nil, err
	}
	rest, places, err := hooks.without(nil)
	switch {
	case err != nil:
		return nil, err
	case len(places) == 0:
		return settings, nil
	case len(rest) == 0:
		top = slices.Delete(top, top.index("hooks"), top.index("hooks")+1)
	default:
		top = top.set("hooks", rest.bytes())
	}
	return top.print()
}

func (o object) hooks() (object, error) {
	raw := o.value("hooks")
	if raw == nil {
		return object{}, nil
	}
	hooks, err := parseObject(raw)
	if err != nil {
		return nil, fmt.Errorf("settings: hooks %w; correct it first, the client ignores the whole file", err)
	}
	return hooks, nil
}

// without removes reviewer's entries, and returns for each event the position of the
// first one among its groups. Lists that become empty are removed too, except those of
// the events to keep.
func (o object) without(keep []string) (object, map[string]int, error) {
	places := map[string]int{}
	var rest object
	for _, m := range o {
		groups, err := parseList(m.value)
		if err != nil {
			return nil, nil, fmt.Errorf("settings: hooks.%s %w; correct it first, the client ignores the whole file", m.key, err)
		}
		others, place := withoutOwn(groups)
		if place >= 0 {
			places[m.key] = place
			m.value = listBytes(others)
		}
		if place < 0 || len(others) > 0 || slices.Contains(keep, m.key) {
			rest = append(rest, m)
		}
	}
	return rest, places, nil
}

func withoutOwn(groups []json.RawMessage) (others []json.RawMessage, place int) {
	place = -1
	for _, raw := range groups {
		left, found := groupWithoutOwn(raw)
		if found && place < 0 {
			place = len(others)
		}
		if left != nil {
			others = append(others, left)
		}
	}
	return others, place
}

// groupWithoutOwn returns nil for a group that held nothing else.
func groupWithoutOwn(raw json.RawMessage) (json.RawMessage, bool) {
	group, err := parseObject(raw)
	if err != nil {
		return raw, false
	}
	list, err := parseList(group.value("hooks"))
	if err != nil {
		return raw, false
	}
	n := len(list)
	list = slices.DeleteFunc(list, func(h json.RawMessage) bool { return ownEntry(h) != nil })
	switch {
	case len(list) == n:
		return raw, false
	case len(list) == 0:
		return nil, true
	}
	return group.set("hooks", listBytes(list)).bytes(), true
}

func (o object) insert(c HookCommand, event string, places map[string]int) (object, error) {
	var groups []json.RawMessage
	if raw := o.value(event); raw != nil {
		var err error
		if groups, err = parseList(raw); err != nil {
			return nil, err
		}
	}
	group, err := c.group(event)
	if err != nil {
		return nil, fmt.Errorf("encode hook of %s: %w", event, err)
	}
	place, had := places[event]
	if !had {
		place = len(groups)
	}
	return o.set(event, listBytes(slices.Insert(groups, place, group))), nil
}

var errUnclosedQuote = errors.New("unclosed quote")

// splitShell splits a command line at white space, quotes removed: enough to recognise a line
// of reviewer, even if it was edited.
func splitShell(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	in, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
			in = true
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if quote != 0 {
		return nil, errUnclosedQuote
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}
