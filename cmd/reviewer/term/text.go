package term

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Clock writes Unix milliseconds in local time.
func Clock(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04:05") }

// After puts a text behind a sign, and nothing where there is no text.
func After(sign, text string) string {
	if text == "" {
		return ""
	}
	return sign + text
}

// OrNone makes an empty list of none, as JSON has it.
func OrNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// Counted writes a number and what it counts.
func Counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// OneLine makes any text safe to print in a table: no line breaks, no control
// characters that a terminal would act on, at most n characters.
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
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Pad fills a cell up to a width in characters.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
