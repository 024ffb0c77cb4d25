package sources

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/agent-reviewer/reviewer/engine"
)

// Bounds of a line of reviewer's own log in bytes. An export escapes some characters
// in six bytes, and adds the record's id.
const (
	maxLine         = engine.MaxKeyframe + 1<<10
	maxExportedLine = 6*engine.MaxKeyframe + 1<<10
)

var errLong = errors.New("is longer than the longest possible record")

// lines reads reviewer's own log line by line.
type lines struct {
	b      *bufio.Reader
	text   []byte // with its newline; valid until next
	number int    // from 1
	offset int64  // of the line
	size   int64  // of the line, even if text does not contain all of it
	err    error  // of the reader; nil at its end
	again  bool   // next returns the same line once more
}

// newLines reads lines of up to most bytes.
func newLines(r io.Reader, most int64) *lines {
	return &lines{b: bufio.NewReaderSize(r, int(most))}
}

// next goes to the next line, and returns false after the last. Of a line that is too
// long it returns the beginning.
func (l *lines) next() bool {
	if l.again {
		l.again = false
		return true
	}
	l.offset += l.size
	l.size = 0
	l.number++
	text, err := l.b.ReadSlice('\n')
	l.text, l.size = text, int64(len(text))
	if errors.Is(err, bufio.ErrBufferFull) {
		l.text = bytes.Clone(text)
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		more, err = l.b.ReadSlice('\n')
		l.size += int64(len(more))
	}
	if err != nil && err != io.EOF {
		l.err = err
	}
	return l.size > 0
}

func (l *lines) tooLong() bool { return l.size > int64(len(l.text)) }
func (l *lines) isHalf() bool  { return !bytes.HasSuffix(l.text, []byte("\n")) && !l.tooLong() }

// isFrame reports whether a line of an export is a bracket of its array, or blank.
func isFrame(text []byte) bool {
	switch string(bytes.TrimSpace(text)) {
	case "", "[", "]", "[]":
		return true
	}
	return false
}

// chainOf returns the id of the chain that a record belongs to, as it is in
// the line: before it there are numbers, digests and the kind only.
func chainOf(text []byte) string {
	_, rest, _ := bytes.Cut(text[:min(len(text), 1<<10)], []byte(`,"chain":"`))
	id, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return ""
	}
	return string(id)
}
