package engine

import (
	"fmt"
	"time"
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

// Moment reads the text of an expires_at, which is RFC 3339 or a date (its midnight UTC), and returns Unix milliseconds.
func Moment(text string) (int64, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a date; expected one such as 2027-01-31, or 2027-01-31T18:00:00Z", text)
	}
	return t.UnixMilli(), nil
}
