// Package harness implements the wire formats of coding agents: it decodes a
// hook's input into an engine.Event, and encodes an engine.Answer in the agent's format.
// There is one file per agent and format, and one row per agent in Harnesses.
//
// Out of scope: what an event means (engine/classify), how it is answered
// (the policy), where anything is recorded (engine/audit), what an agent itself records
// (engine/transcript), and how its settings name a hook (engine/harness/settings). Nothing
// here judges a call; its only rule is that input that cannot be read before a tool call is
// answered with the denial of engine.Degraded.
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
	// Harness, Name and Phase: what Failure needs.
	Decode func(event string, raw []byte, project string) (engine.Event, error)

	// Encode encodes an answer: the bytes for standard output, the text for
	// standard error, the exit status.
	Encode func(event string, a engine.Answer) (stdout []byte, stderr string, exit int)

	// Failure is Encode for anything that went wrong before there was an
	// answer. The text reaches the model: the caller masks secrets in it.
	Failure func(event, text string) (stdout []byte, stderr string, exit int)

	// Events are those for which reviewer is installed.
	Events []string

	// Phase returns the phase of an event, by the agent's name of it.
	Phase func(event string) engine.Phase

	// Timeout returns the time that the agent gives the hook of an event.
	Timeout func(event string) time.Duration

	// Unit is that of the time limits in the agent's settings. Qwen Code reads numbers from 1000
	// on as milliseconds.
	Unit time.Duration

	// Channels states what the agent lets a hook do. It describes what Encode can
	// express, so that code that creates answers need not know the agent.
	Channels engine.Channels

	// Unverified is true if the answers were never tried with the agent's client: they follow its
	// published code and documentation.
	Unverified bool

	// Project names the environment variable with the project's folder; empty: the agent
	// sets none.
	Project string

	// Commands are folders, below that of the project and the home directory, with texts that the client makes prompts of when the
	// person names them: commands and skills.
	Commands []string

	// Answering are options of the client's command line with which another program may answer its questions.
	Answering []string

	// Programs are the names under which the agent runs, and Marker is the
	// variable that it sets for the processes that it starts: by these a
	// command recognises that it was not typed by a person.
	Programs []string
	Marker   string
}

// EventAt returns the agent's name of the first installed event of a phase; empty: there is none.
func (h Harness) EventAt(p engine.Phase) string {
	for _, event := range h.Events {
		if h.Phase(event) == p {
			return event
		}
	}
	return ""
}
