package settings

import "bytes"

// plainJSON returns a string without the comments and the commas before a closing bracket that some agents
// allow in their settings. Texts in quotes stay as they are.
func plainJSON(raw []byte) []byte {
	var out []byte
	for len(raw) > 0 {
		n, keep := token(raw)
		switch {
		case keep:
			if raw[0] == '}' || raw[0] == ']' {
				out = withoutComma(out)
			}
			out = append(out, raw[:n]...)
		default:
			out = append(out, ' ')
		}
		raw = raw[n:]
	}
	return out
}

// token returns the length of what a string begins with, and whether that is JSON: a string in quotes, a
// comment, or any other byte.
func token(raw []byte) (length int, keep bool) {
	switch {
	case raw[0] == '"':
		return quoted(raw), true
	case bytes.HasPrefix(raw, []byte("//")):
		return until(raw, "\n", 0), false
	case bytes.HasPrefix(raw, []byte("/*")):
		return until(raw, "*/", 2), false
	}
	return 1, true
}

// quoted returns the length of the text in quotes at the beginning.
func quoted(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// until returns where an end is, and its length if it belongs to what is before it.
func until(raw []byte, end string, length int) int {
	i := bytes.Index(raw, []byte(end))
	if i < 0 {
		return len(raw)
	}
	return i + length
}

// withoutComma removes a comma at the end, and the space after it.
func withoutComma(out []byte) []byte {
	if text := bytes.TrimRight(out, " \t\r\n"); bytes.HasSuffix(text, []byte(",")) {
		return text[:len(text)-1]
	}
	return out
}
