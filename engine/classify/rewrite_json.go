package classify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// field is one member of a JSON object, as written in the text.
type field struct {
	name  string
	value json.RawMessage
	end   int // offset after the value
}

// membersOf returns the members of the object in raw, which was decoded before: its keys are
// distinct.
func membersOf(raw json.RawMessage) ([]field, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("the tool's input is not an object")
	}
	var list []field
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("read the tool's input: %w", err)
		}
		f := field{name: fmt.Sprint(key)}
		if err := d.Decode(&f.value); err != nil {
			return nil, fmt.Errorf("read the tool's input: %w", err)
		}
		f.end = int(d.InputOffset())
		list = append(list, f)
	}
	return list, nil
}

// replace returns the object in raw with another value of the member.
func (f *field) replace(raw, value json.RawMessage) json.RawMessage {
	return slices.Concat(raw[:f.end-len(f.value)], value, raw[f.end:])
}

func findField(raw json.RawMessage, name string) (*field, error) {
	list, err := membersOf(raw)
	if i := slices.IndexFunc(list, func(f field) bool { return f.name == name }); err == nil && i >= 0 {
		return &list[i], nil
	}
	return nil, err
}

// setField replaces the value of a member, or adds the member as the last one. All other bytes
// stay the same: numbers that no Go type can represent, the order, spaces.
func setField(raw json.RawMessage, name string, value any) (json.RawMessage, error) {
	list, err := membersOf(raw)
	if err != nil {
		return nil, err
	}
	text, err := scalarJSON(name, value)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		if f.name != name {
			continue
		}
		if was, is := jsonKind(f.value), jsonKind(text); was != is {
			return nil, fmt.Errorf("the field %s contains %s, not %s", name, was, is)
		}
		return f.replace(raw, text), nil
	}
	key, err := plainJSON(name)
	if err != nil {
		return nil, err
	}
	member := slices.Concat(key, []byte(":"), text)
	if len(list) == 0 {
		at := bytes.IndexByte(raw, '{') + 1
		return slices.Concat(raw[:at], member, raw[at:]), nil
	}
	at := list[len(list)-1].end
	return slices.Concat(raw[:at], []byte(","), member, raw[at:]), nil
}

// scalarJSON encodes a value that a field may be set to.
func scalarJSON(name string, value any) (json.RawMessage, error) {
	if name == "" {
		return nil, errors.New("the field is missing")
	}
	text, err := plainJSON(value)
	if err != nil {
		return nil, fmt.Errorf("the value for the field %s: %w", name, err)
	}
	switch kind := jsonKind(text); kind {
	case "a text", "a number", "a boolean":
		return text, nil
	default:
		return nil, fmt.Errorf("the field %s cannot be set to %s; expected a string, a number or a boolean", name, kind)
	}
}

// plainJSON encodes a value without escaping <, > and &.
func plainJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

func jsonKind(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "a text"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
