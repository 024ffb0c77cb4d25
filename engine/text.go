package engine

import (
	"unicode"
	"unicode/utf8"
)

// PlainRune reports whether a character takes the same bytes in JSON as
// outside.
func PlainRune(r rune) bool {
	return r >= ' ' && r != '"' && r != '\\' && r != '\u2028' && r != '\u2029' && r <= unicode.MaxRune
}

// JSONLen returns an upper bound for the length of a string in JSON, quotes
// included.
func JSONLen(s string) int {
	n := 2
	for _, r := range s {
		if r == utf8.RuneError || !PlainRune(r) {
			n += 6
		} else {
			n += utf8.RuneLen(r)
		}
	}
	return n
}

// ClipJSON shortens a string to about n bytes in JSON.
func ClipJSON(s string, n int) string {
	size := 2
	for i, r := range s {
		if size += JSONLen(string(r)) - 2; size > n {
			return s[:i] + "…"
		}
	}
	return s
}
