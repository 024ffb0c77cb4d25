package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// scan is the result of one pass over a file's raw lines: enough to join files
// at their seams without reading them again.
type scan struct {
	first     []byte // the first line
	prev      string // of the first line, hex
	firstN    int64
	lastN     int64
	lastHash  string
	lastSize  int64 // bytes of the newest line
	lines     int64
	bytes     int64
	torn      int64 // bytes after the last newline
	bad       *badLine
	firstKind string
}

// badLine is the first bad line of a file.
type badLine struct {
	line, n int64
	what    string
}

// scanner passes over files, one after another, with one buffer.
type scanner struct {
	lines lineReader
	sum   [sha256.Size]byte // hash of the line before
	hex   [hashHex]byte
}

// scan checks a file's first size bytes. Only the fixed start of each line is
// parsed: the time goes into SHA-256. Seals whose line is in the file are
// compared; they are sorted by n.
func (s *scanner) scan(path string, size int64, seals []engine.Seal) (found scan, err error) {
	f, err := osfile.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return scan{}, fmt.Errorf("verify audit file: %w", err)
	}
	defer f.Close()
	if s.lines.buf == nil {
		s.lines.buf = make([]byte, 2*engine.MaxKeyframe) // stays in the processor's cache
	}
	s.lines = lineReader{r: io.LimitReader(f, size), buf: s.lines.buf}
	err = s.pass(&found, seals)
	if found.lines > 0 {
		found.lastHash = hex.EncodeToString(s.sum[:])
	}
	if err == nil && found.bad == nil && found.bytes+found.torn < size {
		err = fmt.Errorf("verify audit file: it became shorter than %d bytes in the meantime", size)
	}
	return found, err
}

func (s *scanner) pass(f *scan, seals []engine.Seal) error {
	for f.bad == nil {
		line, err := s.lines.next()
		switch {
		case err == io.EOF:
			return nil
		case err == io.ErrUnexpectedEOF:
			f.torn = int64(len(line))
			return nil
		case err != nil && err != errLong:
			return fmt.Errorf("verify audit file: %w", err)
		}
		if f.bad = s.line(f, line, err, seals); f.bad == nil && len(seals) > 0 {
			seals, f.bad = s.compare(f, seals)
		}
	}
	return nil
}

// compare checks the newest line against the seals that cover it.
func (s *scanner) compare(f *scan, seals []engine.Seal) ([]engine.Seal, *badLine) {
	for len(seals) > 0 && seals[0].N <= f.lastN {
		if seals[0].N == f.lastN && seals[0].Head != hex.EncodeToString(s.sum[:]) {
			return seals, &badLine{f.lines, f.lastN, "its hash differs from its seal's: all lines up to it were changed, or the seal was"}
		}
		seals = seals[1:]
	}
	return seals, nil
}

// line checks one line and hashes it.
func (s *scanner) line(f *scan, line []byte, err error, seals []engine.Seal) *badLine {
	number := f.lines + 1
	h, bad := parseHead(line)
	if bad = errors.Join(err, bad); bad == nil {
		bad = checkLength(line, h.kind)
	}
	if bad != nil {
		return &badLine{number, f.lastN + 1, bad.Error()}
	}
	if f.lines == 0 {
		f.first, f.prev, f.firstN, f.firstKind = bytes.Clone(line), string(h.prev), h.n, string(h.kind)
	} else {
		if hex.Encode(s.hex[:], s.sum[:]); !bytes.Equal(s.hex[:], h.prev) {
			return s.changedLine(f, line, seals)
		}
		if h.n != f.lastN+1 {
			return &badLine{number, h.n, fmt.Sprintf("n is %d after %d", h.n, f.lastN)}
		}
	}
	s.sum = sha256.Sum256(line)
	f.lines, f.lastN, f.lastSize, f.bytes = number, h.n, int64(len(line)), f.bytes+int64(len(line))
	return nil
}

// changedLine decides which of two lines was changed when the second's prev is not
// the hash of the first: if what follows the two fits the second, it is the
// first.
func (s *scanner) changedLine(f *scan, second []byte, seals []engine.Seal) *badLine {
	h, _ := parseHead(second)
	if h.n != f.lastN+1 {
		return &badLine{f.lines + 1, h.n,
			fmt.Sprintf("n is %d after %d, and prev is not the hash of the previous line: lines were removed, inserted or moved", h.n, f.lastN)}
	}
	hash := engine.LineHash(second)
	known := sealedHead(seals, h.n)
	if third, err := s.lines.next(); err == nil {
		if h, err := parseHead(third); err == nil {
			known = string(h.prev)
		}
	}
	switch known {
	case hash:
		return &badLine{f.lines, f.lastN, "the line was changed: its hash is not the next line's prev"}
	case "":
		return &badLine{f.lines, f.lastN, "this line, or the prev of the newest line after it, was changed"}
	}
	return &badLine{f.lines + 1, f.lastN + 1,
		"the line was changed: its prev is not the hash of the previous line, and its hash is not the next line's prev"}
}

// sealedHead returns the hash that a seal records for line n, or "".
func sealedHead(seals []engine.Seal, n int64) string {
	for _, seal := range seals {
		if seal.N == n {
			return seal.Head
		}
	}
	return ""
}
