package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// object is a JSON object whose members keep their order and their bytes, so
// that a person's settings are preserved.
type object []member

type member struct {
	rawKey []byte // with quotes and escapes as written
	key    string
	value  json.RawMessage
}

// parseObject reads one level. The text must be valid JSON.
func parseObject(raw json.RawMessage) (object, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("is not an object")
	}
	var o object
	for d.More() {
		start := d.InputOffset()
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: fmt.Sprint(t), rawKey: bytes.TrimLeft(raw[start:d.InputOffset()], ", \t\r\n")}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		o = append(o, m)
	}
	return o, nil
}

func parseList(raw json.RawMessage) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' {
		return nil, errors.New("is not a list")
	}
	return list, json.Unmarshal(raw, &list)
}

func (o object) bytes() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(m.rawKey)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func listBytes(list []json.RawMessage) json.RawMessage {
	return slices.Concat([]byte("["), bytes.Join(rawBytes(list), []byte(",")), []byte("]"))
}

func rawBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, raw := range list {
		out[i] = raw
	}
	return out
}

func (o object) index(key string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.key == key })
}

func (o object) value(key string) json.RawMessage {
	if i := o.index(key); i >= 0 {
		return o[i].value
	}
	return nil
}

// text returns a member that is a string, else "".
func (o object) text(key string) string {
	var s string
	if raw := o.value(key); len(raw) > 0 && json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func (o object) set(key string, value json.RawMessage) object {
	if i := o.index(key); i >= 0 {
		o[i].value = value
		return o
	}
	raw, err := json.Marshal(key)
	if err != nil {
		return o // not reached: a string is always encoded
	}
	return append(o, member{rawKey: raw, key: key, value: value})
}

// at returns a member below others, by a path with dots; nil: there is none.
func (o object) at(path string) json.RawMessage {
	key, rest, deeper := strings.Cut(path, ".")
	raw := o.value(key)
	if !deeper || raw == nil {
		return raw
	}
	inner, err := parseObject(raw)
	if err != nil {
		return nil
	}
	return inner.at(rest)
}

// setAt sets a member below others, which are made where they are missing.
func (o object) setAt(path []string, value json.RawMessage) object {
	if len(path) == 1 {
		return o.set(path[0], value)
	}
	var inner object
	if raw := o.value(path[0]); raw != nil {
		inner, _ = parseObject(raw) // of another type: it is replaced, since the client cannot read it either
	}
	return o.set(path[0], inner.setAt(path[1:], value).bytes())
}

// readSettings reads a settings file: strict JSON, as the client requires. A
// missing file and an empty one are empty settings.
func readSettings(raw []byte) (object, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(raw)) == 0 {
		return object{}, nil
	}
	var any json.RawMessage
	if err := json.Unmarshal(raw, &any); err != nil {
		return nil, fmt.Errorf("settings are not valid JSON%s: %w", position(raw, err), err)
	}
	if _, err := engine.DecodeStrict(raw); err != nil {
		return nil, fmt.Errorf("settings are ambiguous: %w", err)
	}
	o, err := parseObject(bytes.TrimSpace(raw))
	if err != nil {
		return nil, fmt.Errorf("settings: the document %w", err)
	}
	return o, nil
}

// position describes where a syntax error is, counting as editors do.
func position(raw []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return ""
	}
	before := raw // the text ends too early
	if !strings.HasPrefix(syntax.Error(), "unexpected end") {
		before = raw[:max(0, min(int(syntax.Offset)-1, len(raw)))]
	}
	line := bytes.Count(before, []byte("\n")) + 1
	column := len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1
	return fmt.Sprintf(" (line %d, column %d)", line, column)
}

// print writes settings as the client does: two spaces, a final newline.
func (o object) print() ([]byte, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, o.bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("print settings: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// compact is a JSON document without spaces; nil if it is not JSON.
func compact(raw []byte) []byte {
	var out bytes.Buffer
	if len(bytes.TrimSpace(raw)) == 0 || json.Compact(&out, raw) != nil {
		return nil
	}
	return out.Bytes()
}

func encoded(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
