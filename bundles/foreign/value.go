package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Value is a value of a JSON document and the line where it begins.
type Value struct {
	Data any // nil, bool, json.Number, string, []Value or Object
	Line int // from 1; 0: the value is not there
}

// Object is the members of a JSON object in their order.
type Object []Member

// Member is one key of an object with its value.
type Member struct {
	Key   string
	Line  int // of the key
	Value Value
}

// Get returns the value of a key; its Line is 0 if there is none.
func (o Object) Get(key string) Value {
	for _, m := range o {
		if m.Key == key {
			return m.Value
		}
	}
	return Value{}
}

// Keys lists the keys in their order.
func (o Object) Keys() []string {
	keys := make([]string, len(o))
	for i, m := range o {
		keys[i] = m.Key
	}
	return keys
}

// There reports whether the value was given, even as null.
func (v Value) There() bool { return v.Line > 0 }

// Text returns the value where it is a string.
func (v Value) Text() (string, bool) {
	s, ok := v.Data.(string)
	return s, ok
}

// Object returns the value where it is an object.
func (v Value) Object() (Object, bool) {
	o, ok := v.Data.(Object)
	return o, ok
}

// List returns the value where it is a list.
func (v Value) List() ([]Value, bool) {
	l, ok := v.Data.([]Value)
	return l, ok
}

// Kind names the kind of the value, for messages.
func (v Value) Kind() string {
	switch v.Data.(type) {
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	case []Value:
		return "a list"
	case Object:
		return "an object"
	}
	if v.There() {
		return "null"
	}
	return "nothing"
}

// JSON returns the original value on one line.
func (v Value) JSON() string {
	switch d := v.Data.(type) {
	case []Value:
		parts := make([]string, len(d))
		for i, item := range d {
			parts[i] = item.JSON()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Object:
		parts := make([]string, len(d))
		for i, m := range d {
			parts[i] = quoteJSON(m.Key) + ": " + m.Value.JSON()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case json.Number:
		return d.String()
	}
	return quoteJSON(v.Data)
}

// quoteJSON writes a string, a bool or null.
func quoteJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxDepth bounds nesting: policies are a few levels deep.
const maxDepth = 100

// Read reads one JSON document. Its errors begin with file:line. A duplicate key is an
// error: readers differ in which of the two counts.
func Read(file string, raw []byte) (Value, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(raw) {
		return Value{}, fmt.Errorf("%s:%d: not UTF-8: save the file as UTF-8", file, lineOf(raw, validPrefix(raw)))
	}
	r := &reader{raw: raw, json: json.NewDecoder(bytes.NewReader(raw)), line: 1}
	r.json.UseNumber()
	v, err := r.value(0)
	if err == nil {
		if _, end := r.json.Token(); end != io.EOF {
			err = errors.New("text after the document")
		}
	}
	if err != nil {
		return Value{}, fmt.Errorf("%s:%d: %w", file, r.place(), err)
	}
	return v, nil
}

func validPrefix(raw []byte) int {
	n := 0
	for n < len(raw) {
		r, size := utf8.DecodeRune(raw[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

func lineOf(raw []byte, offset int) int {
	return 1 + bytes.Count(raw[:min(offset, len(raw))], []byte("\n"))
}

type reader struct {
	raw  []byte
	json *json.Decoder
	at   int // bytes whose line breaks are counted
	line int
}

// place returns the line of an error: that of the first unread token.
func (r *reader) place() int {
	at := int(r.json.InputOffset())
	rest := bytes.TrimLeft(r.raw[at:], " \t\r\n")
	if len(rest) == 0 {
		return r.here()
	}
	return lineOf(r.raw, len(r.raw)-len(rest))
}

// here returns the line at which the last token ends.
func (r *reader) here() int {
	next := int(r.json.InputOffset())
	r.line += bytes.Count(r.raw[r.at:next], []byte("\n"))
	r.at = next
	return r.line
}

func (r *reader) token() (json.Token, error) {
	t, err := r.json.Token()
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, errors.New("the document ends in the middle")
	}
	return t, err
}

func (r *reader) value(depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	t, err := r.token()
	if err != nil {
		return Value{}, err
	}
	v := Value{Data: t, Line: r.here()}
	switch t {
	case json.Delim('{'):
		v.Data, err = r.object(depth)
	case json.Delim('['):
		v.Data, err = r.list(depth)
	}
	return v, err
}

func (r *reader) list(depth int) ([]Value, error) {
	list := []Value{}
	for r.json.More() {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.token()
	return list, err
}

func (r *reader) object(depth int) (Object, error) {
	o := Object{}
	for r.json.More() {
		t, err := r.token()
		if err != nil {
			return nil, err
		}
		m := Member{Key: fmt.Sprint(t), Line: r.here()} // the decoder takes texts only for keys
		if first := o.member(m.Key); first != nil {
			return nil, fmt.Errorf("duplicate key %q, first in line %d: remove one of them", m.Key, first.Line)
		}
		if m.Value, err = r.value(depth + 1); err != nil {
			return nil, err
		}
		o = append(o, m)
	}
	_, err := r.token()
	return o, err
}

func (o Object) member(key string) *Member {
	for i := range o {
		if o[i].Key == key {
			return &o[i]
		}
	}
	return nil
}
