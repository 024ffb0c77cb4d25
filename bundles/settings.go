package bundles

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/schemas"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// setting is a node of schemas/settings.json as far as merging reads it.
type setting struct {
	Merge      string              `json:"x-merge"`
	Ascending  []string            `json:"x-ascending"`
	Order      []any               `json:"x-order"` // mildest first; else the order of enum
	Enum       []any               `json:"enum"`
	Properties map[string]*setting `json:"properties"`
}

const settingsSchema = "settings.json"

func settingsTree() (*setting, error) {
	raw, err := schemas.FS.ReadFile(settingsSchema)
	if err != nil {
		return nil, fmt.Errorf("read the settings schema: %w", err)
	}
	var s setting
	return &s, json.Unmarshal(raw, &s)
}

// mergeSettings joins the base layer's settings with those of the others, and
// notes in origin which layer a changed value comes from.
func mergeSettings(layers []*Bundle, origin map[string]string) (map[string]any, error) {
	base, _ := layers[0].Data["reviewer"].(map[string]any)
	if base == nil {
		return nil, errors.New("data.yaml: the base layer has no key reviewer")
	}
	if len(layers) == 1 && layers[0].checked {
		return maps.Clone(base), nil // at no cost to a hook
	}
	tree, err := settingsTree()
	if err != nil {
		return nil, err
	}
	if err := tree.validateAll(layers, base); err != nil {
		return nil, err
	}
	m := merger{origin: origin, set: map[string]bool{}}
	merged := normal(base).(map[string]any)
	for _, l := range layers[1:] {
		m.layer = l
		m.object("", tree, merged, normal(l.Settings).(map[string]any))
	}
	m.ascending("", tree, merged)
	return merged, errors.Join(m.errs...)
}

// normal gives every number one Go type, so that values of YAML and JSON compare.
func normal(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return map[string]any{}
	}
	var out any
	if json.Unmarshal(raw, &out) != nil || out == nil {
		return map[string]any{}
	}
	return out
}

// validateAll compares the settings of all layers with the schema.
func (s *setting) validateAll(layers []*Bundle, base map[string]any) error {
	var errs []error
	for i, l := range layers {
		settings := l.Settings
		if i == 0 {
			settings = base
		}
		if !l.checked {
			errs = append(errs, s.validate(l, settings))
		}
	}
	return errors.Join(errs...)
}

// validate compares a layer's settings with the schema. Each error is
// file:line: setting: what is wrong.
func (s *setting) validate(b *Bundle, doc map[string]any) error {
	schema, err := compileSettings()
	if err != nil {
		return err
	}
	unknown := map[string]error{}
	s.unknown("", doc, unknown)
	var wrong *jsonschema.ValidationError
	if err := schema.Validate(normal(doc)); err != nil && !errors.As(err, &wrong) {
		return err
	}
	found := maps.Clone(unknown)
	explain(wrong, func(at string, e *jsonschema.ValidationError) {
		if !strings.HasSuffix(e.KeywordLocation, "/additionalProperties") || !anyBelow(unknown, at) {
			found[at] = errors.Join(found[at], errors.New(e.Message))
		}
	})
	var errs []error
	for _, at := range slices.Sorted(maps.Keys(found)) {
		errs = append(errs, fmt.Errorf("%s: %s: %w", b.where(at), orRoot(at), found[at]))
	}
	return errors.Join(errs...)
}

