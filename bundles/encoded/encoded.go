// Package encoded encodes Go values as bytes and decodes them, faster than any text format:
// fields with zero values take no time, and strings share the memory of the input.
//
// The bytes do not describe their types: only the type that was written can read them. Unexported
// fields are not written.
package encoded

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Write returns the bytes of a value.
func Write(v any) ([]byte, error) {
	w := &writer{}
	w.value(reflect.ValueOf(v))
	return w.buf, w.err
}

// Read reads a value of a type that Write has written.
func Read[T any](raw string) (v T, err error) {
	defer failed(&err)
	r := &reader{raw: raw}
	r.value(reflect.ValueOf(&v).Elem())
	if r.err == nil && r.raw != "" {
		r.fail("%d bytes are left", len(r.raw))
	}
	return v, r.err
}

// Shape describes a type: bytes that were written for another shape cannot be read.
func Shape[T any]() string {
	var b strings.Builder
	describe(&b, reflect.TypeFor[T](), map[reflect.Type]bool{})
	return b.String()
}

func describe(b *strings.Builder, t reflect.Type, seen map[reflect.Type]bool) {
	b.WriteString(t.String())
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		describe(b, t.Elem(), seen)
	case reflect.Map:
		describe(b, t.Key(), seen)
		describe(b, t.Elem(), seen)
	case reflect.Struct:
		if seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			b.WriteString("\n" + t.Field(i).Name + " ")
			describe(b, t.Field(i).Type, seen)
		}
	}
}

// failed makes an error of reading beyond the end.
func failed(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("encoded: %v", p)
	}
}

// The kinds of values in an interface.
const (
	null = iota
	no
	yes
	whole
	decimal
	text
	list
	object
)

type writer struct {
	buf []byte
	err error // the first type that cannot be encoded
}

func (w *writer) fail(t reflect.Type) {
	if w.err == nil {
		w.err = fmt.Errorf("encoded: %s has no form", t)
	}
}

func (w *writer) number(n int) { w.buf = binary.AppendUvarint(w.buf, uint64(n)) }

func (w *writer) text(s string) {
	w.number(len(s))
	w.buf = append(w.buf, s...)
}

func (w *writer) decimal(f float64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, math.Float64bits(f))
}

func (w *writer) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		w.text(v.String())
	case reflect.Bool:
		w.number(map[bool]int{true: 1}[v.Bool()])
	case reflect.Int, reflect.Int64:
		w.buf = binary.AppendVarint(w.buf, v.Int())
	case reflect.Float64:
		w.decimal(v.Float())
	case reflect.Pointer:
		w.number(map[bool]int{false: 1}[v.IsNil()])
		if !v.IsNil() {
			w.value(v.Elem())
		}
	case reflect.Slice:
		w.slice(v)
	case reflect.Map:
		w.mapping(v)
	case reflect.Struct:
		w.fields(v)
	case reflect.Interface:
		w.any(v.Interface())
	default:
		w.fail(v.Type())
	}
}

// slice writes the length plus one: 0 means that there is no slice.
func (w *writer) slice(v reflect.Value) {
	if v.IsNil() {
		w.number(0)
		return
	}
	w.number(v.Len() + 1)
	for i := range v.Len() {
		w.value(v.Index(i))
	}
}

func (w *writer) mapping(v reflect.Value) {
	if v.IsNil() {
		w.number(0)
		return
	}
	w.number(v.Len() + 1)
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, k := range keys {
		w.value(k)
		w.value(v.MapIndex(k))
	}
}

// fields writes which fields are not zero, and those.
func (w *writer) fields(v reflect.Value) {
	bits := 0
	for _, i := range exported(v.Type()) {
		if !v.Field(i).IsZero() {
			bits |= 1 << i
		}
	}
	w.number(bits)
	for i := range v.NumField() {
		if bits&(1<<i) != 0 {
			w.value(v.Field(i))
		}
	}
}

