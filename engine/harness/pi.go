package harness

import (
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// Pi is the name of pi in command lines and records.
const Pi = "pi"

// PiEvents are the events that the extension reports. The client has no sub-agents.
func PiEvents() []string { return eventNames(pi().events) }

// pi describes the documents that the extension sends: Claude Code's.
func pi() dialect {
	return dialect{agent: Pi, keys: claudeKeys(), ids: true,
		events: pascal(sessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure, stop, sessionEnd)}
}

// DecodePi reads the input of a hook.
func DecodePi(event string, raw []byte, project string) (engine.Event, error) {
	return pi().decode(event, raw, project)
}

// PiTimeout returns the time that the extension gives a hook.
func PiTimeout(event string) time.Duration { return ClaudeCodeTimeout(event) }

func piChannels() engine.Channels {
	return pluginChannels("extension", "the extension blocks the call",
		"the extension changes the call's input; an extension that runs later can change it again",
		engine.PhaseStart, engine.PhasePrompt, engine.PhasePre, engine.PhasePost)
}

// EncodePi encodes an answer for the extension.
func EncodePi(event string, a engine.Answer) (stdout []byte, stderr string, exit int) {
	return encodePlugin(event, a, []string{sessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure})
}

// FailPi encodes a failure to answer.
func FailPi(event, text string) (stdout []byte, stderr string, exit int) {
	return pi().fail(event, text)
}

// piRow is the agent's row in Harnesses.
func piRow() Harness {
	return Harness{
		Name:     Pi,
		Decode:   DecodePi,
		Encode:   EncodePi,
		Failure:  FailPi,
		Events:   PiEvents(),
		Phase:    pi().phase,
		Timeout:  PiTimeout,
		Unit:     time.Second,
		Channels: piChannels(),
		Commands: []string{".pi/prompts", ".pi/skills", ".pi/agent/prompts", ".pi/agent/skills"},
		Programs: []string{"pi", "pi.exe"},
	}
}
