package rego

import (
	"encoding/json"
	"reflect"
	"unicode/utf8"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/open-policy-agent/opa/v1/ast"
)

// encoder turns the engine's types into OPA's values directly: through JSON it
// would take four times as long. The JSON tags are the field names, as in
// every other form of the same document.
type encoder struct {
	plan map[reflect.Type][]field
}

type field struct {
	index int
	key   *ast.Term
	omit  bool // omitempty
}

// newEncoder computes the plan for all types in Input, so that the encoder is only
// read afterwards.
func newEncoder() *encoder {
	e := &encoder{plan: map[reflect.Type][]field{}}
	engine.EachStruct(reflect.TypeFor[engine.Input](), e.prepare)
	return e
}

func (e *encoder) prepare(t reflect.Type, fields []engine.JSONField) {
	plan := make([]field, len(fields))
	for i, f := range fields {
		plan[i] = field{f.Index, ast.StringTerm(f.Name), f.Omit}
	}
	e.plan[t] = plan
}

// input returns the document that policy sees: Input, the ids of the findings,
// and what was measured of each.
func (e *encoder) input(in *engine.Input, findings []engine.Finding) ast.Value {
	doc := e.value(reflect.ValueOf(in).Elem()).Value.(ast.Object)
	ids := make([]*ast.Term, 0, len(findings))
	byID := ast.NewObject()
	for _, f := range findings {
		ids = append(ids, ast.StringTerm(f.ID))
		detail := ast.NewObject()
		if f.Level != "" {
			detail.Insert(ast.InternedTerm("level"), ast.StringTerm(f.Level))
		}
		if f.Level != "" || f.Measure != 0 {
			detail.Insert(ast.InternedTerm("measure"), ast.FloatNumberTerm(f.Measure))
		}
		if f.Confidence != 0 {
			detail.Insert(ast.InternedTerm("confidence"), ast.FloatNumberTerm(f.Confidence))
		}
		if f.Details != "" {
			detail.Insert(ast.InternedTerm("details"), ast.StringTerm(valid(f.Details)))
		}
		if f.Error != "" {
			detail.Insert(ast.InternedTerm("failed"), ast.InternedTerm(true))
		}
		byID.Insert(ast.StringTerm(f.ID), ast.NewTerm(detail))
	}
	doc.Insert(ast.InternedTerm("findings"), ast.ArrayTerm(ids...))
	doc.Insert(ast.InternedTerm("finding"), ast.NewTerm(byID))
	return doc
}

func (e *encoder) value(v reflect.Value) *ast.Term {
	switch v.Kind() {
	case reflect.String:
		return ast.StringTerm(valid(v.String()))
	case reflect.Bool:
		return ast.InternedTerm(v.Bool())
	case reflect.Int, reflect.Int64:
		return ast.InternedTerm(int(v.Int()))
	case reflect.Float64:
		return ast.FloatNumberTerm(v.Float())
	case reflect.Slice:
		return e.array(v)
	case reflect.Map:
		return e.mapping(v)
	case reflect.Struct:
		return e.object(v)
	case reflect.Pointer, reflect.Interface:
		return e.indirect(v)
	}
	return ast.NullTerm()
}

func (e *encoder) indirect(v reflect.Value) *ast.Term {
	if v.IsNil() {
		return ast.NullTerm()
	}
	if n, ok := v.Interface().(json.Number); ok {
		return ast.NumberTerm(n)
	}
	return e.value(v.Elem())
}

func (e *encoder) array(v reflect.Value) *ast.Term {
	terms := make([]*ast.Term, v.Len())
	for i := range terms {
		terms[i] = e.value(v.Index(i))
	}
	return ast.ArrayTerm(terms...)
}

func (e *encoder) mapping(v reflect.Value) *ast.Term {
	o := ast.NewObject()
	for it := v.MapRange(); it.Next(); {
		o.Insert(ast.StringTerm(valid(it.Key().String())), e.value(it.Value()))
	}
	return ast.NewTerm(o)
}

// valid returns a string as JSON would have it, so that policy sees the same in a
// live call as in a replay of its record.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func (e *encoder) object(v reflect.Value) *ast.Term {
	fields := e.plan[v.Type()]
	pairs := make([][2]*ast.Term, 0, len(fields))
	for _, f := range fields {
		x := v.Field(f.index)
		if f.omit && isEmpty(x) {
			continue
		}
		pairs = append(pairs, [2]*ast.Term{f.key, e.value(x)})
	}
	return ast.ObjectTerm(pairs...)
}

// isEmpty is encoding/json's idea of empty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}