// exported lists the fields of a type that others can read.
func exported(t reflect.Type) []int {
	var all []int
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			all = append(all, i)
		}
	}
	return all
}

// any writes a value as YAML or JSON has it.
func (w *writer) any(v any) {
	switch v := v.(type) {
	case nil:
		w.number(null)
	case bool:
		w.number(map[bool]int{false: no, true: yes}[v])
	case int:
		w.number(whole)
		w.buf = binary.AppendVarint(w.buf, int64(v))
	case float64:
		w.number(decimal)
		w.decimal(v)
	case string:
		w.number(text)
		w.text(v)
	case []any:
		w.number(list)
		w.value(reflect.ValueOf(v))
	case map[string]any:
		w.number(object)
		w.value(reflect.ValueOf(v))
	default:
		w.fail(reflect.TypeOf(v))
	}
}

type reader struct {
	raw string
	err error // the first error: something that Write never writes
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("encoded: "+format, args...)
	}
}

func (r *reader) number() int {
	if r.raw[0] < 0x80 {
		n := int(r.raw[0])
		r.raw = r.raw[1:]
		return n
	}
	n, size := binary.Uvarint([]byte(r.raw[:min(len(r.raw), binary.MaxVarintLen64)]))
	if size <= 0 {
		r.fail("no number")
	}
	r.take(max(size, 1))
	return int(n)
}

func (r *reader) signed() int64 {
	n := r.number()
	return int64(uint64(n)>>1) ^ -int64(n&1)
}

func (r *reader) take(n int) string {
	part := r.raw[:n]
	r.raw = r.raw[n:]
	return part
}

func (r *reader) text() string { return r.take(r.number()) }

func (r *reader) decimal() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64([]byte(r.take(8))))
}

func (r *reader) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(r.text())
	case reflect.Bool:
		v.SetBool(r.number() == 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(r.signed())
	case reflect.Float64:
		v.SetFloat(r.decimal())
	case reflect.Pointer:
		if r.number() == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			r.value(v.Elem())
		}
	case reflect.Slice:
		r.slice(v)
	case reflect.Map:
		r.mapping(v)
	case reflect.Struct:
		r.fields(v)
	case reflect.Interface:
		if inner := r.any(); inner != nil {
			v.Set(reflect.ValueOf(inner))
		}
	default:
		r.fail("%s has no form", v.Type())
	}
}

// length reads a length, which is no more than what follows.
func (r *reader) length() int {
	n := r.number() - 1
	if n > len(r.raw) {
		r.fail("a list is longer than what follows")
		return 0
	}
	return n
}

func (r *reader) slice(v reflect.Value) {
	n := r.length()
	if n < 0 {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range n {
		r.value(v.Index(i))
	}
}

func (r *reader) mapping(v reflect.Value) {
	n := r.length()
	if n < 0 {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), n))
	for range n {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		r.value(key)
		r.value(value)
		v.SetMapIndex(key, value)
	}
}

func (r *reader) fields(v reflect.Value) {
	bits := r.number()
	for i := 0; bits>>i != 0; i++ {
		if bits&(1<<i) != 0 {
			r.value(v.Field(i))
		}
	}
}

func (r *reader) any() any {
	switch k := r.number(); k {
	case null:
		return nil
	case no, yes:
		return k == yes
	case whole:
		return int(r.signed())
	case decimal:
		return r.decimal()
	case text:
		return r.text()
	case list:
		return r.list()
	case object:
		return r.object()
	default:
		r.fail("unknown kind %d", k)
		return nil
	}
}

func (r *reader) list() []any {
	n := r.length()
	if n < 0 {
		return nil
	}
	all := make([]any, n)
	for i := range all {
		all[i] = r.any()
	}
	return all
}

func (r *reader) object() map[string]any {
	n := r.length()
	if n < 0 {
		return nil
	}
	all := make(map[string]any, n)
	for range n {
		key := r.text()
		all[key] = r.any()
	}
	return all
}
