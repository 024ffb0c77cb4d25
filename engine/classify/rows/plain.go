package rows

import (
	"slices"
	"strings"
)

// plain reads some keys of a block whose values are plain texts, or lists with one plain
// text per line. Nearly all rows have this form, and reading them this way is many times
// faster than parsing YAML. If the block contains anything else, ok is false and the YAML
// parser reads it.
func plain(text string, keys ...string) (values plainValues, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	if !strings.HasSuffix(strings.TrimRight(first, "\r"), ":") || strings.ContainsAny(first, "\"'#?&*!{[") ||
		strings.IndexByte(rest, '\t') >= 0 {
		return plainValues{}, false
	}
	r := plainReader{values: plainValues{keys: keys, lists: make([][]string, len(keys))}, at: -1}
	for len(rest) > 0 {
		end := strings.IndexByte(rest, '\n')
		line := rest
		if end >= 0 {
			line, rest = rest[:end], rest[end+1:]
		} else {
			rest = ""
		}
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if !r.line(line) {
			return plainValues{}, false
		}
	}
	return r.values, !r.flow
}

// plainValues are the values of the requested keys.
type plainValues struct {
	keys  []string
	lists [][]string
}

// list returns the items of a key's list.
func (v plainValues) list(key string) []string { return v.lists[slices.Index(v.keys, key)] }

// text returns the text of a key.
func (v plainValues) text(key string) string { return strings.Join(v.list(key), "") }

// plainReader reads the lines of a block.
type plainReader struct {
	values plainValues
	at     int // index of the key in the last line with one; below 0: another key
	inKey  bool
	seen   string // the names of the keys so far, each followed by a space
	list   bool   // the value of the key is a list
	flow   bool   // it is one in brackets, which are still open
	open   bool   // its last item may continue on the next line
	closed bool   // the last line is followed by an empty one
}

func (r *plainReader) line(line string) bool {
	indent := 0
	for indent < len(line) && line[indent] == ' ' {
		indent++
	}
	body := line[indent:]
	switch {
	case body == "":
		r.closed = true
		return true
	case body[0] == '#':
		return true
	case indent == 2 && !r.flow:
		return r.begin(body)
	case indent < 4 || !r.inKey:
		return false
	case r.flow:
		return !r.closed && r.items(body)
	case r.at < 0:
		_, ok := plainText(memberOf(body))
		return ok
	}
	return r.more(body, indent)
}

// begin reads a line with a key.
func (r *plainReader) begin(body string) bool {
	colon := strings.IndexByte(body, ':')
	if colon < 0 || colon+1 < len(body) && body[colon+1] != ' ' {
		return false
	}
	key := body[:colon]
	if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") != "" || strings.Contains(r.seen, key+" ") {
		return false
	}
	r.seen += key + " "
	r.at, r.inKey, r.list, r.closed = slices.Index(r.values.keys, key), true, false, false
	value := strings.TrimSpace(body[colon+1:])
	if value == "" {
		return true
	}
	if value[0] == '[' && r.at >= 0 {
		r.list, r.flow, r.open = true, true, false
		return r.items(value[1:])
	}
	text, ok := plainText(value)
	if ok && r.at >= 0 {
		r.values.lists[r.at] = []string{text}
	}
	return ok
}

// more reads a line that continues a value.
func (r *plainReader) more(body string, indent int) bool {
	item, isItem := strings.CutPrefix(body, "- ")
	have := r.values.lists[r.at]
	trimmed := strings.TrimSpace(item)
	text, ok := plainText(trimmed)
	switch {
	case !ok || trimmed == "":
		return false
	case isItem && indent == 4 && (r.list || len(have) == 0):
		r.list = true
		r.values.lists[r.at] = append(have, text)
		return true
	case isItem || r.list || r.closed || len(have) != 1 || text != trimmed:
		return false
	}
	have[0] += " " + text
	return true
}

// items reads a line of a list in brackets.
func (r *plainReader) items(body string) bool {
	body = strings.TrimRight(body, " ")
	if rest, ok := strings.CutSuffix(body, "]"); ok {
		body, r.flow = rest, false
	}
	for i, item := range strings.Split(body, ",") {
		item = strings.TrimSpace(item)
		list := r.values.lists[r.at]
		text, ok := plainText(item)
		switch {
		case item == "" && i == strings.Count(body, ","):
			r.open = false
			return true
		case item == "" || !ok || strings.ContainsAny(item, "[]{}") || item[0] == '\'':
			return false
		case i == 0 && r.open && text == item:
			list[len(list)-1] += " " + text
		case i == 0 && r.open:
			return false
		default:
			r.values.lists[r.at] = append(list, text)
		}
		r.open = text == item
	}
	return true
}

// memberOf returns the value in a line of a list or a mapping.
func memberOf(body string) string {
	for {
		rest, ok := strings.CutPrefix(body, "- ")
		if !ok {
			break
		}
		body = strings.TrimLeft(rest, " ")
	}
	if key, value, found := strings.Cut(body, ": "); found && !strings.ContainsAny(key, "\"'{[") {
		body = strings.TrimSpace(value)
	}
	return strings.TrimSuffix(body, ":")
}

// plainText returns the text of a scalar that ends on its line and contains nothing with a
// special meaning in YAML.
func plainText(s string) (string, bool) {
	if s == "" {
		return "", true
	}
	if q := s[0]; q == '"' || q == '\'' {
		inner := s[1:]
		end := strings.IndexByte(inner, q)
		return strings.TrimSuffix(inner, string(q)), end >= 0 && end == len(inner)-1 && end > 0 && !strings.Contains(inner, "\\")
	}
	letter := func(c byte) bool { return c >= 'a' && c <= 'z' && c != 'n' || c >= 'A' && c <= 'Z' && c != 'N' }
	if letter(s[0]) && strings.IndexByte(s, ' ') < 0 && s[len(s)-1] != ':' {
		return s, true
	}
	switch s {
	case "null", "Null", "NULL", "~", "-", "?":
		return "", false
	}
	strange := strings.IndexByte("[]{},&*!|>%@`#", s[0]) >= 0 || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "? ") ||
		strings.HasPrefix(s, ": ")
	return s, !strange && !strings.Contains(s, ": ") && !strings.Contains(s, " #") && !strings.HasSuffix(s, ":")
}
