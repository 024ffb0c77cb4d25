package engine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"
)

// encoder writes values of known types in canonical form, without CanonicalOf's
// round trip through JSON text, which would cost more than a decision. It is
// read-only once built.
type encoder struct {
	plan map[reflect.Type][]encodedField
}

type encodedField struct {
	index int
	name  string
	key   string // as written, with quotes and colon
	omit  bool
}

// newEncoder returns an encoder for a type and everything that it contains.
func newEncoder(t reflect.Type) *encoder {
	e := &encoder{plan: map[reflect.Type][]encodedField{}}
	EachStruct(t, e.prepare)
	EachStruct(reflect.TypeFor[ContentFacts](), e.prepare) // is in arguments, whose type is any
	return e
}

func (e *encoder) prepare(t reflect.Type, fields []JSONField) {
	plan := make([]encodedField, len(fields))
	for i, f := range fields {
		plan[i] = encodedField{f.Index, f.Name, string(appendString(nil, f.Name)) + ":", f.Omit}
	}
	slices.SortFunc(plan, func(a, b encodedField) int { return compareUTF16(a.name, b.name) })
	e.plan[t] = plan
}

// inputEncoder is built when the first input is digested.
var inputEncoder = sync.OnceValue(func() *encoder { return newEncoder(reflect.TypeFor[Input]()) })

// Digests returns sha.input and sha.state of an input: the second covers what
// policy saw of the session and its history, so that a replay can distinguish a
// wrong fold from wrong facts.
func (in *Input) Digests() (input, state string, err error) { return inputEncoder().digests(in) }

// usualInput is more than most inputs take, in bytes.
const usualInput = 8 << 10

func (e *encoder) digests(in *Input) (input, state string, err error) {
	v := reflect.ValueOf(in).Elem()
	whole := make([]byte, 0, usualInput)
	parts := map[string][]byte{}
	for _, f := range e.plan[v.Type()] {
		if f.omit && isEmpty(v.Field(f.index)) {
			continue
		}
		if len(whole) == 0 {
			whole = append(whole, '{')
		} else {
			whole = append(whole, ',')
		}
		whole = append(whole, f.key...)
		from := len(whole)
		if whole, err = e.value(whole, v.Field(f.index)); err != nil {
			return "", "", fmt.Errorf("%s: %w", f.name, err)
		}
		parts[f.name] = whole[from:len(whole):len(whole)]
	}
	seen := fmt.Appendf(nil, `{"history":%s,"session":%s}`, parts["history"], parts["session"])
	return HexSum(append(whole, '}')), HexSum(seen), nil
}

func (e *encoder) value(b []byte, v reflect.Value) ([]byte, error) {
	switch v.Kind() {
	case reflect.String:
		return e.text(b, v)
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	case reflect.Int, reflect.Int64:
		if i := v.Int(); i > -1<<53 && i < 1<<53 {
			return strconv.AppendInt(b, i, 10), nil
		}
		return appendNumber(b, json.Number(strconv.FormatInt(v.Int(), 10)))
	case reflect.Float64:
		return appendNumber(b, json.Number(strconv.FormatFloat(v.Float(), 'g', -1, 64)))
	case reflect.Slice:
		return e.list(b, v)
	case reflect.Map:
		return e.mapping(b, v)
	case reflect.Struct:
		return e.object(b, v)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return e.value(b, v.Elem())
	}
	return nil, fmt.Errorf("a value of type %s has no canonical form", v.Kind())
}

func (e *encoder) text(b []byte, v reflect.Value) ([]byte, error) {
	s := v.String()
	if v.Type() == reflect.TypeFor[json.Number]() {
		return appendNumber(b, json.Number(s))
	}
	if utf8.ValidString(s) {
		return appendString(b, s), nil
	}
	c, err := CanonicalOf(s) // rare: JSON's replacement for invalid text
	return append(b, c...), err
}

func (e *encoder) list(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	b = append(b, '[')
	var err error
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = e.value(b, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func (e *encoder) mapping(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	type member struct{ key, value reflect.Value }
	members := make([]member, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		members = append(members, member{it.Key(), it.Value()})
	}
	slices.SortFunc(members, func(a, b member) int { return compareUTF16(a.key.String(), b.key.String()) })
	b = append(b, '{')
	var err error
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = e.text(b, m.key); err != nil {
			return nil, err
		}
		if b, err = e.value(append(b, ':'), m.value); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func (e *encoder) object(b []byte, v reflect.Value) ([]byte, error) {
	fields, known := e.plan[v.Type()]
	if !known {
		c, err := CanonicalOf(v.Interface())
		return append(b, c...), err
	}
	b = append(b, '{')
	first := true
	var err error
	for _, f := range fields {
		x := v.Field(f.index)
		if f.omit && isEmpty(x) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		if b, err = e.value(append(b, f.key...), x); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// isEmpty reports whether omitempty omits a value, as encoding/json defines it.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
