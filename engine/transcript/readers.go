package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
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

	// Session returns the id of a file's session by the file's path, for formats in which
	// files do not name it; nil for the others, empty if the path does not say.
	Session func(path string) string

	// Several reports whether a file may contain several sessions in any order, so
	// that its beginning does not name them all.
	Several bool
}

// Readers lists the formats, in the order in which they are tried.
func Readers() []Reader {
	list := []Reader{
		{Name: harness.ClaudeCode, Is: IsClaudeCode, Read: ReadClaudeCode},
		{Name: "claude-chat-json", Is: isClaudeChat, Read: readClaudeChat},
		{Name: "claude-hook-log", Is: isHookLog, Read: readHookLog, Several: true},
		{Name: Codex, Is: isCodexRollout, Read: readCodexRollout},
		{Name: ATIF, Is: isATIF, Read: readATIF},
		{Name: Gemini, Is: isGeminiSession, Read: readGeminiSession},
		{Name: SWEAgent, Is: isSWETrajectory, Read: readSWETrajectory},
		{Name: "copilot-events", Is: isCopilotEvents, Read: readCopilotEvents},
		{Name: "droid-jsonl", Is: isDroidSession, Read: readDroidSession},
		{Name: "qwen-chat", Is: isQwenChat, Read: readQwenChat},
		{Name: "kimi-wire", Is: isKimiWire, Read: readKimiWire, Session: kimiSession},
		{Name: "cline-messages", Is: isClineSession, Read: readClineSession},
		{Name: "opencode-export", Is: isOpenCodeExport, Read: readOpenCodeExport},
		{Name: "pi-jsonl", Is: isPiSession, Read: readPiSession},
		{Name: "gemini-contents-json", Is: isContents, Read: readContents},
		{Name: "mini-swe-agent-traj", Is: isMiniTrajectory, Read: readMiniTrajectory},
		{Name: "specstory-md", Is: isSpecStory, Read: readSpecStory},
	}
	for i := range list {
		list[i].Read = shortening(list[i].Read)
	}
	return list
}

// Recognise returns the reader of a file that begins with head.
func Recognise(head []byte) (Reader, bool) {
	for _, r := range Readers() {
		if r.Is(head) {
			return r, true
		}
	}
	return Reader{}, false
}

// SessionOf returns the id of the session of a file in some format by the file's path;
// empty: the path does not say.
func SessionOf(format, path string) string {
	for _, r := range Readers() {
		if r.Name == format && r.Session != nil {
			return r.Session(path)
		}
	}
	return ""
}

// transcriptTail limits the end of a transcript that is searched for the
// latest prompt: what a client wrote in hundreds of calls.
const transcriptTail = 4 << 20

// Request returns the latest prompt of a person in an event's transcript: raw
// text, which nothing records. It reads the end of the file only, however long
// the file is.
func Request(e engine.Event) (string, error) {
	events, err := Latest(e)
	if err != nil {
		return "", err
	}
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Phase == engine.PhasePrompt && events[i].Prompt != "" {
			return events[i].Prompt, nil
		}
	}
	return "", errors.New("the end of the transcript has no prompt")
}

// Latest returns the events at the end of an event's transcript, raw.
func Latest(e engine.Event) ([]engine.Event, error) {
	if e.Transcript == "" || e.Harness != harness.ClaudeCode {
		return nil, errors.New("the agent names no transcript that can be read")
	}
	tail, err := readTail(e.Transcript, transcriptTail)
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	t, err := ReadClaudeCode(bytes.NewReader(tail))
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	return t.Events, nil
}

// Mentions reports whether the end of an event's transcript contains one of some
// words: raw text, which nothing records.
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

// usageTail limits the end of an addition to a transcript that is searched for usage:
// more than a client writes between two events.
const usageTail = 1 << 20

// Usage counts the tokens that the model wrote since an earlier event, by the event's
// transcript; before is what that event recorded, nil if nothing was. The first time
// nothing is counted: existing contents belong to an earlier session. Of a long
// addition only the end is read. Nil: nothing was added, or nothing can be read.
func Usage(e engine.Event, before *engine.Usage) *engine.Usage {
	if e.Spoken > 0 {
		return saidBy(bounded(e.Spoken), before)
	}
	read := spokenBy(e.Harness)
	if e.Transcript == "" || read == nil || e.Agent != "" && e.Harness != harness.ClaudeCode {
		return nil // the sub-agents of other agents have transcripts of their own
	}
	info, err := os.Stat(e.Transcript)
	switch {
	case errors.Is(err, fs.ErrNotExist) && before == nil:
		return &engine.Usage{}
	case err != nil || !info.Mode().IsRegular():
		return nil
	case before == nil || before.To > info.Size():
		return &engine.Usage{To: info.Size()} // new here, or written again
	case before.To == info.Size():
		return nil
	}
	return usageFrom(e.Transcript, *before, info.Size(), read)
}

// saidBy counts what an agent says itself. A number below the last one is that of a client that was started again.
func saidBy(all int64, before *engine.Usage) *engine.Usage {
	if before == nil {
		return &engine.Usage{Tokens: all, To: all}
	}
	if before.To == all {
		return nil
	}
	u := &engine.Usage{Tokens: all - before.To, To: all}
	if u.Tokens < 0 {
		u.Tokens = all
	}
	return u
}

// usageFrom reads the complete lines between the previous position and the end.
func usageFrom(path string, before engine.Usage, end int64, read spoken) *engine.Usage {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	from := max(before.To, end-usageTail)
	text, err := io.ReadAll(io.NewSectionReader(f, from, end-from))
	if err != nil {
		return nil
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	u := &engine.Usage{Skipped: from - before.To, To: from + int64(whole), Message: before.Message, Counted: before.Counted}
	if whole == 0 && u.Skipped == 0 {
		return nil // the line is being written
	}
	for line := range bytes.Lines(text[:whole]) {
		if bytes.Contains(line, []byte("sage")) || bytes.Contains(line, []byte("oken")) { // no other line is about tokens
			countLine(u, line, read)
		}
	}
	return u
}

// spoken reads a line of a transcript: the id of a message, and the tokens that the model wrote for it so far.
// False: the line is about something else.
type spoken func(line []byte) (id string, tokens int64, ok bool)

// spokenBy returns how an agent's transcript counts tokens, thoughts included. Nil: it has no transcript that grows
// by lines, names none in its events, or does not count in it (Kimi, Cline, Copilot, Droid, Cursor), or the agent counts itself (OpenCode).
func spokenBy(agent string) spoken {
	switch agent {
	case harness.ClaudeCode:
		return spokenInClaudeCode
	case harness.Codex:
		return spokenInCodex
	case harness.Gemini:
		return spokenInGemini
	case harness.Qwen:
		return spokenInQwen
	case harness.Pi:
		return spokenInPi
	}
	return nil
}

// countLine adds the usage in a line.
func countLine(u *engine.Usage, line []byte, read spoken) {
	id, tokens, ok := read(line)
	if !ok {
		return
	}
	digest := sha256.Sum256([]byte(id))
	if short := hex.EncodeToString(digest[:4]); short != u.Message || id == "" {
		u.Message, u.Counted = short, 0
	}
	n := bounded(tokens)
	u.Tokens += max(0, n-u.Counted)
	u.Counted = max(u.Counted, n)
}