func compileSettings() (*jsonschema.Schema, error) {
	raw, err := schemas.FS.ReadFile(settingsSchema)
	if err != nil {
		return nil, fmt.Errorf("read the settings schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(settingsSchema, strings.NewReader(string(raw))); err != nil {
		return nil, fmt.Errorf("load the settings schema: %w", err)
	}
	schema, err := c.Compile(settingsSchema)
	if err != nil {
		return nil, fmt.Errorf("compile the settings schema: %w", err)
	}
	return schema, nil
}

// unknown notes keys that no setting has, with the one that was meant.
func (s *setting) unknown(at string, doc map[string]any, found map[string]error) {
	for key, v := range doc {
		path := strings.TrimPrefix(at+"."+key, ".")
		node := s.Properties[key]
		if node == nil {
			found[path] = fmt.Errorf("unknown key %s", unknown(key, slices.Sorted(maps.Keys(s.Properties))))
			continue
		}
		if sub, ok := v.(map[string]any); ok && node.Properties != nil {
			node.unknown(path, sub, found)
		}
	}
}

// anyBelow says whether a key of the object at a path is among those found.
func anyBelow(found map[string]error, at string) bool {
	for path := range found {
		if path[:max(0, strings.LastIndexByte(path, '.'))] == at {
			return true
		}
	}
	return false
}

// explain calls say for each leaf of a validation error.
func explain(e *jsonschema.ValidationError, say func(at string, e *jsonschema.ValidationError)) {
	if e == nil {
		return
	}
	if len(e.Causes) == 0 {
		say(strings.ReplaceAll(strings.TrimPrefix(e.InstanceLocation, "/"), "/", "."), e)
	}
	for _, c := range e.Causes {
		explain(c, say)
	}
}

func orRoot(at string) string {
	if at == "" {
		return "(top)"
	}
	return at
}

// merger joins one layer's settings into what the layers before it came to.
type merger struct {
	layer  *Bundle
	origin map[string]string
	set    map[string]bool // paths that a layer above this one has set
	errs   []error
}

func (m *merger) object(at string, s *setting, into, from map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(from)) {
		path := strings.TrimPrefix(at+"."+key, ".")
		node := s.Properties[key]
		if node == nil {
			node = &setting{}
		}
		if sub, ok := from[key].(map[string]any); ok && node.Properties != nil {
			next, ok := into[key].(map[string]any)
			if !ok {
				next = map[string]any{}
				into[key] = next
			}
			m.object(path, node, next, sub)
			continue
		}
		m.value(path, node, into, key, from[key])
	}
}

func (m *merger) value(path string, s *setting, into map[string]any, key string, v any) {
	switch {
	case s.Merge == "":
		m.errs = append(m.errs, fmt.Errorf("%s: %s: only the base layer may set this", m.layer.where(path), path))
		return
	case s.Merge == "replace" && m.layer.Layer == Project:
		m.errs = append(m.errs, fmt.Errorf("%s: %s: the project layer may not set this, since the agent can write it", m.layer.where(path), path))
		return
	}
	before := into[key]
	if m.layer.Layer == Project || m.set[path] || s.Merge == "union" {
		v = s.combine(before, v)
	}
	m.set[path] = true
	if !reflect.DeepEqual(before, v) {
		into[key], m.origin[path] = v, m.layer.Layer
	}
}

// combine joins the value so far with a layer's, towards strictness.
func (s *setting) combine(a, b any) any {
	switch s.Merge {
	case "min":
		return min(number(a), number(b))
	case "max":
		return max(number(a), number(b))
	case "union":
		return union(list(a), list(b))
	case "intersect":
		return slices.DeleteFunc(slices.Clone(list(a)), func(v any) bool { return !slices.Contains(list(b), v) })
	case "strictest":
		if s.rank(b) > s.rank(a) {
			return b
		}
		return a
	}
	return b
}

func (s *setting) rank(v any) int {
	if s.Order != nil {
		return slices.Index(s.Order, v)
	}
	return slices.Index(s.Enum, v)
}

func number(v any) float64 {
	f, _ := v.(float64)
	return f
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func union(a, b []any) []any {
	out := slices.Clone(a)
	for _, v := range b {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// ascending checks that thresholds are in order after everything is merged.
func (m *merger) ascending(at string, s *setting, doc map[string]any) {
	for i := 1; i < len(s.Ascending); i++ {
		low, high := s.Ascending[i-1], s.Ascending[i]
		if number(doc[low]) > number(doc[high]) {
			m.errs = append(m.errs, fmt.Errorf("settings: %s.%s (%v) is above %s.%s (%v): levels are out of order", at, low, doc[low], at, high, doc[high]))
		}
	}
	for key, node := range s.Properties {
		if sub, ok := doc[key].(map[string]any); ok {
			m.ascending(strings.TrimPrefix(at+"."+key, "."), node, sub)
		}
	}
}
