package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// A line starts with {"v":1,"prev":"<64 hex>","n":17,"kind":"pre" so that it
// can be checked without parsing JSON.
const (
	lineBegin = `{"v":1,"prev":"`
	lineN     = `","n":`
	lineKind  = `,"kind":"`
	hashHex   = 64
	maxDigits = 16 // numbers stay below 2^53
)

// head is the fixed start of a line, as slices of it.
type head struct {
	prev []byte // hex
	n    int64
	kind []byte
}

var errHead = errors.New(`does not start with {"v":1,"prev":"…","n":…,"kind":…`)

func parseHead(line []byte) (head, error) {
	rest, ok := bytes.CutPrefix(line, []byte(lineBegin))
	if !ok || len(rest) < hashHex {
		return head{}, headProblem(line)
	}
	h := head{prev: rest[:hashHex]}
	if rest, ok = bytes.CutPrefix(rest[hashHex:], []byte(lineN)); !ok {
		return head{}, errHead
	}
	digits := 0
	for digits < len(rest) && digits < maxDigits && rest[digits]-'0' <= 9 {
		h.n = h.n*10 + int64(rest[digits]-'0')
		digits++
	}
	if rest, ok = bytes.CutPrefix(rest[digits:], []byte(lineKind)); !ok || digits == 0 {
		return head{}, errHead
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return head{}, errHead
	}
	h.kind = rest[:end]
	return h, nil
}

// headProblem distinguishes a line of a later format from a malformed one. Only the version has
// to be where it is now.
func headProblem(line []byte) error {
	var version int
	if _, err := fmt.Sscanf(string(line[:min(len(line), 40)]), `{"v":%d,`, &version); err == nil && version > engine.FormatVersion {
		return engine.NewerFormat(version)
	}
	return errHead
}

// checkLength rejects lines longer than the format allows; line includes its
// newline.
func checkLength(line []byte, kind []byte) error {
	if len(line) > engine.MaxLine && string(kind) != string(engine.KindKeyframe) {
		return fmt.Errorf("line of %d bytes, at most %d", len(line), engine.MaxLine)
	}
	return nil
}

// readRecord decodes a line, and ensures that a JSON reader and a reader of the
// fixed start see the same.
func readRecord(line []byte) (*engine.Record, error) {
	h, err := parseHead(line)
	if err != nil {
		return nil, err
	}
	if err := checkLength(line, h.kind); err != nil {
		return nil, err
	}
	r, err := history.DecodeLine(line)
	if err != nil {
		return nil, err
	}
	if r.N != h.n || r.Prev != string(h.prev) || string(r.Kind) != string(h.kind) {
		return nil, errors.New("contains prev, n or kind twice")
	}
	return r, nil
}

// lineReader hands out a file's lines without copying them: a line is valid
// until the next one is asked for.
type lineReader struct {
	r          io.Reader
	buf        []byte
	start, end int
	eof        bool
}

// errLong means that a line is longer than any kind of record.
var errLong = fmt.Errorf("line of more than %d bytes", engine.MaxKeyframe)

// newLineReader reads about size bytes; more are not an error.
func newLineReader(r io.Reader, size int64) *lineReader {
	return &lineReader{r: r, buf: make([]byte, min(size+1, 4*engine.MaxKeyframe))}
}

// next returns the next line with its newline, io.EOF after the last, or
// io.ErrUnexpectedEOF with the bytes of a line that has no newline.
func (l *lineReader) next() ([]byte, error) {
	searched := 0
	for {
		if i := bytes.IndexByte(l.buf[l.start+searched:l.end], '\n'); i >= 0 {
			line := l.buf[l.start : l.start+searched+i+1]
			l.start += len(line)
			if len(line) > engine.MaxKeyframe {
				return line, errLong
			}
			return line, nil
		}
		searched = l.end - l.start
		switch {
		case l.eof && searched == 0:
			return nil, io.EOF
		case l.eof:
			return l.buf[l.start:l.end], io.ErrUnexpectedEOF
		case searched > engine.MaxKeyframe:
			part := l.buf[l.start:l.end]
			l.start = l.end // or the next call would return it again, forever
			return part, errLong
		}
		if err := l.fill(); err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) fill() error {
	if l.start > 0 {
		l.end = copy(l.buf, l.buf[l.start:l.end])
		l.start = 0
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	if err == io.EOF {
		l.eof = true
		return nil
	}
	return err
}
