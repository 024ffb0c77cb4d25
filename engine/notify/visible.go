package notify

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns up to a number of characters of a string, in which those that a person
// cannot see, or that reorder others on a screen, are escaped (\u202e). The notes describe
// what was changed.
func visible(text string, most int) (shown string, notes []string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	marked, kept, taken, reversed := 0, 0, 0, false
	for _, r := range text {
		sign := string(r)
		if hidden(r) {
			sign = strings.Trim(strconv.QuoteRuneToASCII(r), "'")
			marked++
		}
		if kept += utf8.RuneCountInString(sign); kept > most {
			b.WriteString("…")
			notes = append(notes, fmt.Sprintf("the first characters: %d of %d", taken, utf8.RuneCountInString(text)))
			break
		}
		taken++
		reversed = reversed || rightToLeft(r)
		b.WriteString(sign)
	}
	if marked > 0 {
		notes = append(notes, `invisible characters are escaped (\u…)`)
	}
	if reversed {
		notes = append(notes, "it has right-to-left letters: a screen may show its parts in another order")
	}
	return b.String(), notes
}

// hidden reports whether a person cannot see a character, or could take it for another: controls,
// zero-width characters, directions, blanks that are not a space, and fillers.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', ' ':
		return false
	case '\u2800': // a blank pattern of braille
		return true
	}
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func rightToLeft(r rune) bool {
	return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Samaritan, unicode.Mandaic,
		unicode.Adlam, unicode.Hanifi_Rohingya)
}
