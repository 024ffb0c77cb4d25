package settings

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// hookName is the name of reviewer's hooks, in agents whose hooks have one.
const hookName = "reviewer"

// guard makes a shell block the call when the program is missing or killed. The clients ignore an
// exit status of 2 without text.
const guard = " || { echo reviewer failed >&2; exit 2; }"

// unguard makes a shell continue when the program is missing or killed: some clients lose a prompt
// otherwise.
const unguard = " || true"

// entry describes one hook of agents that start a line of a shell.
type entry struct {
	agent   string
	named   bool          // it has a name
	untyped bool          // it has no type
	command string        // the key of the line
	timeout string        // the key of the time limit
	unit    time.Duration // of the time limit
	below   int           // the limit must be below this number, which the client reads in another unit; 0: any
	guarded bool          // the line before a call ends with guard
	lenient bool          // the other lines end with unguard
	closed  bool          // the client can be told to block the call when the hook fails
}

// line is the command of a hook.
func (e entry) line(c HookCommand, h Hook) string {
	if h.gate() && e.guarded && c.posix() {
		return c.line(e.agent, h) + guard
	}
	if !h.gate() && e.lenient && c.posix() {
		return c.line(e.agent, h) + unguard
	}
	return c.line(e.agent, h)
}

func (e entry) limit(h Hook) int { return int(h.Timeout / e.unit) }

// handler returns the hook as JSON.
func (e entry) handler(c HookCommand, h Hook) any {
	var o object
	text := func(key, value string) {
		raw, err := encoded(value)
		if err == nil { // always: a string can be encoded
			o = o.set(key, raw)
		}
	}
	if !e.untyped {
		text("type", "command")
	}
	if e.named {
		text("name", hookName)
	}
	text(e.command, e.line(c, h))
	o = o.set(e.timeout, json.RawMessage(strconv.Itoa(e.limit(h))))
	if e.closed && h.gate() {
		o = o.set("failClosed", json.RawMessage("true"))
	}
	return o.bytes()
}

// problems compares an entry with what is installed.
func (e entry) problems(own OwnHook, h object, on Hook, _ string) []string {
	found := commonProblems(e.agent, own, h)
	found.report(own.Timeout == 0, "no "+e.timeout+": the client's own limit may be shorter than the hook's deadline")
	found.report(own.Timeout > 0 && own.Timeout < e.limit(on.waiting(own.Wait)), shortTimeout+e.unitNote())
	found.report(e.below > 0 && own.Timeout >= e.below, "a timeout of "+strconv.Itoa(e.below)+" or more is read as milliseconds")
	found.report(e.named && h.text("name") != hookName, "the name is not "+hookName+
		", so doctor cannot determine whether a repository turns it off by name")
	closes := strings.Contains(own.Line, "exit 2")
	if on.gate() {
		found.report(!matchesAll(own.Matcher), "the matcher "+own.Matcher+" excludes some tools")
		found.report(e.guarded && !closes && own.posix(), "no `"+strings.TrimSpace(guard)+"`, so a failing hook lets the call run")
		found.report(e.closed && string(h.value("failClosed")) != "true", "no failClosed: true, so a failing hook lets the call run")
		return found
	}
	found.report(closes, "`exit 2` "+afterwards)
	found.report(e.lenient && !strings.HasSuffix(own.Line, unguard) && own.posix(),
		"no `"+strings.TrimSpace(unguard)+"`, so a failing hook loses the user's prompt")
	return found
}

// open reports whether the client runs a call when the program of this hook is missing or killed.
// On Windows the line has no guard: the shell that starts it can be PowerShell 5, which has no ||.
func (e entry) open(own OwnHook, on Hook) bool {
	return on.gate() && e.guarded && !own.posix() && !strings.Contains(own.Line, "exit 2")
}

// waiting returns a hook with at least as many seconds as the command line in its entry has.
func (h Hook) waiting(seconds int) Hook {
	h.Timeout = max(h.Timeout, time.Duration(seconds)*time.Second)
	return h
}

func (e entry) unitNote() string {
	if e.unit == time.Millisecond {
		return " (the client reads it as milliseconds)"
	}
	return ""
}

// problems lists what keeps an entry of reviewer from failing closed, or from working.
type problems []string

func (p *problems) report(wrong bool, text string) {
	if wrong {
		*p = append(*p, text)
	}
}

const (
	shortTimeout = "the timeout is shorter than the hook's own deadline"
	afterwards   = "erases prompts or forces the agent to continue when the hook fails"
)

// commonProblems lists those that an entry can have in every agent.
func commonProblems(agent string, o OwnHook, h object) problems {
	var found problems
	found.report(!absolute(o.Program), "the program is not an absolute path: PATH decides what runs")
	found.report(o.Home == "", "no --home: the environment decides where the state is")
	found.report(!namesEvent(agent, h, o.Event), "the arguments do not name the event "+o.Event)
	return found
}
