package run

import "bytes"

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
