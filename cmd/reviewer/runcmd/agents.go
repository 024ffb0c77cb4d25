package runcmd

import (
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
	logged func(s *stream, line []byte)
	// interrupt is the line by which a command is asked through its standard input to stop; nil: it has no such protocol.
	interrupt func(command []string) []byte
}

func agents() []agent {
	return []agent{
		{harness.ClaudeCode, claudeLine, func(home string) []string {
			at := filepath.Join(folderOr("CLAUDE_CONFIG_DIR", home, ".claude"), "projects", "*")
			return []string{filepath.Join(at, "*.jsonl"), filepath.Join(at, "*", "subagents", "*.jsonl")}
		}, claudeLine, claudeInterrupt},
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

// claudeInterrupt is a request of the control protocol, which Claude Code speaks if its input is a stream of documents.
func claudeInterrupt(command []string) []byte {
	const flag, value = "--input-format", "stream-json"
	for i, word := range command {
		if word == flag+"="+value || i > 0 && command[i-1] == flag && word == value {
			return []byte(`{"type":"control_request","request_id":"reviewer-stop","request":{"subtype":"interrupt"}}`)
		}
	}
	return nil
}

func hasStream(name string) bool { return findAgent(name).line != nil }

// agentPrograms returns the names of programs by agent.
func agentPrograms() map[string][]string {
	programs := map[string][]string{}
	for _, h := range harness.Harnesses() {
		programs[h.Name] = h.Programs
	}
	return programs
}
