package transcript

import (
	"fmt"
	"io"
)

// maxText limits a JSON string in bytes as it is written in the file: an image or a file of
// some MiB is one string. What is read takes a multiple of that in memory.
const maxText = maxTranscriptLine / 4

// shortening is a format's Read for files with strings of any length: it keeps the first
// maxText bytes of each and names the line in Transcript.Bad.
func shortening(read func(io.Reader) (Transcript, error)) func(io.Reader) (Transcript, error) {
	return func(r io.Reader) (Transcript, error) {
		s := &shortener{r: r, most: maxText, line: 1}
		t, err := read(s)
		for _, line := range s.lines {
			t.bad(line, fmt.Errorf("a string was shortened to %d MiB", s.most>>20))
		}
		return t, err
	}
}

// shortener reads JSON and leaves out what a string has beyond most bytes. A string ends
// at the end of its line at the latest, since JSON has no line break in strings.
type shortener struct {
	r     io.Reader
	most  int
	line  int   // from 1
	lines []int // with strings that were shortened

	inside bool // a string
	length int  // of the string so far, in bytes
	escape int  // bytes of an escape sequence that are still to come
	cut    bool // the rest of the string is left out
}

// Read implements io.Reader.
func (s *shortener) Read(p []byte) (int, error) {
	for {
		n, err := s.r.Read(p)
		kept := p[:0]
		for _, b := range p[:n] {
			if s.keeps(b) {
				kept = append(kept, b)
			}
		}
		if len(kept) > 0 || err != nil || n == 0 {
			return len(kept), err
		}
	}
}

// keeps follows the text by a byte and reports whether to pass it on.
func (s *shortener) keeps(b byte) bool {
	switch {
	case b == '\n':
		s.line++
		s.inside = false
		return true
	case !s.inside:
		if b == '"' {
			s.inside, s.length, s.escape, s.cut = true, 0, 0, false
		}
		return true
	case s.escape > 0:
		s.escape--
		if s.escape == 0 && b == 'u' {
			s.escape = -4
		}
	case s.escape < 0:
		s.escape++
	case b == '"':
		s.inside = false
		return true
	default:
		s.limit(b)
	}
	s.length++
	return !s.cut
}

// limit begins to leave out the string's rest, between two characters, and notes an escape
// sequence.
func (s *shortener) limit(b byte) {
	if s.length >= s.most && !s.cut && b&0xC0 != 0x80 {
		s.cut = true
		if n := len(s.lines); n == 0 || s.lines[n-1] != s.line {
			s.lines = append(s.lines, s.line)
		}
	}
	if b == '\\' {
		s.escape = 1
	}
}

// sum adds tokens, each within its bounds.
func sum(a, b int64) int64 { return bounded(a) + bounded(b) }

func bounded(tokens int64) int64 { return min(max(tokens, 0), maxTokens) }

// maxTokens limits what one message counts: a transcript can contain any
// number.
const maxTokens = 1 << 30
