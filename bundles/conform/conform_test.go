package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// settings returns the schema of settings, as a value and compiled by the library.
func settings(t testing.TB) (map[string]any, *jsonschema.Schema) {
	t.Helper()
	raw, err := os.ReadFile("../../schemas/settings.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	return schema, library(t, raw)
}

func library(t testing.TB, raw []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// theirs lists what the library finds, in the same form as ours.
func theirs(t testing.TB, s *jsonschema.Schema, doc any) []string {
	t.Helper()
	var wrong *jsonschema.ValidationError
	if err := s.Validate(doc); err != nil && !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	var list []string
	var leaves func(e *jsonschema.ValidationError)
	leaves = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			keyword := e.KeywordLocation[strings.LastIndexByte(e.KeywordLocation, '/')+1:]
			list = append(list, fmt.Sprintf("%s %s: %s", unescaped(e.InstanceLocation), keyword, sorted(e.Message)))
		}
		for _, c := range e.Causes {
			leaves(c)
		}
	}
	if wrong != nil {
		leaves(wrong)
	}
	slices.Sort(list)
	return list
}

func ours(schema map[string]any, doc any) []string {
	var list []string
	for _, p := range Check(schema, doc) {
		list = append(list, fmt.Sprintf("%s %s: %s", strings.Join(p.At, "/"), p.Keyword, p.Message))
	}
	slices.Sort(list)
	return list
}

