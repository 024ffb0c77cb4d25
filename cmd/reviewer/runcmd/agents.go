package runcmd

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/engine/harness"
)

// agent is what a run reads of an agent: the stream on its standard output, and its transcripts.
type agent struct {
	name string
	// line reads a line of the stream; nil: the agent has none that is read.
	line func(s *stream, line []byte)
	// transcripts are patterns of paths; nil: they are not compared with the log.
	transcripts func(home string) []string
	// logged reads a line of a transcript, of which a stream that is not read says the same; nil: it tells no usage.
	logged    func(s *stream, line []byte)
	*protocol // nil: its client has none on its standard input
}

// protocol is how a client is talked to through its standard input.
type protocol struct {
	spoken     func(command []string) bool // reports whether a command speaks it
	interrupt  func() []byte               // asks the client to end its turn
	message    func(text string, turn bool) []byte
	rewind     func(id string, to target) []byte
	rewound    func(answer json.RawMessage) rewound
	transcript func(home, session string) string // a pattern of the file
	target     func(transcript io.Reader, call string) (target, bool)
}

func agents() []agent {
	return []agent{
		{harness.ClaudeCode, claudeLine, func(home string) []string {
			at := filepath.Join(folderOr("CLAUDE_CONFIG_DIR", home, ".claude"), "projects", "*")
			return []string{filepath.Join(at, "*.jsonl"), filepath.Join(at, "*", "subagents", "*.jsonl")}
		}, claudeLine, &protocol{claudeStreams, claudeInterrupt, claudeMessage, claudeRewind, claudeRewound, claudeTranscript, claudeTarget}},
		{harness.Codex, codexLine, func(home string) []string {
			return []string{filepath.Join(folderOr("CODEX_HOME", home, ".codex"), "sessions", "*", "*", "*", "rollout-*.jsonl")}
		}, rolloutLine, nil},
	}
}

// folderOr returns the folder that a variable names, or the usual one.
func folderOr(variable, home, usual string) string {
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	return filepath.Join(home, usual)
}

func findAgent(name string) agent {
	for _, a := range agents() {
		if a.name == name {
			return a
		}
	}
	return agent{name: name}
}

// agentPrograms returns the names of programs by agent.
func agentPrograms() map[string][]string {
	programs := map[string][]string{}
	for _, h := range harness.Harnesses() {
		programs[h.Name] = h.Programs
	}
	return programs
}
