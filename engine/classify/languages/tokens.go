package languages

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// tokenKind is a kind of token in the supported languages.
type tokenKind int

const (
	tokenPunct tokenKind = iota
	TokenName
	tokenNumber
	TokenString
	tokenLine // the end of a line
)

// Token is one token of a language: a name, a string, a number or an operator.
type Token struct {
	Kind    tokenKind
	Text    string  // of a string: its value, with holes for inserted expressions
	pieces  []piece // of a string with embedded expressions
	raw     bool    // a string in backquotes: code in perl, ruby and php
	glob    bool    // a pattern of file names: perl's <*.txt>
	indent  int     // of the line that it is in
	nesting int     // number of enclosing braces
	follows bool    // an if, a loop or the like precedes it in its line
}

// piece is a part of a string: text, or the code of an expression.
type piece struct{ text, code string }

// lexis is the notation of comments and strings in a language.
type lexis struct {
	comments []string // what begins a comment that ends with its line
	block    bool     // /* … */
	quotes   string
	triple   bool   // three quotes can delimit a string too, over several lines
	plain    string // quotes of strings without inserted expressions, in which only \' and \\ are escapes
	inserts  string // starts of inserted expressions: "${", "#{"
	sigils   bool   // $name is a variable, also in strings
	joins    bool   // a dot joins strings
	quoting  string // words that quote what follows in brackets: q(…), %q(…); each followed by a blank
}

var (
	syntaxPython = lexis{comments: []string{"#"}, quotes: `'"`, triple: true}
	SyntaxNode   = lexis{comments: []string{"//"}, block: true, quotes: "'\"`", inserts: "${"}
	syntaxPerl   = lexis{comments: []string{"#"}, quotes: "'\"`", plain: "'", sigils: true, joins: true, quoting: " q qq qx qw qr m s y tr "}
	syntaxRuby   = lexis{comments: []string{"#"}, quotes: "'\"`", plain: "'", inserts: "#{", quoting: " %q %Q %x %w %W %i %r "}
	syntaxPHP    = lexis{comments: []string{"#", "//"}, block: true, quotes: "'\"`", plain: "'", sigils: true, joins: true}
	syntaxAwk    = lexis{comments: []string{"#"}, quotes: `"`}
)

// Tokenize splits code into tokens. It never fails: unknown characters are punctuation, and
// an unterminated string ends with the code.
func Tokenize(code string, l lexis) []Token {
	var out []Token
	indent, begins := 0, true
	for i := 0; i < len(code) && len(out) < abstract.MaxTokens; {
		c, n := code[i], len(out)
		switch {
		case c == '\n':
			out = append(out, Token{Kind: tokenLine, Text: "\n"})
			indent, begins = 0, true
			i++
		case c == '\\' && i+1 < len(code) && code[i+1] == '\n':
			i += 2
		case begins && (c == ' ' || c == '\t'):
			indent++
			i++
		case c == ' ' || c == '\t' || c == '\r' || c == '\\':
			i++
		case l.quotingAt(code, i) > 0:
			k := l.quotingAt(code, i)
			i += k + l.bracketed(code[i:i+k], code[i+k:], &out)
		case l.sigils && c == '<' && globLength(code[i:]) > 0:
			k := globLength(code[i:])
			out = append(out, Token{Kind: TokenString, Text: code[i+1 : i+k-1], glob: true})
			i += k
		case l.comment(code[i:]):
			i += abstract.LineLength(code[i:])
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
		case abstract.IsNameByte(c) || c >= utf8.RuneSelf:
			i += l.word(code[i:], &out)
		default:
			k := punctLength(code[i:])
			out = append(out, Token{Kind: tokenPunct, Text: code[i : i+k]})
			i += k
		}
		if len(out) > n && c != '\n' {
			out[n].indent, begins = indent, false
		}
	}
	return out
}

// quotingAt returns the length of the word at i if it is a quoting word, else 0.
func (l lexis) quotingAt(code string, i int) int {
	if l.quoting == "" || i > 0 && (abstract.IsNameByte(code[i-1]) || strings.IndexByte("$@%&{>-", code[i-1]) >= 0) {
		return 0
	}
	n := i
	if code[n] == '%' {
		n++
	}
	for n < len(code) && abstract.IsNameByte(code[n]) && n-i < 3 {
		n++
	}
	if n >= len(code) || n == i || strings.IndexByte("/|!{([<~", code[n]) < 0 || !strings.Contains(l.quoting, " "+code[i:n]+" ") {
		return 0
	}
	return n - i
}

// bracketed adds the value of a quoting word: a string, a command, or a list of words; for
// a substitution only the code that it runs. It returns the length of the quoted text.
func (l lexis) bracketed(quoting, s string, out *[]Token) int {
	text, n := between(s)
	switch kind := strings.TrimPrefix(quoting, "%"); kind {
	case "w", "W", "i", "qw":
		*out = append(*out, Token{Text: "["})
		for _, w := range strings.Fields(text) {
			*out = append(*out, Token{Kind: TokenString, Text: w}, Token{Text: ","})
		}
		*out = append(*out, Token{Text: "]"})
	case "s", "y", "tr":
		second := s[n:]
		if closer(s[0]) == s[0] {
			second = s[n-1:]
		}
		with, k := between(strings.TrimLeft(second, " "))
		n = len(s) - len(strings.TrimLeft(second, " ")) + k
		flags := n
		for n < len(s) && s[n] >= 'a' && s[n] <= 'z' {
			n++
		}
		*out = append(*out, Token{Kind: TokenString})
		if strings.Contains(s[flags:n], "e") {
			*out = append(*out, Token{Text: ";"})
			*out = append(*out, Tokenize(with, l)...)
		}
	case "m", "r", "qr":
		*out = append(*out, Token{Kind: TokenString, Text: abstract.HoleText})
	default:
		l.plain, l.quotes = "", "\x00"
		if kind == "q" {
			l.inserts, l.sigils = "", false
		}
		t, _ := l.quoted("\x00"+text+"\x00", false)
		t.raw = kind == "x" || kind == "qx"
		*out = append(*out, t)
	}
	return n
}

