package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/agent-reviewer/reviewer/engine"
)

// usageTail is how much of what was added to a transcript is searched for usage: more
// than a client writes between two events.
const usageTail = 1 << 20

// Usage counts the tokens that the model wrote since an earlier event, by the event's
// transcript; before is what that event recorded, nil if nothing was. The first time
// nothing is counted: what is there already belongs to an earlier session. Of a long
// addition only the end is read. Nil: nothing was added, or nothing can be read.
func Usage(e engine.Event, before *engine.Usage) *engine.Usage {
	if e.Transcript == "" || e.Harness != ClaudeCode {
		return nil
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
	return usageFrom(e.Transcript, *before, info.Size())
}

// usageFrom reads the whole lines between what was read before and the end.
func usageFrom(path string, before engine.Usage, end int64) *engine.Usage {
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
		countLine(u, line)
	}
	return u
}

// usageLine is a line of the main agent's messages, as far as it is about tokens. Its
// other parts are not examined.
type usageLine struct {
	Type      string `json:"type"`
	Sidechain bool   `json:"isSidechain"`
	Message   struct {
		ID    string `json:"id"`
		Usage struct {
			Output int64 `json:"output_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

// countLine adds what a line says. A message has a line for each of its parts, and the
// usage so far in each.
func countLine(u *engine.Usage, line []byte) {
	var l usageLine
	if !bytes.Contains(line, []byte(`"usage"`)) || json.Unmarshal(line, &l) != nil || l.Type != "assistant" {
		return
	}
	sum := sha256.Sum256([]byte(l.Message.ID))
	if id := hex.EncodeToString(sum[:4]); id != u.Message || l.Message.ID == "" {
		u.Message, u.Counted = id, 0
	}
	n := min(max(l.Message.Usage.Output, 0), maxTokens)
	u.Tokens += max(0, n-u.Counted)
	u.Counted = max(u.Counted, n)
}

// maxTokens limits what one message counts: a transcript can say any number.
const maxTokens = 1 << 30
