package classify

import (
	"strings"
	"unicode/utf8"
)

// tokenKind is a kind of token of the languages that code is found in.
type tokenKind int

const (
	tokenPunct tokenKind = iota
	tokenName
	tokenNumber
	tokenString
	tokenLine // the end of a line
)

type token struct {
	kind tokenKind
	text string // of a string: what it stands for, with holes for what is put in
	raw  bool   // a string in backquotes: code in perl, ruby and php
}

// lexis is how a language writes comments and strings.
type lexis struct {
	comments []string // what begins a comment that ends with its line
	block    bool     // /* … */
	quotes   string
	triple   bool   // """ and '''
	plain    string // quotes in which nothing is put in and only \' and \\ are escapes
	inserts  string // what begins an inserted expression: "${", "#{"
	sigils   bool   // $name in a string is a variable
}

var (
	syntaxPython = lexis{comments: []string{"#"}, quotes: `'"`, triple: true}
	syntaxNode   = lexis{comments: []string{"//"}, block: true, quotes: "'\"`", inserts: "${"}
	syntaxPerl   = lexis{comments: []string{"#"}, quotes: "'\"`", plain: "'", sigils: true}
	syntaxRuby   = lexis{comments: []string{"#"}, quotes: "'\"`", plain: "'", inserts: "#{"}
	syntaxPHP    = lexis{comments: []string{"#", "//"}, block: true, quotes: "'\"`", plain: "'", sigils: true}
	syntaxAwk    = lexis{comments: []string{"#"}, quotes: `"`}
	syntaxSQL    = lexis{comments: []string{"--", "#"}, block: true, quotes: "'\"`", plain: "'\"`"}
)

// maxTokens bounds the tokens of one piece of code.
const maxTokens = 100_000

// tokenize splits code into tokens. It never fails: what it does not know is
// punctuation, and a string without an end goes to the end of the code.
func tokenize(code string, l lexis) []token {
	var out []token
	for i := 0; i < len(code) && len(out) < maxTokens; {
		c := code[i]
		switch {
		case c == '\n':
			out = append(out, token{kind: tokenLine, text: "\n"})
			i++
		case c == ' ' || c == '\t' || c == '\r' || c == '\\':
			i++
		case l.comment(code[i:]):
			i += lineLength(code[i:])
		case l.block && strings.HasPrefix(code[i:], "/*"):
			if end := strings.Index(code[i+2:], "*/"); end >= 0 {
				i += end + 4
			} else {
				i = len(code)
			}
		case strings.IndexByte(l.quotes, c) >= 0:
			t, n := l.quoted(code[i:], false)
			out = append(out, t)
			i += n
		case isNameByte(c) || c >= utf8.RuneSelf:
			i += l.word(code[i:], &out)
		default:
			n := punctLength(code[i:])
			out = append(out, token{kind: tokenPunct, text: code[i : i+n]})
			i += n
		}
	}
	return out
}

func (l lexis) comment(s string) bool {
	for _, c := range l.comments {
		if strings.HasPrefix(s, c) {
			return true
		}
	}
	return false
}

func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func punctLength(s string) int {
	for _, p := range []string{"=>", "==", "!=", ">>", "<<", "::", "->", "&&", "||", "+=", "**", ">=", "<="} {
		if strings.HasPrefix(s, p) {
			return 2
		}
	}
	return 1
}

// word adds a name or a number, or the string whose prefix it is (f"…").
func (l lexis) word(s string, out *[]token) int {
	n := 0
	for n < len(s) && (isNameByte(s[n]) || s[n] >= utf8.RuneSelf) {
		n++
	}
	w := s[:n]
	if l.triple && n < len(s) && n <= 2 && strings.IndexByte(l.quotes, s[n]) >= 0 && strings.Trim(strings.ToLower(w), "rbfut") == "" {
		lower := strings.ToLower(w)
		sub := l
		if strings.Contains(lower, "f") {
			sub.inserts = "{"
		}
		t, k := sub.quoted(s[n:], strings.Contains(lower, "r"))
		*out = append(*out, t)
		return n + k
	}
	kind := tokenName
	if w[0] >= '0' && w[0] <= '9' {
		kind = tokenNumber
	}
	if strings.ContainsAny(w, holes) {
		kind = tokenName
	}
	*out = append(*out, token{kind: kind, text: w})
	return n
}

// quoted reads the string that begins s.
func (l lexis) quoted(s string, raw bool) (token, int) {
	q := s[:1]
	if l.triple && len(s) >= 3 && s[1] == s[0] && s[2] == s[0] {
		q = s[:3]
	}
	plain := strings.Contains(l.plain, q)
	var b strings.Builder
	i := len(q)
	for i < len(s) && !strings.HasPrefix(s[i:], q) {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i += 1 + l.unescape(&b, s[i+1:], plain || raw)
		case !plain && l.inserts != "" && strings.HasPrefix(s[i:], l.inserts) && (l.inserts != "{" || !strings.HasPrefix(s[i:], "{{")):
			b.WriteString(holeText)
			i += insertLength(s[i:])
		case !plain && l.sigils && (s[i] == '$' || s[i] == '@') && i+1 < len(s) && (isNameByte(s[i+1]) || s[i+1] == '{'):
			b.WriteString(holeText)
			i++
			for i < len(s) && (isNameByte(s[i]) || s[i] == '{' || s[i] == '}') {
				i++
			}
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	text := strings.ToValidUTF8(b.String(), holeText)
	return token{kind: tokenString, text: text, raw: q == "`"}, min(i+len(q), len(s))
}

func (l lexis) unescape(b *strings.Builder, s string, plain bool) int {
	if plain {
		if s[0] != '\'' && s[0] != '\\' && s[0] != '"' {
			b.WriteByte('\\')
		}
		b.WriteByte(s[0])
		return 1
	}
	if s[0] == '\n' {
		return 1
	}
	return escape(b, s)
}

// insertLength is the length of ${…} with the braces in it balanced.
func insertLength(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
