package impact

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visibleJSON rewrites JSON as encoding/json writes it without escaping HTML:
// a character in a string that cannot be printed becomes the text of its escape.
// Line breaks and tabs stay.
func visibleJSON(text string) []byte {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\\':
			size = 2 // of JSON's own escapes
			b.WriteString(visibleEscape(text[i : i+size]))
		case r == '\n' || unicode.IsPrint(r):
			b.WriteString(text[i : i+size])
		default:
			b.WriteString(`\` + escapeOf(r))
		}
		i += size
	}
	return []byte(b.String())
}

// visibleEscape keeps the escapes of visible characters, and turns the others into
// text.
func visibleEscape(escape string) string {
	if strings.Contains(`nt"\/`, escape[1:]) {
		return escape
	}
	return `\` + escape
}

func escapeOf(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