// closer is the bracket that ends what c begins.
func closer(c byte) byte {
	if i := strings.IndexByte("([{<", c); i >= 0 {
		return ")]}>"[i]
	}
	return c
}

// between returns the text in the brackets at the start of s, and its length with them.
func between(s string) (string, int) {
	if s == "" {
		return "", 0
	}
	end, depth := closer(s[0]), 1
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == end:
			if depth--; depth == 0 {
				return s[1:i], i + 1
			}
		case s[i] == s[0]:
			depth++
		}
	}
	return s[1:], len(s)
}

// globLength is the length of <*.txt>, 0 if s is not such a pattern.
func globLength(s string) int {
	end := strings.IndexAny(s, "> \n;")
	if end < 0 || s[end] != '>' || !strings.ContainsAny(s[1:end], "*?/~") {
		return 0
	}
	return end + 1
}

func (l lexis) comment(s string) bool {
	return slices.ContainsFunc(l.comments, func(c string) bool { return strings.HasPrefix(s, c) })
}

func punctLength(s string) int {
	for _, p := range []string{"=>", "==", "!=", ">>", "<<", "::", "->", "&&", "||", "+=", "**", ">=", "<=", "=~"} {
		if strings.HasPrefix(s, p) {
			return 2
		}
	}
	return 1
}

// word adds a name or a number, or the string of which it is the prefix (f"…").
func (l lexis) word(s string, out *[]Token) int {
	n := 0
	for n < len(s) && (abstract.IsNameByte(s[n]) || s[n] >= utf8.RuneSelf) {
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
	kind := TokenName
	if w[0] >= '0' && w[0] <= '9' {
		kind = tokenNumber
	}
	if strings.ContainsAny(w, abstract.Holes) {
		kind = TokenName
	}
	*out = append(*out, Token{Kind: kind, Text: w})
	return n
}

// quoted reads the string at the start of s.
func (l lexis) quoted(s string, raw bool) (Token, int) {
	q := s[:1]
	if l.triple && len(s) >= 3 && s[1] == s[0] && s[2] == s[0] {
		q = s[:3]
	}
	plain := strings.Contains(l.plain, q)
	t := Token{Kind: TokenString, raw: q == "`"}
	var b strings.Builder
	start := 0
	insert := func(code string) {
		t.pieces = append(t.pieces, piece{text: b.String()[start:]}, piece{text: abstract.HoleText, code: code})
		b.WriteString(abstract.HoleText)
		start = b.Len()
	}
	i := len(q)
	for i < len(s) && !strings.HasPrefix(s[i:], q) {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i += 1 + l.unescape(&b, s[i+1:], plain || raw)
		case l.inserts == "{" && (strings.HasPrefix(s[i:], "{{") || strings.HasPrefix(s[i:], "}}")):
			b.WriteByte(s[i])
			i += 2
		case !plain && l.inserts != "" && strings.HasPrefix(s[i:], l.inserts):
			n := insertLength(s[i:])
			insert(s[min(i+len(l.inserts), i+n):max(i+n-1, min(i+len(l.inserts), i+n))])
			i += n
		case !plain && l.sigils && (s[i] == '$' || s[i] == '@' || s[i] == '{' && strings.HasPrefix(s[i:], "{$")) && i+1 < len(s):
			n, code := sigilLength(s[i:])
			if n == 1 {
				b.WriteByte(s[i])
			} else {
				insert(code)
			}
			i += n
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	if len(t.pieces) > 0 {
		t.pieces = append(t.pieces, piece{text: b.String()[start:]})
	}
	for k := range t.pieces {
		t.pieces[k].text = strings.ToValidUTF8(t.pieces[k].text, abstract.HoleText)
	}
	t.Text = strings.ToValidUTF8(b.String(), abstract.HoleText)
	return t, min(i+len(q), len(s))
}

// sigilLength returns the length of $name, ${name}, $name[0], {$name->x} or @name in a
// string, and its code if it is only a name; 1 if it is not a variable.
func sigilLength(s string) (int, string) {
	i := strings.IndexByte(s, s[0]) + 1
	if s[0] == '{' {
		return insertLength(s), abstract.HoleText
	}
	if s[i] == '{' {
		n := insertLength(s[i:])
		return i + n, strings.Trim(s[i:i+n], "{}")
	}
	n := i
	for n < len(s) && abstract.IsNameByte(s[n]) {
		n++
	}
	if n == i {
		return 1, ""
	}
	name := s[i:n]
	for n < len(s) && (s[n] == '[' || s[n] == '{' || strings.HasPrefix(s[n:], "->")) {
		name = abstract.HoleText
		for n < len(s) && s[n] != ']' && s[n] != '}' && s[n] != ' ' && s[n] != '/' {
			n++
		}
		n = min(n+1, len(s))
	}
	if s[0] == '@' {
		name = abstract.HoleText
	}
	return n, name
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
	return shell.Escape(b, s)
}

// insertLength returns the length of ${…} with balanced braces.
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
