package webpage

import (
	"fmt"
	"strings"
	"unicode"
)

// Run is a part of a text. Marked says what is unusual about its characters; empty: nothing is.
type Run struct{ Text, Marked string }

// Runs divides a text into parts, so that a page can mark the characters that a reader would not see, and letters that look like
// others: those of another alphabet in a word with Latin letters, and variants of Latin letters.
func Runs(text string) []Run {
	var list []Run
	put := func(text, marked string) {
		if n := len(list); n > 0 && list[n-1].Marked == "" && marked == "" {
			list[n-1].Text += text
			return
		}
		list = append(list, Run{text, marked})
	}
	latin := false // in the current word
	all := []rune(text)
	for i, r := range all {
		if i == 0 || !wordRune(all[i-1]) {
			latin = hasLatin(all[i:])
		}
		switch {
		case Visible(string(r)) != string(r) || blank(r):
			put(escape(r), "invisible, or changes the order of others: "+name(r))
		case latin && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r), variant(r):
			put(string(r), "looks like another letter: "+name(r))
		default:
			put(string(r), "")
		}
	}
	return list
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// hasLatin reports whether the word at the beginning has a letter of the Latin alphabet.
func hasLatin(rest []rune) bool {
	for _, r := range rest {
		switch {
		case !wordRune(r):
			return false
		case unicode.Is(unicode.Latin, r) && !variant(r):
			return true
		}
	}
	return false
}

// variant reports whether a letter is a form of a Latin letter for wide or mathematical text.
func variant(r rune) bool {
	return r >= 0xff21 && r <= 0xff5a && unicode.IsLetter(r) || r >= 0x1d400 && r <= 0x1d7ff
}

// blank reports whether a character is printed as nothing.
func blank(r rune) bool {
	return strings.ContainsRune("\u115f\u1160\u3164\uffa0\u2800", r) || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}

func escape(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func name(r rune) string { return fmt.Sprintf("U+%04X", r) }
