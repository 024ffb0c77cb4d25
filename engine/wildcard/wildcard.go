// Package wildcard matches names and paths against patterns. A * in a pattern
// stands for any number of characters, a ? for one, [a-z] for one of a set, [!a-z]
// and [^a-z] for one that is not in it; \x is x itself, in a set too.
//
// It is the only matcher for the patterns of shells, of .gitignore files, of a
// policy's conditions and of command lines. Well-formed patterns match as with
// path.Match, except that ! negates a set, too; a malformed pattern matches
// itself, as in a shell. Matching takes at most time proportional to the
// product of the lengths.
//
// Out of scope: what is on a disk, names that start with a dot, case, and
// what one of the languages allows in addition (the lines of a .gitignore file,
// say).
package wildcard

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Match reports whether a pattern matches the whole of a path. Nothing but a slash
// matches a slash.
func Match(pattern, path string) bool { return match(pattern, path, true) }

// Text reports whether a pattern matches the whole of a string, as in a shell's
// case and ${x#pattern}: a slash is an ordinary character.
func Text(pattern, text string) bool { return match(pattern, text, false) }

// Path reports whether a pattern matches the whole of a path, both split at
// slashes. ** as an element stands for any number of elements, or none.
func Path(pattern, path []string) bool {
	i, j := 0, 0
	star, mark := -1, 0 // after the latest **, and the end of its match
	for j < len(path) {
		switch {
		case i < len(pattern) && pattern[i] == "**":
			i++
			star, mark = i, j
		case i < len(pattern) && Text(pattern[i], path[j]):
			i, j = i+1, j+1
		case star < 0:
			return false
		default:
			mark++
			i, j = star, mark
		}
	}
	for i < len(pattern) && pattern[i] == "**" {
		i++
	}
	return i == len(pattern)
}

// Check returns an error for a malformed pattern, for languages in which that
// is a mistake.
func Check(pattern string) error {
	_, err := path.Match(pattern, "")
	return err
}

// match backtracks to the latest * only: an earlier one cannot help, since a later one matches
// all that it could leave.
func match(p, s string, path bool) bool {
	i, j := 0, 0
	star, mark := -1, 0 // after the latest *, and the end of its match
	unclosed := len(p)  // from here on, [ is an ordinary character: it is not closed
	for j < len(s) {
		if i < len(p) && p[i] == '*' {
			i++
			star, mark = i, j
			continue
		}
		if i < len(p) {
			n, width, ok := one(p[i:], s[j:], i < unclosed)
			if n == 0 {
				unclosed = i
				continue
			}
			if ok && !(path && s[j] == '/' && p[i] != '/' && p[i] != '\\') {
				i, j = i+n, j+width
				continue
			}
		}
		if star < 0 || path && s[mark] == '/' {
			return false
		}
		_, width := utf8.DecodeRuneInString(s[mark:])
		mark += width
		i, j = star, mark
	}
	return strings.Trim(p[i:], "*") == ""
}

// one matches the first character of s against the start of p, which is n long;
// 0: a set that is not closed.
func one(p, s string, sets bool) (n, width int, ok bool) {
	r, width := utf8.DecodeRuneInString(s)
	switch {
	case p[0] == '?':
		return 1, width, true
	case p[0] == '[' && sets:
		in := false
		n, negated := set(p, func(lo, hi rune) { in = in || lo <= r && r <= hi })
		return n, width, in != negated
	case p[0] == '\\' && len(p) > 1:
		return 2, 1, p[1] == s[0]
	}
	return 1, 1, p[0] == s[0]
}

// set reads the set at the beginning of a pattern, range by range, and returns its
// length; 0: it is not closed.
func set(p string, each func(lo, hi rune)) (n int, negated bool) {
	n = 1
	if n < len(p) && (p[n] == '!' || p[n] == '^') {
		negated = true
		n++
	}
	for first := n; n < len(p) && (p[n] != ']' || n == first); {
		lo, width := character(p[n:])
		n += width
		hi := lo
		if n+1 < len(p) && p[n] == '-' && p[n+1] != ']' {
			hi, width = character(p[n+1:])
			n += 1 + width
		}
		each(lo, hi)
	}
	if n >= len(p) {
		return 0, false
	}
	return n + 1, negated
}

// character returns the first character of a part of a set, escaped with a
// backslash or not.
func character(p string) (r rune, width int) {
	if p[0] == '\\' && len(p) > 1 {
		r, width = utf8.DecodeRuneInString(p[1:])
		return r, width + 1
	}
	return utf8.DecodeRuneInString(p)
}

// Regexp returns a regular expression (RE2) for what one element of a pattern
// matches, without anchors.
func Regexp(element string) string {
	var b strings.Builder
	for p := element; p != ""; {
		n := 1
		switch {
		case p[0] == '*':
			b.WriteString("[^/]*")
		case p[0] == '?':
			b.WriteString("[^/]")
		case p[0] == '[':
			var text string
			if text, n = setRegexp(p); n == 0 {
				text, n = `\[`, 1
			}
			b.WriteString(text)
		case p[0] == '\\' && len(p) > 1:
			n = 2
			b.WriteString(regexp.QuoteMeta(p[1:2]))
		default:
			b.WriteString(regexp.QuoteMeta(p[:1]))
		}
		p = p[n:]
	}
	return b.String()
}

func setRegexp(p string) (string, int) {
	var ranges strings.Builder
	n, negated := set(p, func(lo, hi rune) {
		if lo > hi {
			return // matches nothing
		}
		ranges.WriteString(member(lo))
		if lo != hi {
			ranges.WriteString("-" + member(hi))
		}
	})
	switch {
	case negated:
		return "[^/" + ranges.String() + "]", n
	case ranges.Len() == 0:
		return `[^\x00-\x{10FFFF}]`, n
	}
	return "[" + ranges.String() + "]", n
}

// member writes a character of a set.
func member(r rune) string {
	if strings.ContainsRune(`\[]^-`, r) {
		return `\` + string(r)
	}
	return string(r)
}
