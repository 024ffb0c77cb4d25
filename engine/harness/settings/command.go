package settings

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
)

// HookCommand is the command that the client is to start for each event.
type HookCommand struct {
	Program string // absolute path of the program
	Home    string // absolute path of reviewer's state; in the arguments, since a repository's settings reach the environment
	Client  string // the client's version, as it prints it; empty: unknown
	System  string // windows, or another value of runtime.GOOS
	// Wait is the time that a hook before a call may take, where the policy lets questions wait
	// for a person; 0: as long as usual.
	Wait time.Duration
	// Key is the fingerprint of the person's key, which only their own settings have; empty: the ledger's own counts.
	Key string
	// Rules are the denials that agents are to apply themselves.
	Rules []ClientRule
}

// line is the command as one line of a shell.
func (c HookCommand) line(agent string, h Hook) string {
	line := fmt.Sprintf("%s hook %s %s --home %s", c.word(c.Program), agent, h.Event, c.word(c.Home))
	for _, word := range c.more(h) {
		line += " " + word
	}
	return line
}

// more returns the words of a hook's command that not every hook has.
func (c HookCommand) more(h Hook) []string {
	words := h.timeout()
	if c.Key != "" {
		words = append(words, keyFlag, c.Key)
	}
	return words
}

// word is a path as one word of a shell. On Windows it has slashes, and quotes only
// where it needs them, so that it is the same word to Git Bash, PowerShell and cmd.
func (c HookCommand) word(path string) string {
	if c.posix() {
		return harness.QuoteShell(path)
	}
	path = strings.ReplaceAll(path, `\`, "/")
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:") == "" {
		return path
	}
	return harness.QuoteShell(path)
}

// posix reports whether a shell of POSIX starts the line of a hook.
func (c HookCommand) posix() bool { return c.System != "windows" }

// absolute reports whether a path is absolute on some system: settings are read
// wherever they were written.
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
	if c.Key != "" && !engine.IsFingerprint(c.Key) {
		return fmt.Errorf("%q is not the fingerprint of a key", c.Key)
	}
	return nil
}

// Hook is one event for which reviewer is installed.
type Hook struct {
	Event   string
	Phase   engine.Phase
	Timeout time.Duration
	Waits   bool // the time is longer than usual, so that questions can wait for a person
}

// timeout returns the words that tell the hook how much time it has, if that is more than usual.
func (h Hook) timeout() []string {
	if !h.Waits {
		return nil
	}
	return []string{timeoutFlag, strconv.Itoa(int(h.Timeout.Seconds()))}
}

// The flags of `reviewer hook`.
const (
	timeoutFlag = "--timeout"
	keyFlag     = "--key"
)

// given returns hooks with the time that the command gives them.
func (c HookCommand) given(hooks []Hook) []Hook {
	hooks = slices.Clone(hooks)
	for i := range hooks {
		if h := &hooks[i]; h.gate() && c.Wait > h.Timeout {
			h.Timeout, h.Waits = c.Wait, true
		}
	}
	return hooks
}

// gate reports whether the agent waits for the answer before it makes a call.
func (h Hook) gate() bool { return h.Phase == engine.PhasePre }

// aboutTool reports whether the event names a tool, so that a hook can be limited to some.
func (h Hook) aboutTool() bool { return h.Phase == engine.PhasePre || h.Phase == engine.PhasePost }

// hooksOf returns the hooks of an agent.
func hooksOf(h harness.Harness) []Hook {
	var list []Hook
	for _, event := range h.Events {
		list = append(list, Hook{Event: event, Phase: h.Phase(event), Timeout: h.Timeout(event)})
	}
	return list
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
