package harness

import (
	"cmp"
	_ "embed" // for the texts of the plugins
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// The plugins are for agents that load code in their own process instead of starting a hook. They
// start the hook, and need only the modules of Node.

//go:embed plugin/hook.js
var pluginHook string

//go:embed plugin/opencode.js
var openCodePlugin string

//go:embed plugin/pi.js
var piExtension string

// OpenCodePlugin returns the text of a plugin for OpenCode, a file of ES module code. command is
// the hook's program and its arguments without the event.
func OpenCodePlugin(command ...string) string {
	return pluginText(OpenCode, openCodePlugin, eventNames(openCode().events), command)
}

// PiExtension returns the text of an extension for pi, a file of TypeScript or ES module code.
// command is the hook's program and its arguments without the event.
func PiExtension(command ...string) string {
	return pluginText(Pi, piExtension, eventNames(pi().events), command)
}

func pluginText(agent, code string, events, command []string) string {
	limits := map[string]int64{}
	for _, event := range events {
		limits[event] = ClaudeCodeTimeout(event).Milliseconds()
	}
	limits[PreToolUse] = max(limits[PreToolUse], givenTime(command))
	var b strings.Builder
	fmt.Fprintf(&b, "// Written by `reviewer install %s`, which overwrites it. It asks reviewer about each call.\n", agent)
	b.WriteString("import { spawn } from \"node:child_process\";\n\n")
	fmt.Fprintf(&b, "const command = %s;\nconst deadlines = %s; // in milliseconds\n\n", literal(command), literal(limits))
	return b.String() + pluginHook + code
}

// givenTime returns the milliseconds that a command line gives the hook before a call; 0: the usual
// time.
func givenTime(command []string) int64 {
	i := slices.Index(command, "--timeout") + 1
	if i == 0 || i == len(command) {
		return 0
	}
	n, err := strconv.ParseInt(command[i], 10, 32)
	if err != nil {
		return 0
	}
	return n * 1000
}

// literal returns a value as code: JSON is a part of JavaScript.
func literal(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "null" // not reached: texts and numbers
	}
	return string(raw)
}

// encodePlugin encodes an answer for a plugin. Before a call there always is one, since the plugin
// takes silence for a failure. What the model is to read is added to the next result of a tool.
func encodePlugin(event string, a engine.Answer, reads []string) (stdout []byte, stderr string, exit int) {
	a.Text = shorten(a.Text, maxText)
	if event == "" || event == PreToolUse {
		return encodePluginPre(a), "", 0
	}
	if a.Stop {
		a.Effect, a.Text = engine.Block, cmp.Or(a.Text, stopText)
	}
	if slices.Contains(reads, event) {
		return encodeContextOnly(event, a), "", 0
	}
	return nil, "", 0
}

func encodePluginPre(a engine.Answer) []byte {
	s := &claudeSpecific{Event: PreToolUse}
	switch {
	case a.Effect == engine.Allow:
	case a.Effect == engine.Warn:
		s.Context = a.Text
	case a.Effect == engine.Modify && isObject(a.Args):
		s.Input, s.Context = a.Args, a.Text
	default:
		s.Decision, s.Reason = "deny", cmp.Or(a.Text, denyText)
	}
	return encode(claudeCodeOutput{Specific: s})
}

func encodeContextOnly(event string, a engine.Answer) []byte {
	if a.Effect == engine.Allow || a.Text == "" {
		return nil
	}
	return encode(claudeCodeOutput{Specific: &claudeSpecific{Event: event, Context: a.Text}})
}

// pluginChannels states what a plugin does with an answer; kind is the word that the agent has for
// plugins, and at lists the phases at which the model reads text.
func pluginChannels(kind, deny, change string, at ...engine.Phase) engine.Channels {
	return engine.Channels{
		{Way: engine.WayDeny, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre}, How: deny},
		{Way: engine.WayAsk, Support: engine.SupportNone, How: "the " + kind + " has nobody to ask, so reviewer denies the call"},
		{Way: engine.WayModify, Support: engine.SupportEnforced, Phases: []engine.Phase{engine.PhasePre}, How: change},
		{Way: engine.WayContext, Support: engine.SupportAdvisory, Phases: at,
			How: "the " + kind + " adds the text to the next result of a tool; the model reads it, and nothing makes it comply"},
		{Way: engine.WayReplace, Support: engine.SupportNone, How: "the " + kind + " could, but reviewer does not replace results"},
		{Way: engine.WayStop, Support: engine.SupportNone, How: "once a session is stopped, each of its calls is denied"},
		{Way: engine.WayKill, Support: engine.SupportNone, How: "no answer ends the client's process; only `reviewer run` can"},
	}
}