// unescaped returns the keys of a JSON pointer, as the library writes it.
func unescaped(pointer string) string {
	at, err := url.PathUnescape(strings.TrimPrefix(pointer, "/"))
	if err != nil {
		return pointer
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(at)
}

// sorted orders the names of keys that are not allowed, which the library lists in any order.
func sorted(message string) string {
	names, ok := strings.CutPrefix(message, "additionalProperties ")
	if !ok {
		return message
	}
	list := strings.Split(strings.TrimSuffix(names, " not allowed"), ", ")
	slices.Sort(list)
	return "additionalProperties " + strings.Join(list, ", ") + " not allowed"
}

func compare(t testing.TB, schema map[string]any, s *jsonschema.Schema, doc any) int {
	t.Helper()
	want, got := theirs(t, s, doc), ours(schema, doc)
	if !slices.Equal(got, want) {
		raw, _ := json.Marshal(doc)
		t.Errorf("%.300s\nfound\n\t%s\nwant\n\t%s", raw, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	return len(want)
}

// The schema of settings has no keyword that would be ignored.
func TestKeywords(t *testing.T) {
	schema, _ := settings(t)
	if list := Unknown(schema); len(list) > 0 {
		t.Errorf("not checked: %s", list)
	}
	for _, text := range []string{`{"oneOf": []}`, `{"properties": {"a": {"format": "date"}}}`, `{"items": {"contains": {}}}`,
		`{"additionalProperties": {"multipleOf": 2}}`, `{"allOf": [{"not": {}}]}`, `{"if": {"dependentRequired": {}}}`} {
		var schema map[string]any
		if err := json.Unmarshal([]byte(text), &schema); err != nil {
			t.Fatal(err)
		}
		if len(Unknown(schema)) != 1 {
			t.Errorf("%s: unknown %s", text, Unknown(schema))
		}
	}
}

// Documents that fit the schema of settings, and such that do not, give the same problems in
// the same words as the library.
func TestSettings(t *testing.T) {
	schema, s := settings(t)
	r, wrong := rand.New(rand.NewPCG(1, 2)), 0
	for range 400 {
		wrong += compare(t, schema, s, made(r, schema, 6))
	}
	if wrong < 1000 {
		t.Errorf("only %d problems", wrong)
	}
}

// made makes a value for a schema, of which a part does not fit.
func made(r *rand.Rand, schema map[string]any, depth int) any {
	if r.IntN(12) == 0 || depth == 0 {
		return []any{nil, true, 3.0, -1.5, 1e9, "", "x", "two words", []any{}, []any{"a", "a"}, map[string]any{"k": 1.0}}[r.IntN(11)]
	}
	if words, ok := schema["enum"].([]any); ok && r.IntN(4) > 0 {
		return words[r.IntN(len(words))]
	}
	switch schema["type"] {
	case "object":
		return object(r, schema, depth)
	case "array":
		list := []any{}
		items, _ := schema["items"].(map[string]any)
		for range r.IntN(4) {
			list = append(list, made(r, items, depth-1))
		}
		return list
	case "string":
		return []any{"smtp", "telegram", "sms", "12:00", "abc", "a b", strings.Repeat("ä", 300), "/srv/shop", "acme.rule", "it's \"so\""}[r.IntN(10)]
	case "boolean":
		return r.IntN(2) == 0
	}
	return []any{0.0, 1.0, 0.5, 2.5, 100.0, 1e6, -3.0}[r.IntN(7)]
}

func object(r *rand.Rand, schema map[string]any, depth int) any {
	doc := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		if node, ok := properties[key].(map[string]any); ok && r.IntN(3) == 0 {
			doc[key] = made(r, node, depth-1)
		}
	}
	if others, ok := schema["additionalProperties"].(map[string]any); ok {
		for _, key := range []string{"own", "Own key", "read", "x1"} {
			if r.IntN(3) == 0 {
				doc[key] = made(r, others, depth-1)
			}
		}
	} else if r.IntN(10) == 0 {
		doc["unknown"], doc["other"] = 1.0, "x"
	}
	return doc
}

// Each keyword at its limits.
func TestLimits(t *testing.T) {
	for text, docs := range map[string]string{
		`{"type": "integer"}`:                           `[1, 1.0, 1.5, "1", null]`,
		`{"minimum": 1, "maximum": 2}`:                  `[0.9, 1, 2, 2.1, "x"]`,
		`{"exclusiveMinimum": 0}`:                       `[0, 0.1, -1]`,
		`{"minLength": 1, "maxLength": 2}`:              `["", "a", "äö", "abc"]`,
		`{"pattern": "^a'"}`:                            `["a'", "b", "\"b\""]`,
		`{"minItems": 1, "maxItems": 2}`:                `[[], [1], [1, 2], [1, 2, 3]]`,
		`{"uniqueItems": true}`:                         `[[1, 1], ["a", "b", "a", "b"], [[1], [1]], [{"a": 1}, {"a": 2}], [1, true]]`,
		`{"enum": ["a", true]}`:                         `["a", true, "b", null, 1]`,
		`{"enum": ["a"]}`:                               `["b"]`,
		`{"const": "a"}`:                                `["a", "b"]`,
		`{"maxProperties": 1}`:                          `[{}, {"a": 1, "b": 2}]`,
		`{"required": ["a", "b"]}`:                      `[{}, {"a": 1}, {"a": 1, "b": 1}]`,
		`{"propertyNames": {"pattern": "^[a-z]$"}}`:     `[{"a": 1}, {"A": 1, "bb": 2}]`,
		`{"additionalProperties": {"type": "string"}}`:  `[{"a": 1}, {"a": "x"}]`,
		`{"properties": {"a": {"type": "object"}}}`:     `[{"a": 1, "b": 2}]`,
		`{"if": {"required": ["a"]}, "then": false}`:    `[{"b": 1}]`,
		`{"allOf": [{"minimum": 1}, {"maximum": 0.5}]}`: `[0.7, 2]`,
	} {
		var schema map[string]any
		var list []any
		if err := errors.Join(json.Unmarshal([]byte(text), &schema), json.Unmarshal([]byte(docs), &list)); err != nil {
			t.Fatal(err)
		}
		s := library(t, []byte(text))
		for _, doc := range list {
			compare(t, schema, s, doc)
		}
	}
}
