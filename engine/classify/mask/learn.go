package mask

import (
	"strings"
)

// Learn lets the masker see all texts of the arguments before any leaves.
func Learn(m *Masker, v any) {
	switch v := v.(type) {
	case string:
		m.Learn(v)
		m.learnCoded(v)
	case []string:
		for _, item := range v {
			m.Learn(item)
		}
	case []any:
		if argv, ok := StringList(v); ok {
			m.Learn(QuoteAll(argv)) // an option and its value may be two items
		}
		for _, item := range v {
			Learn(m, item)
		}
	case map[string]any:
		for k, item := range v {
			m.Learn(k)
			if s, ok := item.(string); ok {
				m.Learn(k + "=" + s)
			}
			Learn(m, item)
		}
	}
}

// StringList returns a list whose items are all strings.
func StringList(list []any) ([]string, bool) {
	out := make([]string, 0, len(list))
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, len(out) > 0
}

// QuoteAll writes a list of arguments as one line of shell code.
func QuoteAll(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = QuoteWord(a)
	}
	return strings.Join(quoted, " ")
}

// QuoteWord writes a text as one shell word.
func QuoteWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
