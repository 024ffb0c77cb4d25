// Package yamltext finds the place at which a text stops being YAML. Parsers
// name the line at which they gave up, which may be far from the quote that was
// not closed.
//
// It imports no package of this module and reads no file. Out of scope:
// what the keys and values mean.
package yamltext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fault is an error in a string that is not YAML.
type Fault struct {
	Line, Col int // from 1; column 0: unknown
	Message   string
}

// Explain finds the error in a string that the YAML parser rejected. If it finds
// nothing, it returns the parser's own line and message.
func Explain(text string, err error) Fault {
	s := &scanner{lines: strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")}
	for i := range s.lines {
		s.lines[i] = strings.TrimRight(s.lines[i], "\r")
	}
	for s.at < len(s.lines) && s.fault == nil {
		s.line()
	}
	if s.fault != nil {
		return *s.fault
	}
	return parserFault(err, s.lines)
}

// lateLines are the starts of errors for which the YAML parser counts lines
// from 0; its scanner counts from 1.
func lateLines() []string {
	return []string{
		"did not find expected key", "did not find expected node content", "did not find expected '-' indicator",
		"did not find expected ',' or", "did not find expected <", "found undefined tag handle",
		"found duplicate %", "found incompatible YAML document",
	}
}

func parserFault(err error, lines []string) Fault {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if name, alias := strings.CutPrefix(text, "unknown anchor '"); alias {
		name = "*" + strings.TrimSuffix(name, "' referenced")
		at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, name) })
		return Fault{max(0, at) + 1, 0, fmt.Sprintf("%s refers to an anchor of YAML that is not there; put quotes around it: \"%s\"", name, name)}
	}
	rest, ok := strings.CutPrefix(text, "line ")
	if !ok {
		return Fault{1, 0, text}
	}
	number, what, _ := strings.Cut(rest, ": ")
	line, bad := strconv.Atoi(number)
	if bad != nil {
		return Fault{1, 0, text}
	}
	for _, begin := range lateLines() {
		if strings.HasPrefix(what, begin) {
			line++
		}
	}
	if what == "did not find expected alphabetic or numeric character" {
		what = "a value that begins with * or & needs quotes, such as \"*\", since these begin aliases and anchors in YAML"
	}
	last := len(lines)
	for last > 1 && lines[last-1] == "" {
		last--
	}
	return Fault{max(1, min(line, last)), 0, what}
}

// level is an open block: its keys or items start at one column.
type level struct {
	indent int
	list   bool // items with a dash
	keyed  bool // a list may begin at the same column as the key above it
}

type scanner struct {
	lines  []string
	at     int // the line that is examined, from 0
	levels []level
	opens  bool // the line before had a key without a value, or a dash alone
	fault  *Fault
}

