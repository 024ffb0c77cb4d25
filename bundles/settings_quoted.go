package bundles

import (
	"fmt"
	"strconv"
	"strings"
)

// booleans are words for booleans that YAML reads as strings, some of them only in quotes.
var booleans = map[string]string{"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}

// unquoted says how to write a boolean or a number for which there is a string; empty: it is another string.
func unquoted(message string, v any) string {
	text, _ := v.(string)
	word := ""
	switch wanted, _, _ := strings.Cut(strings.TrimPrefix(message, "expected "), ","); wanted {
	case "boolean":
		word = booleans[strings.ToLower(text)]
	case "number", "integer":
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			word = text
		}
	}
	if word == "" {
		return ""
	}
	return fmt.Sprintf(" %q; write %s without quotes", text, word)
}
