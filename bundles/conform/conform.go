// Package conform validates a document against a JSON schema, with the keywords that the
// schema of settings uses. It reports every difference, in the wording of the library
// github.com/santhosh-tekuri/jsonschema, against which its tests compare it. The library
// itself compiles its metaschemas when a program starts, which takes a hook longer than all
// other packages.
//
// Out of scope: any other keyword (Unknown reports them), and what the words mean to a person.
package conform

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Problem is a difference between a document and its schema.
type Problem struct {
	At      []string // keys and indexes that lead to the value
	Keyword string   // of the schema, such as enum
	Message string
}

// Check returns all differences between a document and a schema, in the order of keys. Both are
// values as encoding/json reads them.
func Check(schema map[string]any, doc any) []Problem {
	c := &check{}
	c.value(schema, doc, nil)
	return c.found
}

// known are the keywords that Check applies, and those that constrain nothing.
var known = []string{"type", "const", "enum", "maxProperties", "required", "properties", "propertyNames", "additionalProperties",
	"minItems", "maxItems", "uniqueItems", "items", "minLength", "maxLength", "pattern", "minimum", "exclusiveMinimum", "maximum",
	"allOf", "if", "then", "$schema", "title", "description", "default"}

// Unknown lists the keywords of a schema that Check would ignore, other than those that start with
// x-.
func Unknown(schema map[string]any) []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		if !slices.Contains(known, key) && !strings.HasPrefix(key, "x-") {
			list = append(list, key)
		}
		switch v := schema[key].(type) {
		case map[string]any:
			if key == "properties" {
				for _, name := range slices.Sorted(maps.Keys(v)) {
					inner, _ := v[name].(map[string]any)
					list = append(list, Unknown(inner)...)
				}
			} else if slices.Contains(known, key) && key != "const" {
				list = append(list, Unknown(v)...)
			}
		case []any:
			for _, part := range v {
				if inner, ok := part.(map[string]any); ok && key == "allOf" {
					list = append(list, Unknown(inner)...)
				}
			}
		}
	}
	return list
}

// check is a comparison.
type check struct{ found []Problem }

func (c *check) add(at []string, keyword, format string, args ...any) {
	c.found = append(c.found, Problem{slices.Clone(at), keyword, fmt.Sprintf(format, args...)})
}

// value compares a value with a schema. A value of another type has no other problem.
func (c *check) value(schema map[string]any, v any, at []string) {
	if want, ok := schema["type"].(string); ok && !is(want, v) {
		c.add(at, "type", "expected %s, but got %s", want, typeOf(v))
		return
	}
	if want, ok := schema["const"]; ok && !reflect.DeepEqual(want, v) {
		c.add(at, "const", "value must be %#v", want)
	}
	if words, ok := schema["enum"].([]any); ok && !contains(words, v) {
		c.add(at, "enum", "%s", oneOf(words))
	}
	switch v := v.(type) {
	case map[string]any:
		c.object(schema, v, at)
	case []any:
		c.array(schema, v, at)
	case string:
		c.text(schema, v, at)
	case float64:
		c.number(schema, v, at)
	}
	c.conditions(schema, v, at)
}

// conditions compares a value with the schemas of allOf, and with then where if accepts the value.
func (c *check) conditions(schema map[string]any, v any, at []string) {
	parts, _ := schema["allOf"].([]any)
	for _, part := range parts {
		if inner, ok := part.(map[string]any); ok {
			c.value(inner, v, at)
		}
	}
	condition, conditional := schema["if"].(map[string]any)
	if then, ok := schema["then"].(map[string]any); ok && conditional && len(Check(condition, v)) == 0 {
		c.value(then, v, at)
	}
}

func (c *check) object(schema, v map[string]any, at []string) {
	if most, ok := schema["maxProperties"].(float64); ok && len(v) > int(most) {
		c.add(at, "maxProperties", "maximum %d properties allowed, but found %d properties", int(most), len(v))
	}
	c.required(schema, v, at)
	keys := slices.Sorted(maps.Keys(v))
	properties, _ := schema["properties"].(map[string]any)
	var others []string
	for _, key := range keys {
		inner, named := properties[key].(map[string]any)
		if !named {
			others = append(others, key)
			continue
		}
		c.value(inner, v[key], append(at, key))
	}
	if names, ok := schema["propertyNames"].(map[string]any); ok {
		for _, key := range keys {
			c.value(names, key, append(at, key))
		}
	}
	switch allowed := schema["additionalProperties"].(type) {
	case bool:
		if !allowed && len(others) > 0 {
			c.add(at, "additionalProperties", "additionalProperties %s not allowed", quoted(others))
		}
	case map[string]any:
		for _, key := range others {
			c.value(allowed, v[key], append(at, key))
		}
	}
}

