package sql

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
)

// sqlKind is a kind of token of SQL.
type sqlKind int

const (
	sqlWord   sqlKind = iota // a keyword or a plain name, in capitals
	sqlName                  // a name in quotes
	sqlText                  // a string: its value
	sqlNumber                // a number
	sqlPunct                 // one sign, or a comparison
)

type sqlToken struct {
	kind sqlKind
	text string
}

func (t sqlToken) is(words ...string) bool {
	if t.kind != sqlWord && t.kind != sqlPunct {
		return false
	}
	return slices.Contains(words, t.text)
}

// sqlLexer splits a script into statements. Dialects differ in comments and quotes, so
// a comment in one can be a statement in another: mysql selects the rules.
type sqlLexer struct {
	code      string
	mysql     bool   // # and /*! */, backslashes in strings, "text"
	delimiter string // ends a statement besides ;
	at        int
	st        []sqlToken
	out       [][]sqlToken
	hinted    bool // inside /*! */
}

// Statements splits a script. It never fails: a quote or comment without an
// end goes to the end of the script.
func Statements(code string, mysql bool) [][]sqlToken {
	l := &sqlLexer{code: code, mysql: mysql}
	for n := 0; l.at < len(code) && n < abstract.MaxTokens; n++ {
		l.next()
	}
	l.end()
	return l.out
}

func (l *sqlLexer) end() {
	if len(l.st) > 0 {
		l.out = append(l.out, l.st)
	}
	l.st = nil
}

func (l *sqlLexer) add(kind sqlKind, text string) { l.st = append(l.st, sqlToken{kind, text}) }

func (l *sqlLexer) rest() string { return l.code[l.at:] }

func (l *sqlLexer) next() {
	c, rest := l.code[l.at], l.rest()
	switch {
	case l.delimiter != "" && strings.HasPrefix(rest, l.delimiter):
		l.at += len(l.delimiter)
		l.end()
	case c == ';':
		l.at++
		l.end()
	case c <= ' ':
		l.at++
	case l.lineComment(rest):
		l.at += abstract.LineLength(rest)
	case strings.HasPrefix(rest, "/*"):
		l.blockComment(rest)
	case l.hinted && strings.HasPrefix(rest, "*/"):
		l.hinted, l.at = false, l.at+2
	case c == '\'' || c == '"' && l.mysql:
		l.quoted(sqlText, l.mysql)
	case c == '"' || c == '`':
		l.quoted(sqlName, false)
	case c == '[' && l.bracketed():
		n := strings.IndexByte(rest, ']')
		l.add(sqlName, rest[1:n])
		l.at += n + 1
	case c == '$' && !l.mysql && l.dollar(rest):
	case abstract.IsNameByte(c) || c == '@' || c == '#' || c >= utf8.RuneSelf:
		l.word(rest)
	default:
		l.punct(rest)
	}
}

// lineComment reports whether a comment begins that ends with its line. In
// MySQL two dashes need a blank after them: 1--1 is a number.
func (l *sqlLexer) lineComment(s string) bool {
	if strings.HasPrefix(s, "--") {
		return !l.mysql || len(s) == 2 || s[2] <= ' '
	}
	return l.mysql && s[0] == '#'
}

// blockComment skips a comment. Those of MySQL that begin with ! are code, and
// all but MySQL's nest.
func (l *sqlLexer) blockComment(s string) {
	if l.mysql {
		if body, ok := strings.CutPrefix(strings.TrimPrefix(s[2:], "M"), "!"); ok {
			l.hinted, l.at = true, l.at+len(s)-len(strings.TrimLeft(body, "0123456789"))
			return
		}
		l.at += 2
		if i := strings.Index(s[2:], "*/"); i >= 0 {
			l.at += i + 2
		} else {
			l.at = len(l.code)
		}
		return
	}
	depth, i := 0, 0
	for i < len(s) {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(s[i:], "*/"):
			depth--
			i += 2
		default:
			i++
		}
		if depth == 0 {
			break
		}
	}
	l.at += i
}

// quoted reads a string or a name in quotes; the quote doubled is itself.
func (l *sqlLexer) quoted(kind sqlKind, escapes bool) {
	q := l.code[l.at]
	if n := len(l.st); kind == sqlText && n > 0 && l.st[n-1].is("E", "N", "B", "X", "R") && l.at > 0 && abstract.IsNameByte(l.code[l.at-1]) {
		escapes = escapes || l.st[n-1].text == "E"
		l.st = l.st[:n-1] // the prefix of the string
	}
	var b strings.Builder
	i := l.at + 1
	for i < len(l.code) {
		c := l.code[i]
		switch {
		case escapes && c == '\\' && i+1 < len(l.code):
			i++
			b.WriteByte(l.code[i])
		case c == q && i+1 < len(l.code) && l.code[i+1] == q:
			i++
			b.WriteByte(q)
		case c == q:
			l.add(kind, b.String())
			l.at = i + 1
			return
		default:
			b.WriteByte(c)
		}
		i++
	}
	l.add(kind, b.String())
	l.at = len(l.code)
}

// bracketed distinguishes a name in brackets, as SQL Server writes it, from an index.
func (l *sqlLexer) bracketed() bool {
	rest := l.rest()
	if l.at > 0 && (abstract.IsNameByte(l.code[l.at-1]) || l.code[l.at-1] == ']') || len(rest) < 3 {
		return false
	}
	return strings.IndexByte(rest, ']') > 1 && (abstract.IsNameByte(rest[1]) || rest[1] == '#') && !(rest[1] >= '0' && rest[1] <= '9')
}

// dollar reads $$ … $$ and $tag$ … $tag$.
func (l *sqlLexer) dollar(s string) bool {
	n := 1
	for n < len(s) && abstract.IsNameByte(s[n]) {
		n++
	}
	if n == len(s) || s[n] != '$' || n > 1 && s[1] >= '0' && s[1] <= '9' {
		return false
	}
	tag := s[:n+1]
	body, _, closed := strings.Cut(s[n+1:], tag)
	l.add(sqlText, body)
	if l.at += len(tag) + len(body); closed {
		l.at += len(tag)
	}
	return true
}

func (l *sqlLexer) word(s string) {
	n := 1
	for n < len(s) && (abstract.IsNameByte(s[n]) || s[n] == '$' || s[n] == '@' || s[n] == '#' && !l.mysql || s[n] >= utf8.RuneSelf) {
		n++
	}
	first := strings.TrimLeft(l.code[strings.LastIndexByte(l.code[:l.at], '\n')+1:l.at], " \t") == ""
	l.at += n
	switch text := strings.ToUpper(s[:n]); {
	case first && text == "DELIMITER" && l.mysql:
		line := s[n : n+abstract.LineLength(s[n:])]
		l.delimiter = strings.TrimSpace(line)
		l.at += len(line)
	case first && text == "GO" && strings.TrimSpace(s[n:n+abstract.LineLength(s[n:])]) == "":
		l.end() // the end of a batch of SQL Server
	case s[0] >= '0' && s[0] <= '9':
		l.add(sqlNumber, text)
	default:
		l.add(sqlWord, text)
	}
}

func (l *sqlLexer) punct(s string) {
	n := 1
	for _, p := range []string{"<=>", "<>", "!=", "<=", ">=", "||", "::", ":="} {
		if strings.HasPrefix(s, p) {
			n = len(p)
			break
		}
	}
	l.add(sqlPunct, s[:n])
	l.at += n
}
