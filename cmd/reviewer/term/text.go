package term

import (
	"strings"
	"time"
)

// Clock writes Unix milliseconds in local time.
func Clock(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04:05") }

// After puts a sign before a string, and returns nothing for an empty string.
func After(sign, text string) string {
	if text == "" {
		return ""
	}
	return sign + text
}

// OrNone turns a nil list into an empty one, for JSON.
func OrNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// OneLine makes any text safe to print in a table: no line breaks, no control
// characters, at most n characters.
func OneLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return '?'
		}
		return r
	}, s)
	return Cut(s, n)
}