// wrong notes a fault at a byte of a line.
func (s *scanner) wrong(line, at int, format string, args ...any) {
	if s.fault == nil {
		text := s.lines[line]
		s.fault = &Fault{line + 1, utf8.RuneCountInString(text[:min(at, len(text))]) + 1, fmt.Sprintf(format, args...)}
	}
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// empty reports whether a line has only spaces and a comment.
func empty(line string) bool {
	text := strings.TrimSpace(line)
	return text == "" || strings.HasPrefix(text, "#")
}

// line checks one line of a block, and all lines of its value.
func (s *scanner) line() {
	text := s.lines[s.at]
	indent := indentOf(text)
	switch {
	case empty(text):
		s.at++
		return
	case indent == 0 && (strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...")):
		s.levels, s.opens = nil, false
		s.at++
		return
	case text[indent] == '\t':
		s.wrong(s.at, indent, "a tab indents this line, but YAML allows only spaces; replace the tab with spaces")
		return
	}
	s.entry(text, indent)
}

// entry checks what starts at a byte of the line: items with nested dashes,
// then a key with its value.
func (s *scanner) entry(text string, at int) {
	for rest := text[at:]; rest == "-" || strings.HasPrefix(rest, "- "); rest = text[at:] {
		if !s.aligned(at, true) {
			return
		}
		next := at + 1 + indentOf(text[at+1:])
		if s.opens = true; next >= len(text) || empty(text[next:]) {
			s.at++
			return
		}
		at = next
	}
	key := keyEnd(text[at:])
	if key < 0 {
		s.scalar(text, at)
		return
	}
	if !s.aligned(at, false) {
		return
	}
	from := at + key + 1
	from += indentOf(text[from:])
	if from >= len(text) || empty(text[from:]) {
		s.opens = true
		s.at++
		return
	}
	s.opens = false
	s.value(from, at)
}

// scalar checks a line that is neither an item nor a key.
func (s *scanner) scalar(text string, at int) {
	top := -1
	if n := len(s.levels); n > 0 {
		top = s.levels[n-1].indent
	}
	if s.opens && at > top {
		s.opens = false
		s.value(at, top)
		return
	}
	if len(s.levels) == 0 && strings.IndexByte("[{\"'|>", text[at]) >= 0 {
		s.value(at, -1)
		return
	}
	if name, rest, ok := strings.Cut(text[at:], ":"); ok && rest != "" && name != "" && !strings.ContainsAny(name, " \"'{}[]") {
		s.wrong(s.at, at+len(name), "there is no space after the colon; write %s: %s", name, strings.TrimSpace(rest))
		return
	}
	if len(s.levels) == 0 {
		s.value(at, -1)
		return
	}
	if s.at > 0 && opensBlock(s.lines[s.at-1]) && indentOf(s.lines[s.at-1]) >= at {
		s.wrong(s.at, at, "the text of the block that begins in line %d is not indented; indent it more than its key", s.at)
		return
	}
	s.wrong(s.at, at, "expected a key followed by a colon and a space, or a dash and a space")
}

// opensBlock reports whether a line ends with the mark of a block of text.
func opensBlock(line string) bool {
	_, mark, _ := strings.Cut(line, ": ")
	mark = strings.TrimSpace(mark)
	return mark != "" && len(mark) <= 3 && (mark[0] == '|' || mark[0] == '>')
}

// aligned checks that a key or an item starts where the others of an open block
// do, or where a new block may start.
func (s *scanner) aligned(at int, list bool) bool {
	was := s.columns()
	for len(s.levels) > 0 && s.levels[len(s.levels)-1].indent > at {
		s.levels = s.levels[:len(s.levels)-1]
		s.opens = false
	}
	if len(s.levels) == 0 {
		if was != "" {
			s.wrong(s.at, at, "the indentation matches no line above; expected %s", was)
			return false
		}
		s.levels, s.opens = append(s.levels, level{indent: at, list: list}), false
		return true
	}
	top := &s.levels[len(s.levels)-1]
	switch {
	case top.indent < at && s.opens:
		s.levels, s.opens = append(s.levels, level{indent: at, list: list}), false
	case top.indent < at:
		s.wrong(s.at, at, "the indentation matches no line above; expected %s", was)
	case top.list == list || top.keyed && !list:
		top.keyed = top.keyed && list
	case list && (s.opens || top.keyed):
		top.keyed = true
	case list:
		s.wrong(s.at, at, "a list item is among keys; indent it under the key that it belongs to")
	default:
		s.wrong(s.at, at, "a key is among the items of a list; indent it, or start an item with a dash")
	}
	s.opens = false
	return s.fault == nil
}

// columns lists the columns at which blocks are open.
func (s *scanner) columns() string {
	var names []string
	for _, l := range s.levels {
		names = append(names, strconv.Itoa(l.indent+1))
	}
	if len(names) == 0 {
		return ""
	}
	return "column " + strings.Join(names, " or ")
}

// keyEnd returns the end of the key with which the text starts, after its
// colon; -1: it starts with none.
func keyEnd(text string) int {
	if text == "" {
		return -1
	}
	at := 0
	switch text[0] {
	case '"', '\'':
		end, closed := quoteEnd(text, text[0])
		if !closed {
			return -1
		}
		at = end
	case '[', '{', '#', '|', '>', '&', '*', '!', '%', '@', '`':
		return -1
	}
	for ; at < len(text); at++ {
		switch {
		case text[at] == ':' && (at+1 == len(text) || text[at+1] == ' ' || text[at+1] == '\t'):
			return at
		case text[at] == '#' && at > 0 && text[at-1] == ' ':
			return -1
		case text[0] == '"' || text[0] == '\'':
			if text[at] != ' ' {
				return -1
			}
		}
	}
	return -1
}

// quoteEnd returns the byte after the closing quote of a string that begins with
// one.
func quoteEnd(text string, quote byte) (end int, closed bool) {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1, true
		}
	}
	return len(text), false
}
