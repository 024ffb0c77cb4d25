package yamltext

import "strings"

// open is a bracket that must be closed, and the element in it that is being read.
type open struct {
	line, at int
	closing  byte
	colons   int  // that ended a key of the element
	begun    bool // the element has content
	ended    bool // it ended with a quote or a bracket
}

// flow follows lists in [] and objects in {} to their end.
func (s *scanner) flow(from, parent int) {
	var stack []*open
	line, at := s.at, from
	for {
		text := s.lines[line]
		for at < len(text) {
			if len(stack) > 0 && s.misplaced(stack[len(stack)-1], line, at) {
				return
			}
			switch c := text[at]; {
			case c == '[':
				stack = append(stack, &open{line: line, at: at, closing: ']'})
			case c == '{':
				stack = append(stack, &open{line: line, at: at, closing: '}'})
			case c == ']' || c == '}':
				last := stack[len(stack)-1]
				if last.closing != c {
					s.wrong(line, at, "expected %c before this %c, for the bracket in line %d", last.closing, c, last.line+1)
					return
				}
				if stack = stack[:len(stack)-1]; len(stack) == 0 {
					s.rest(line, at+1, "the closing bracket; quote the value if it is meant as text")
					return
				}
				stack[len(stack)-1].ended = true
			case (c == '"' || c == '\'') && (at == 0 || strings.IndexByte("[{,: ", text[at-1]) >= 0):
				end, closed := quoteEnd(text[at:], c)
				if !closed && !s.closedBelow(line, parent, c) {
					s.wrong(line, at, "this quote is not closed; write the same quote at the end of the value")
					return
				}
				stack[len(stack)-1].ended = closed && startsValue(text[:at])
				if closed {
					at += end - 1
				} else {
					at = len(text)
				}
			case c == '#' && at > 0 && text[at-1] == ' ':
				at = len(text)
			}
			at++
		}
		next, belongs := s.deeper(line, parent)
		if !belongs && !s.closes(next, parent) {
			first := stack[len(stack)-1]
			s.wrong(first.line, first.at, "this %c is not closed; write %c at its end", s.lines[first.line][first.at], first.closing)
			return
		}
		line, at = next, indentOf(s.lines[next])
	}
}

// startsValue reports whether what follows a string is the start of a key or a value.
func startsValue(text string) bool {
	text = strings.TrimRight(text, " ")
	return text == "" || strings.IndexByte("[{,:", text[len(text)-1]) >= 0
}

// misplaced notes what the byte at a place of a line does to the element that is being
// read, and reports whether it cannot be there.
func (s *scanner) misplaced(o *open, line, at int) bool {
	text := s.lines[line]
	switch c := text[at]; {
	case c == ' ', c == '\t', c == '#', c == ']', c == '}':
	case c == ',':
		if !o.begun {
			s.wrong(line, at, "there is nothing before this comma; remove it")
		}
		o.colons, o.begun, o.ended = 0, false, false
	case c == ':' && (o.ended || at+1 == len(text) || text[at+1] == ' '):
		if o.colons++; o.colons > 1 {
			s.wrong(line, at, "a colon followed by a space ends a key, but this is inside a value; "+
				"quote the value, or write a comma before the next key")
		}
		o.begun, o.ended = true, false
	case o.ended:
		s.wrong(line, at, "something follows the end of a value; write a comma before it, or put quotes around the whole value")
	default:
		o.begun = true
	}
	return s.fault != nil
}
