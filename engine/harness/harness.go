// Package harness speaks the wire formats of coding agents: it decodes what a
// hook is given into an engine.Event, encodes an engine.Answer in the agent's
// dialect, reads transcripts, and edits the agent's settings. One file per
// agent and format, one row per agent in Harnesses, and one per format of
// transcripts in Readers, of which some are of agents that have no hook here.
//
// Not its business: what an event means (engine/classify), what is answered
// (the policy), and where anything is recorded (engine/audit). Nothing here
// judges a call; the one rule it holds is that what cannot be read before a
// tool call is answered with the denial that engine.Degraded words.
package harness

import (
	"time"

	"github.com/agent-reviewer/reviewer/engine"
)

// MaxInput bounds a hook's input in bytes. An agent that writes a file sends
// its whole content, so the bound is far above any file that is written by
// hand, and below what would exhaust a small machine.
const MaxInput = 16 << 20

// Harness is an agent's dialect.
type Harness struct {
	Name string // as in the hook's command line and in Event.Harness

	// Decode reads a hook's input. event is the name from the command's
	// arguments, empty where it names none; project is the folder that the
	// agent names in the hook's environment. On an error the Event holds
	// Harness, Name and Phase only: what Failure is to answer.
	Decode func(event string, raw []byte, project string) (engine.Event, error)

	// Encode writes an answer: the bytes for standard output, the text for
	// standard error, the exit status.
	Encode func(event string, a engine.Answer) (stdout []byte, stderr string, exit int)

	// Failure is Encode for whatever went wrong before there was an answer.
	// The text reaches the model: the caller takes secrets out of it.
	Failure func(event, text string) (stdout []byte, stderr string, exit int)

	// Timeout is the time that the agent gives the hook of an event.
	Timeout func(event string) time.Duration

	// Project names the environment variable that holds the project's folder.
	Project string

	// Programs are the names under which the agent runs, and Marker is the
	// variable that it sets for what it starts: how a person's command tells
	// that it was not a person who typed it.
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
		Timeout:  ClaudeCodeTimeout,
		Project:  "CLAUDE_PROJECT_DIR",
		Programs: []string{"claude", "claude-code", "claude.exe"},
		Marker:   "CLAUDECODE",
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

// Names lists the agents' names, for messages.
func Names() []string {
	var names []string
	for _, h := range Harnesses() {
		names = append(names, h.Name)
	}
	return names
}
