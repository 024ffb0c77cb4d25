package harness

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
)

// Transcript is what an agent wrote down about a session, as events.
type Transcript struct {
	Session string         // the agent's id of the session; the first one where a file names several
	Version string         // of the agent that wrote it, where it says so
	Events  []engine.Event // prompts, calls and their results in the order of the file, each once
	Lines   int            // lines that hold something
	Bad     []BadLine      // lines, or parts of them, that were not understood

	// Unasked are the calls (by id) that the agent turned down by itself, before
	// it asks any hook: they never ran, and nothing was to be reviewed.
	Unasked map[string]bool
}

// BadLine is a line that was left out, and why.
type BadLine struct {
	Line int    `json:"line"` // from 1
	Why  string `json:"why"`
}

// Calls returns the events before a tool call, in order.
func (t Transcript) Calls() []engine.Event {
	var calls []engine.Event
	for _, e := range t.Events {
		if e.Phase == engine.PhasePre {
			calls = append(calls, e)
		}
	}
	return calls
}

// Merge joins transcripts of the same session, such as the files of its
// sub-agents, in order of time; each call is kept once. Sessions keep the order
// in which they came.
func Merge(list []Transcript) []Transcript {
	var merged []Transcript
	for _, t := range list {
		i := slices.IndexFunc(merged, func(m Transcript) bool { return m.Session == t.Session && t.Session != "" })
		if i < 0 {
			merged = append(merged, t)
			continue
		}
		merged[i] = join(merged[i], t)
	}
	return merged
}

func join(a, b Transcript) Transcript {
	type key struct {
		call  string
		phase engine.Phase
	}
	seen := map[key]bool{}
	out := Transcript{Session: a.Session, Version: a.Version, Lines: a.Lines + b.Lines, Unasked: map[string]bool{}}
	out.Bad = append(slices.Clone(a.Bad), b.Bad...)
	for _, e := range append(slices.Clone(a.Events), b.Events...) {
		k := key{e.Call, e.Phase}
		if e.Call != "" && seen[k] {
			continue
		}
		seen[k] = true
		out.Events = append(out.Events, e)
	}
	slices.SortStableFunc(out.Events, func(x, y engine.Event) int { return int(max(-1, min(1, x.Time-y.Time))) })
	for _, unasked := range []map[string]bool{a.Unasked, b.Unasked} {
		for id := range unasked {
			out.Unasked[id] = true
		}
	}
	return out
}

// maxTranscriptLine bounds a line in bytes: an image or a file of many MiB is
// one line, an endless one is damage.
const maxTranscriptLine = 256 << 20

var errLongLine = errors.New("longer than 256 MiB")

// eachLine calls fn with each line that is not blank. A line of more than limit
// bytes is passed as nil.
func eachLine(r io.Reader, limit int, fn func(n int, line []byte)) error {
	b := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(b, limit)
		if err != nil && err != io.EOF && !errors.Is(err, errLongLine) {
			return fmt.Errorf("read transcript: %w", err)
		}
		if errors.Is(err, errLongLine) {
			fn(n, nil)
			continue
		}
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 {
			fn(n, trimmed)
		}
		if err == io.EOF {
			return nil
		}
	}
}

func readLine(b *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := b.ReadSlice('\n')
		if long = long || len(line)+len(part) > limit; !long {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case long && (err == nil || err == io.EOF):
			return nil, errLongLine
		}
		return line, err
	}
}
