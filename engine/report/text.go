package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Printable makes any text safe for a terminal and for files that are read line
// by line: what would act on either is shown as an escape. Line breaks stay.
func Printable(s string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\t':
			b.WriteString("    ")
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// OneLine is printable text without line breaks.
func OneLine(s string) string {
	return strings.ReplaceAll(Printable(strings.TrimSpace(s)), "\n", " ")
}

// lines splits text into printable lines, without empty ones at its end.
func lines(s string) []string {
	return strings.Split(strings.TrimRight(Printable(s), "\n "), "\n")
}

// ranges writes line numbers in order as 3-5, 9.
func ranges(list []int) string {
	var parts []string
	for _, s := range spans(list) {
		parts = append(parts, s.String())
	}
	return strings.Join(parts, ", ")
}

// span is lines that follow each other.
type span struct{ first, last int }

func (s span) String() string {
	if s.last > s.first {
		return fmt.Sprintf("%d-%d", s.first, s.last)
	}
	return strconv.Itoa(s.first)
}

func spans(list []int) []span {
	var all []span
	for _, n := range list {
		if last := len(all) - 1; last >= 0 && all[last].last >= n-1 {
			all[last].last = n
			continue
		}
		all = append(all, span{n, n})
	}
	return all
}

// percent is cut to a tenth, not rounded: what is not all never shows as 100.0.
func percent(covered, total int) string {
	if total == 0 {
		return "–"
	}
	tenths := 1000 * covered / total
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}

// short writes a duration as people say it.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "under 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func width(s string) int { return utf8.RuneCountInString(s) }

// pad fills a cell up to a width in characters.
func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-width(s))) }

// Wrap breaks a line at spaces so that it fits a width in characters, 0: any; a
// word that is too long stays whole.
func Wrap(line string, to int) []string {
	if to <= 0 || width(line) <= to {
		return []string{line}
	}
	var out []string
	row := ""
	for _, word := range strings.SplitAfter(line, " ") {
		if strings.TrimSpace(row) != "" && width(row)+width(strings.TrimRight(word, " ")) > to {
			out, row = append(out, strings.TrimRight(row, " ")), ""
		}
		row += word
	}
	return append(out, strings.TrimRight(row, " "))
}
