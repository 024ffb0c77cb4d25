package term

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
)

// Printable makes any text safe for a terminal and for line-based files: control
// characters are shown as escapes. Line breaks stay.
func Printable(s string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case r == '\n' || unicode.IsPrint(r) && !blank(r):
			b.WriteRune(r)
		case r == '\t':
			b.WriteString("    ")
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// blank reports whether a letter or mark is invisible although Unicode counts it as printable.
func blank(r rune) bool {
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0:
		return true
	}
	return r >= 0xfe00 && r <= 0xfe0e || r >= 0xe0100 && r <= 0xe01ef // chooses a variant of the letter before
}

// Hidden lists the characters of a string that do not show on a terminal, or that change the order
// in which others show: each once, as U+202E, in the order in which they occur.
func Hidden(s string) []string {
	var list []string
	for _, r := range s {
		name := fmt.Sprintf("U+%04X", r)
		if !strings.ContainsRune("\n\r\t", r) && (!unicode.IsPrint(r) || blank(r)) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// PrintableLine is printable text without line breaks.
func PrintableLine(s string) string {
	return strings.ReplaceAll(Printable(strings.TrimSpace(s)), "\n", " ")
}

// Width returns the number of characters of a string. Wide characters count once.
func Width(s string) int { return utf8.RuneCountInString(s) }

// Pad fills a cell up to a width.
func Pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-Width(s))) }

// Cut shortens a string to a width, with a mark at the cut; 0: any width.
func Cut(s string, width int) string {
	if width <= 0 || Width(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

// Wrap breaks a line at spaces so that it fits a width, 0: any; a word that is
// too long stays whole.
func Wrap(line string, width int) []string {
	if width <= 0 || Width(line) <= width {
		return []string{line}
	}
	var out []string
	row := ""
	for _, word := range strings.SplitAfter(line, " ") {
		if strings.TrimSpace(row) != "" && Width(row)+Width(strings.TrimRight(word, " ")) > width {
			out, row = append(out, strings.TrimRight(row, " ")), ""
		}
		row += word
	}
	return append(out, strings.TrimRight(row, " "))
}

// Room returns the width that is left after a column of a line; 0: any width.
func Room(line, left int) int {
	if line == 0 {
		return 0
	}
	return max(line-left, 20)
}

// Counted writes a count with its noun.
func Counted(n int, one, many string) string { return engine.Counted(n, one, many) }

// Thousands writes a number as 12,345.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Size formats a number of bytes for a table.
func Size(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return strconv.FormatInt(n, 10)
	}
	f, unit := float64(n)/1024, 0
	for f >= 1024 {
		f, unit = f/1024, unit+1
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + units[unit:unit+1]
}

// WrapLines breaks the lines of a string that are wider than a width; continuation lines
// are indented further. 0: any width.
func WrapLines(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		whole := strings.TrimSuffix(line, "\n")
		inner := strings.TrimLeft(whole, " ")
		left := len(whole) - len(inner)
		for i, row := range Wrap(inner, Room(width, left+4)) {
			in := left
			if i > 0 {
				in += 4
			}
			b.WriteString(strings.Repeat(" ", in) + row + "\n")
		}
	}
	return b.String()
}
