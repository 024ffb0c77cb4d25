package run

import (
	"bytes"
	"io"
)

// MaxLine limits a line that is passed to Options.Lines: agents write whole files in one.
const MaxLine = 16 << 20

// splitter cuts what is written into lines. It keeps at most one.
type splitter struct {
	each func(line []byte)
	line []byte
	long bool
}

func (s *splitter) write(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			s.keep(b)
			return
		}
		switch {
		case s.long:
		case len(s.line) == 0:
			s.each(b[:i])
		default:
			if s.keep(b[:i]); !s.long {
				s.each(s.line)
			}
		}
		s.line, s.long = s.line[:0], false
		b = b[i+1:]
	}
}

// keep keeps the beginning of a line. Only lines that begin as JSON objects are worth it.
func (s *splitter) keep(b []byte) {
	if len(b) == 0 {
		return
	}
	if len(s.line) == 0 && b[0] != '{' || len(s.line)+len(b) > MaxLine {
		s.long = true
	}
	if !s.long {
		s.line = append(s.line, b...)
	}
}

// end passes on a last line that has no line end.
func (s *splitter) end() {
	if len(s.line) > 0 && !s.long {
		s.each(s.line)
	}
}

// EachLine passes on the complete lines of what it reads, as Options.Lines gets them, and returns how many bytes they
// have. A last line that has no line end is left for the next time.
func EachLine(from io.Reader, each func(line []byte)) (complete int64) {
	s := &splitter{each: each}
	buffer := make([]byte, 64<<10)
	for read := int64(0); ; {
		n, err := from.Read(buffer)
		s.write(buffer[:n])
		if end := bytes.LastIndexByte(buffer[:n], '\n') + 1; end > 0 {
			complete = read + int64(end)
		}
		if read += int64(n); err != nil {
			return complete
		}
	}
}
