package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agent-reviewer/reviewer/engine"
)

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