func (c *check) required(schema, v map[string]any, at []string) {
	list, _ := schema["required"].([]any)
	var missing []string
	for _, name := range list {
		key, _ := name.(string)
		if _, there := v[key]; !there {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		c.add(at, "required", "missing properties: %s", quoted(missing))
	}
}

func (c *check) array(schema map[string]any, v []any, at []string) {
	if least, ok := schema["minItems"].(float64); ok && len(v) < int(least) {
		c.add(at, "minItems", "minimum %d items required, but found %d items", int(least), len(v))
	}
	if most, ok := schema["maxItems"].(float64); ok && len(v) > int(most) {
		c.add(at, "maxItems", "maximum %d items required, but found %d items", int(most), len(v))
	}
	if schema["uniqueItems"] == true {
		c.unique(v, at)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		for i, item := range v {
			c.value(items, item, append(at, strconv.Itoa(i)))
		}
	}
}

// unique reports the first item that is there twice.
func (c *check) unique(v []any, at []string) {
	texts := map[string]int{} // comparing the texts of a long list with each other would take long
	for i, item := range v {
		before := -1
		if s, ok := item.(string); ok {
			if j, twice := texts[s]; twice {
				before = j
			}
			texts[s] = i
		} else {
			before = slices.IndexFunc(v[:i], func(other any) bool { return reflect.DeepEqual(other, item) })
		}
		if before >= 0 {
			c.add(at, "uniqueItems", "items at index %d and %d are equal", before, i)
			return
		}
	}
}

func (c *check) text(schema map[string]any, v string, at []string) {
	n := utf8.RuneCountInString(v)
	if least, ok := schema["minLength"].(float64); ok && n < int(least) {
		c.add(at, "minLength", "length must be >= %d, but got %d", int(least), n)
	}
	if most, ok := schema["maxLength"].(float64); ok && n > int(most) {
		c.add(at, "maxLength", "length must be <= %d, but got %d", int(most), n)
	}
	pattern, ok := schema["pattern"].(string)
	if !ok {
		return
	}
	if re, err := regexp.Compile(pattern); err != nil || !re.MatchString(v) { // a pattern that is wrong matches nothing
		c.add(at, "pattern", "does not match pattern %s", quote(pattern))
	}
}

func (c *check) number(schema map[string]any, v float64, at []string) {
	for _, bound := range []struct {
		keyword, relation string
		holds             func(limit float64) bool
	}{
		{"minimum", ">=", func(limit float64) bool { return v >= limit }},
		{"exclusiveMinimum", ">", func(limit float64) bool { return v > limit }},
		{"maximum", "<=", func(limit float64) bool { return v <= limit }},
	} {
		if limit, ok := schema[bound.keyword].(float64); ok && !bound.holds(limit) {
			c.add(at, bound.keyword, "must be %s %v but found %v", bound.relation, limit, v)
		}
	}
}

// is reports whether a value has a type of JSON schemas.
func is(want string, v any) bool {
	if n, ok := v.(float64); ok && want == "integer" {
		return n == math.Trunc(n)
	}
	return typeOf(v) == want
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func contains(list []any, v any) bool {
	return slices.ContainsFunc(list, func(other any) bool { return reflect.DeepEqual(other, v) })
}

// oneOf describes the allowed values.
func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprintf("%#v", v)
	}
	if len(words) == 1 {
		return "value must be " + words[0]
	}
	return "value must be one of " + strings.Join(words, ", ")
}

func quoted(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = quote(name)
	}
	return strings.Join(list, ", ")
}

// quote puts a string in single quotes.
func quote(s string) string {
	s = strconv.Quote(s)
	s = strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(s, `'`, `\'`) + "'"
}
