package yamltext

import "strings"

// value checks the value that starts at a byte of the line, whose key starts at
// the byte parent (-1: there is none), and advances to the line after it.
func (s *scanner) value(from, parent int) {
	text := s.lines[s.at]
	switch c := text[from]; c {
	case '"', '\'':
		s.quoted(from, parent, c)
	case '[', '{':
		s.flow(from, parent)
	case '|', '>':
		s.block(parent)
	case '@', '`', '%':
		s.wrong(s.at, from, "a value cannot start with %c; quote it", c)
	case '!':
		if strings.HasPrefix(text[from:], "!!") {
			s.plain(from, parent)
			return
		}
		s.wrong(s.at, from, "a ! at the start begins a tag of YAML, not a value; quote the value")
	case '*':
		s.wrong(s.at, from, "a * at the start refers to an anchor, which is not supported here; quote the value")
	default:
		s.plain(from, parent)
	}
}

// deeper returns the next line with content; whether it belongs to a value of a
// key at parent depends on its indentation.
func (s *scanner) deeper(line, parent int) (next int, belongs bool) {
	for next = line + 1; next < len(s.lines); next++ {
		if strings.TrimSpace(s.lines[next]) != "" {
			return next, indentOf(s.lines[next]) > parent
		}
	}
	return next, false
}

func (s *scanner) quoted(from, parent int, quote byte) {
	line, rest := s.at, s.lines[s.at][from:]
	for {
		end, closed := quoteEnd(rest, quote)
		if closed {
			s.rest(line, len(s.lines[line])-len(rest)+end, "the closing quote; put quotes around the whole value, or write it in a block below |")
			return
		}
		next, belongs := s.deeper(line, parent)
		if !belongs {
			s.wrong(s.at, from, "this quote is not closed; write the same quote at the end of the value")
			return
		}
		line = next
		rest = string(quote) + s.lines[line] // as if it started here
		if end, closed = quoteEnd(rest, quote); closed {
			s.rest(line, end-1, "the closing quote; put quotes around the whole value, or write it in a block below |")
			return
		}
	}
}

// rest checks what follows a value: only a comment may.
func (s *scanner) rest(line, at int, behind string) {
	if text := s.lines[line][at:]; !empty(text) {
		s.wrong(line, at+indentOf(text), "something follows %s", behind)
		return
	}
	s.at = line + 1
}

// closes reports whether a line starts with a closing bracket, which may be as
// far left as the key.
func (s *scanner) closes(line, parent int) bool {
	return line < len(s.lines) && indentOf(s.lines[line]) == parent && strings.IndexByte("]}", s.lines[line][parent]) >= 0
}

// closedBelow reports whether a quote is closed in a line that still belongs to
// the value.
func (s *scanner) closedBelow(line, parent int, quote byte) bool {
	for next, belongs := s.deeper(line, parent); belongs; next, belongs = s.deeper(next, parent) {
		if strings.IndexByte(s.lines[next], quote) >= 0 {
			return true
		}
	}
	return false
}

// block skips a string below | or >.
func (s *scanner) block(parent int) {
	for next, belongs := s.deeper(s.at, parent); ; next, belongs = s.deeper(next, parent) {
		if !belongs {
			s.at = next
			return
		}
	}
}

// plain follows an unquoted text, which may continue in deeper lines.
func (s *scanner) plain(from, parent int) {
	if !s.plainPart(s.at, from) {
		return
	}
	line := s.at
	for next, belongs := s.deeper(line, parent); belongs; next, belongs = s.deeper(next, parent) {
		text := s.lines[next]
		at := indentOf(text)
		if text[at] == '\t' {
			s.wrong(next, at, "a tab indents this line, but YAML allows only spaces; replace the tab with spaces")
			return
		}
		if keyEnd(text[at:]) >= 0 || strings.HasPrefix(text[at:], "- ") && keyEnd(text[at+2:]) >= 0 {
			s.wrong(next, at, "the indentation matches no line above, whose key already has a value; expected %s", s.columns())
			return
		}
		line = next
	}
	s.at = line + 1
}

// plainPart checks one line of such a string.
func (s *scanner) plainPart(line, from int) bool {
	text := s.lines[line][from:]
	if i := strings.Index(text, " #"); i >= 0 {
		text = text[:i]
	}
	if i := strings.Index(text+" ", ": "); i >= 0 {
		s.wrong(line, from+i, "a colon followed by a space ends a key, but this is inside a value; quote the value")
		return false
	}
	return true
}
