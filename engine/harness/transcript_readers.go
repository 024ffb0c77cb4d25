package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Reader reads agents' own records of their sessions, in one format. A new
// format is a file of its own and a row in Readers.
type Reader struct {
	Name string // of the format

	// Is reports whether a file that starts with head is in this format. 64 KiB
	// are enough; the last line may be cut.
	Is func(head []byte) bool

	// Read reads a whole file. What it does not understand is listed in
	// Transcript.Bad and costs that line, message or step. An error means that
	// the rest could not be read, because the file is cut, damaged or gone: the
	// Transcript then contains what came before.
	Read func(r io.Reader) (Transcript, error)

	// Several reports whether a file may contain several sessions in any order, so
	// that its beginning does not name them all.
	Several bool
}

// Readers lists the formats, in the order in which they are tried.
func Readers() []Reader {
	return []Reader{
		{Name: ClaudeCode, Is: IsClaudeCodeTranscript, Read: ReadClaudeCodeTranscript},
		{Name: "claude-chat-json", Is: isClaudeChat, Read: readClaudeChat},
		{Name: "claude-hook-log", Is: isHookLog, Read: readHookLog, Several: true},
		{Name: Codex, Is: isCodexRollout, Read: readCodexRollout},
		{Name: ATIF, Is: isATIF, Read: readATIF},
		{Name: Gemini, Is: isGeminiSession, Read: readGeminiSession},
		{Name: SWEAgent, Is: isSWETrajectory, Read: readSWETrajectory},
		{Name: "copilot-events", Is: isCopilotEvents, Read: readCopilotEvents},
		{Name: "pi-jsonl", Is: isPiSession, Read: readPiSession},
		{Name: "gemini-contents-json", Is: isContents, Read: readContents},
		{Name: "mini-swe-agent-traj", Is: isMiniTrajectory, Read: readMiniTrajectory},
		{Name: "specstory-md", Is: isSpecStory, Read: readSpecStory},
	}
}

// The agents whose transcripts are read next to ClaudeCode, and the format that
// several of them share.
//
// Event.Harness names the agent that acted, so that policy can tell them apart.
// Everything else of an event uses Claude Code's terms: its names of events and, where
// a tool does what one of its own does, of tools and arguments. So one rule holds for
// all agents, and decisions do not depend on the agent unless a rule tests it.
const (
	Codex    = "codex"
	Gemini   = "gemini"
	SWEAgent = "swe-agent"
	Copilot  = "copilot"
	Pi       = "pi"
	ATIF     = "atif"

	MiniSWEAgent = "mini-swe-agent"
)

// Recognise returns the reader of a file that begins with head.
func Recognise(head []byte) (Reader, bool) {
	for _, r := range Readers() {
		if r.Is(head) {
			return r, true
		}
	}
	return Reader{}, false
}

// transcriptTail is how much of a transcript's end is searched for the latest
// prompt: what a client wrote in hundreds of calls.
const transcriptTail = 4 << 20

// Request returns the latest prompt of a person in an event's transcript: raw
// text, which nothing records. It reads the end of the file only, however long
// the file is.
func Request(e engine.Event) (string, error) {
	if e.Transcript == "" || e.Harness != ClaudeCode {
		return "", errors.New("the agent names no transcript that can be read")
	}
	tail, err := readTail(e.Transcript, transcriptTail)
	if err != nil {
		return "", fmt.Errorf("read transcript: %w", err)
	}
	t, err := ReadClaudeCodeTranscript(bytes.NewReader(tail))
	if err != nil {
		return "", fmt.Errorf("read transcript: %w", err)
	}
	for i := len(t.Events) - 1; i >= 0; i-- {
		if t.Events[i].Phase == engine.PhasePrompt && t.Events[i].Prompt != "" {
			return t.Events[i].Prompt, nil
		}
	}
	return "", errors.New("the end of the transcript has no prompt")
}

// Mentions reports whether the end of an event's transcript has one of some words:
// raw text, which nothing records.
func Mentions(e engine.Event, words []string) bool {
	tail, err := readTail(e.Transcript, transcriptTail)
	return err == nil && slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(tail, []byte(w)) })
}

// readTail reads at most the last n bytes of a regular file, from the beginning
// of a line.
func readTail(path string, n int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	from := max(info.Size()-n, 0)
	b, err := io.ReadAll(io.NewSectionReader(f, from, n))
	if err != nil || from == 0 {
		return b, err
	}
	_, b, _ = bytes.Cut(b, []byte("\n"))
	return b, nil
}
