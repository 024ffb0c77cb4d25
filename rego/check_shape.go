package rego

import (
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// shape is the static knowledge about a value. nil: nothing.
type shape struct {
	kind     string            // a word of kinds
	fields   map[string]*shape // of an object: its keys
	optional map[string]bool   // of an object: keys that it may not have
	rest     *shape            // of an object: values of other keys; nil with open unset: there are no others
	open     bool              // of an object: other keys are possible
	items    *shape            // of a list or a set
	words    []string          // of a string: the possible values; nil: anything
	data     []string          // the path of a part of the policy's data
	name     string            // what it is of, for messages
	form     *engine.Form      // of a string: the form of every value; nil: none
}

// The kinds of shapes.
const (
	never  = "never" // no value seen yet
	object = "object"
	array  = "array"
	text   = "string"
	number = "number"
	other  = "other"
)

func nothingYet() *shape { return &shape{kind: never} }

// shapes converts a JSON Schema. Each definition is one shape.
type shapes struct {
	defs map[string]any
	made map[string]*shape
}

func shapeOfSchema(schema map[string]any) *shape {
	defs, _ := schema["definitions"].(map[string]any)
	s := shapes{defs, map[string]*shape{}}
	return s.of(schema, "input")
}

func (s shapes) of(node any, name string) *shape {
	schema, _ := node.(map[string]any)
	if ref, ok := schema["$ref"].(string); ok {
		def := ref[len("#/definitions/"):]
		if s.made[def] == nil {
			s.made[def] = &shape{}
			*s.made[def] = *s.of(s.defs[def], name)
			s.made[def].formed("engine." + strings.ToUpper(def[:1]) + def[1:])
		}
		return s.made[def]
	}
	switch schema["type"] {
	case "object":
		return s.object(schema, name)
	case "array":
		return &shape{kind: array, items: s.item(schema["items"], name), name: name}
	case "string":
		words, _ := schema["enum"].([]string)
		return &shape{kind: text, words: words, name: name}
	case "integer", "number":
		return &shape{kind: number, name: name}
	case nil:
		return nil
	}
	return &shape{kind: other, name: name}
}

// formed notes which texts of a type's fields, and of lists in them, have a form.
func (o *shape) formed(typ string) {
	for name, field := range o.fields {
		form, has := engine.Forms[typ+"."+name]
		if has && field.items != nil {
			field = field.items
		}
		if has {
			field.form = &form
		}
	}
}

// item is the shape of a list's items; an object in it is named as Rego would.
func (s shapes) item(node any, name string) *shape {
	if m, _ := node.(map[string]any); m["$ref"] != nil {
		name += "[_]"
	}
	return s.of(node, name)
}

func (s shapes) object(schema map[string]any, name string) *shape {
	o := &shape{kind: object, fields: map[string]*shape{}, optional: map[string]bool{}, name: name}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]string)
	// A definition is named after the first of its fields: one that is always there, such as effects before added.
	for _, key := range slices.Concat(slices.Sorted(slices.Values(required)), slices.Sorted(maps.Keys(properties))) {
		o.fields[key] = s.of(properties[key], key)
		o.optional[key] = !slices.Contains(required, key)
	}
	if more, there := schema["additionalProperties"]; !there || more != false {
		o.open, o.rest = true, s.of(more, name)
	}
	return o
}

// shapeOfData returns the shape of a value of the policy's data: only its keys, since
// another policy may have other values.
func shapeOfData(v any, path []string) *shape {
	switch v := v.(type) {
	case map[string]any:
		o := &shape{kind: object, fields: map[string]*shape{}, data: slices.Clone(path)}
		for key, below := range v {
			o.fields[key] = shapeOfData(below, append(path, key))
		}
		return o
	case []any:
		return &shape{kind: array}
	case string:
		return &shape{kind: text}
	}
	return &shape{kind: other}
}

// either returns the shape of a value that has one of two shapes.
func either(a, b *shape) *shape { return eitherDown(a, b, 8) }

func eitherDown(a, b *shape, depth int) *shape {
	switch {
	case a == b:
		return a
	case a == nil || b == nil || depth == 0:
		return nil
	case a.kind == never:
		return b
	case b.kind == never:
		return a
	case a.kind != b.kind || a.data != nil || b.data != nil:
		return nil
	}
	out := &shape{kind: a.kind, open: a.open || b.open, name: a.name}
	out.items = eitherDown(a.items, b.items, depth-1)
	out.rest = eitherRest(a, b, depth)
	out.words = eitherWords(a.words, b.words)
	if a.kind == object {
		out.fields = map[string]*shape{}
		maps.Copy(out.fields, a.fields)
		for key, f := range b.fields {
			if mine, both := out.fields[key]; both {
				f = eitherDown(mine, f, depth-1)
			}
			out.fields[key] = f
		}
	}
	return out
}

func eitherRest(a, b *shape, depth int) *shape {
	switch {
	case a.open && b.open:
		return eitherDown(a.rest, b.rest, depth-1)
	case a.open:
		return a.rest
	}
	return b.rest
}

func eitherWords(a, b []string) []string {
	if a == nil || b == nil {
		return nil
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// same reports whether two shapes are equal.
func same(a, b *shape) bool { return sameDown(a, b, 9) }

func sameDown(a, b *shape, depth int) bool {
	if a == b || depth == 0 {
		return true
	}
	if a == nil || b == nil || a.kind != b.kind || a.open != b.open || len(a.fields) != len(b.fields) || (a.words == nil) != (b.words == nil) {
		return false
	}
	if !slices.Equal(a.words, b.words) || !sameDown(a.items, b.items, depth-1) || !sameDown(a.rest, b.rest, depth-1) {
		return false
	}
	for key, f := range a.fields {
		g, there := b.fields[key]
		if !there || !sameDown(f, g, depth-1) {
			return false
		}
	}
	return true
}

// each returns the shape of an object's value or of a list's item.
func (s *shape) each() *shape {
	switch {
	case s == nil:
		return nil
	case s.kind != object:
		return s.items
	case s.data != nil:
		return nil // another policy's data there are unknown
	}
	all := nothingYet()
	if s.open {
		all = s.rest
	}
	for _, f := range s.fields {
		all = either(all, f)
	}
	return all
}
