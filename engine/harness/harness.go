// Package harness implements the wire formats of coding agents: it decodes a
// hook's input into an engine.Event, encodes an engine.Answer in the agent's
// format, and edits the agent's settings. There is one file per agent and format,
// and one row per agent in Harnesses.
//
// Out of scope: what an event means (engine/classify), how it is answered
// (the policy), where anything is recorded (engine/audit), and what an agent itself
// records (engine/transcript). Nothing here judges a call; its only rule is that input
// that cannot be read before a tool call is answered with the denial of engine.Degraded.
package harness

import (
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// MaxInput limits a hook's input in bytes. An agent that writes a file sends
// its whole content, so the limit is far above any handwritten file, and
// below what would exhaust a small machine.
const MaxInput = 16 << 20

// Harness is the implementation of an agent's wire format.
type Harness struct {
	Name string // as in the hook's command line and in Event.Harness

	// Decode reads a hook's input. event is the name from the command's
	// arguments, empty if there is none; project is the folder that the agent
	// names in the hook's environment. On an error the Event contains only
	// Harness, Name and Phase: what Failure is to answer.
	Decode func(event string, raw []byte, project string) (engine.Event, error)

	// Encode encodes an answer: the bytes for standard output, the text for
	// standard error, the exit status.
	Encode func(event string, a engine.Answer) (stdout []byte, stderr string, exit int)

	// Failure is Encode for anything that went wrong before there was an
	// answer. The text reaches the model: the caller masks secrets in it.
	Failure func(event, text string) (stdout []byte, stderr string, exit int)

	// Events are those for which reviewer is installed.
	Events []string

	// Timeout returns the time that the agent gives the hook of an event.
	Timeout func(event string) time.Duration

	// Channels states what the agent lets a hook do. It describes what Encode can
	// express, so that code that creates answers need not know the agent.
	Channels engine.Channels

	// Project names the environment variable that holds the project's folder; empty: the
	// agent sets none.
	Project string

	// Layers lists the places of the agent's settings, the strongest first; nil: reviewer
	// cannot write its hooks there yet, and a person has to.
	Layers func(Places) []Layer

	// Programs are the names under which the agent runs, and Marker is the
	// variable that it sets for the processes that it starts: by these a
	// command recognises that it was not typed by a person.
	Programs []string
	Marker   string
}

// Harnesses lists the agents, in the order in which they are offered.
func Harnesses() []Harness {
	return []Harness{{
		Name:     ClaudeCode,
		Decode:   DecodeClaudeCode,
		Encode:   EncodeClaudeCode,
		Failure:  FailClaudeCode,
		Events:   ClaudeCodeEvents(),
		Timeout:  ClaudeCodeTimeout,
		Channels: claudeCodeChannels(),
		Project:  "CLAUDE_PROJECT_DIR",
		Layers:   SettingsLayers,
		Programs: []string{"claude", "claude-code", "claude.exe"},
		Marker:   "CLAUDECODE",
	}, {
		Name:     Codex,
		Decode:   DecodeCodex,
		Encode:   EncodeCodex,
		Failure:  FailCodex,
		Events:   CodexEvents(),
		Timeout:  CodexTimeout,
		Channels: codexChannels(),
		Programs: []string{"codex", "codex.exe"},
		Marker:   "CODEX_THREAD_ID",
	}}
}

// Find returns the agent of a name.
func Find(name string) (Harness, bool) {
	for _, h := range Harnesses() {
		if h.Name == name {
			return h, true
		}
	}
	return Harness{}, false
}

// Installable returns the names of the agents whose settings reviewer writes.
func Installable() []string {
	var names []string
	for _, h := range Harnesses() {
		if h.Layers != nil {
			names = append(names, h.Name)
		}
	}
	return names
}

// Names returns the agents' names, for messages.
func Names() []string {
	var names []string
	for _, h := range Harnesses() {
		names = append(names, h.Name)
	}
	return names
}
