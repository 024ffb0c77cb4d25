package cases

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
)

// decoder fills Go values from YAML. It is strict: it reports anything that it does not
// know, with its place, and continues to find further problems.
type decoder struct {
	file     string
	above    int // lines of the file above the YAML
	problems []error
}

// formed is a type with its own form in YAML.
type formed interface {
	form(d *decoder, n *yaml.Node, name string)
}

func (d *decoder) wrong(n *yaml.Node, format string, args ...any) {
	d.problems = append(d.problems, &Problem{d.file, d.line(n), n.Column, fmt.Sprintf(format, args...)})
}

// Problem is an error in a file of cases. Its text contains the line; the column is for
// callers that show it as well.
type Problem struct {
	File      string
	Line, Col int // from 1; 0: unknown
	Message   string
}

func (p *Problem) Error() string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	case strings.HasPrefix(p.Message, "is "):
		return p.File + " " + p.Message // about the file as a whole
	}
	return p.File + ": " + p.Message
}

func (d *decoder) line(n *yaml.Node) int { return d.above + max(1, n.Line) }

// into fills v from n, the value of the key name.
func (d *decoder) into(v reflect.Value, n *yaml.Node, name string) {
	if f, ok := v.Addr().Interface().(formed); ok {
		f.form(d, n, name)
		return
	}
	d.plain(v, n, name)
}

func (d *decoder) plain(v reflect.Value, n *yaml.Node, name string) {
	switch kind := v.Kind(); {
	case n.Kind == yaml.AliasNode:
		d.wrong(n, "%s: aliases are not allowed here; write the value in full", name)
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		d.wrong(n, "%s is empty; give it a value or leave it out", name)
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.into(v.Elem(), n, name)
	case kind == reflect.Struct:
		d.object(v, n, name)
	case kind == reflect.Slice:
		d.list(v, n, name)
	case kind == reflect.Map:
		d.table(v, n, name)
	case kind == reflect.Interface:
		d.anything(v, n, name)
	default:
		d.scalar(v, n, name)
	}
}

func (d *decoder) object(v reflect.Value, n *yaml.Node, name string) {
	fields := map[string]engine.JSONField{}
	var known, missing []string
	for _, f := range engine.JSONFields(v.Type()) {
		fields[f.Name] = f
		known = append(known, f.Name)
		if !f.Omit {
			missing = append(missing, f.Name)
		}
	}
	if d.isRule(v, n, known) {
		return
	}
	for key, value := range d.pairs(n, name) {
		f, ok := fields[key.Value]
		if !ok {
			d.unknown(v, key, known)
			continue
		}
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == key.Value })
		d.into(v.Field(f.Index), value, key.Value)
		d.vocabulary(v.Field(f.Index), value, key.Value, engine.FieldValues(v.Type(), f))
	}
	for _, m := range missing {
		d.wrong(n, "%s: %s is missing", name, m)
	}
}

// isRule reports a rule among the cases as one problem, instead of each of its keys.
func (d *decoder) isRule(v reflect.Value, n *yaml.Node, known []string) bool {
	if _, isCase := v.Interface().(Case); !isCase || n.Kind != yaml.MappingNode {
		return false
	}
	id := false
	for i := 0; i < len(n.Content); i += 2 {
		if slices.Contains(known, n.Content[i].Value) {
			return false
		}
		id = id || n.Content[i].Value == "id"
	}
	if id {
		d.wrong(n, "this is a rule, and a rule belongs in a file under rules/; a case has a name, and events")
	}
	return id
}

// unknown reports an unknown key of an object; for an event it also suggests where the key
// belongs.
func (d *decoder) unknown(v reflect.Value, key *yaml.Node, known []string) {
	_, isCase := v.Interface().(Case)
	if isCase && key.Value == "expect" {
		d.wrong(key, "expect belongs to an event, as in events: [{Bash: ls, expect: {decision: allow}}]")
		return
	}
	if _, isEvent := v.Interface().(Event); isEvent && slices.Contains(expectations(), key.Value) {
		d.wrong(key, "%s belongs under expect, such as expect: {%s: …}", key.Value, key.Value)
		return
	}
	d.wrong(key, "unknown key %s", engine.Suggest(key.Value, known))
}

// pairs yields the keys and values of an object, each key once.
func (d *decoder) pairs(n *yaml.Node, name string) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			d.wrong(n, "%s: expected keys with values, got %s", name, kindOf(n))
			return
		}
		first := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			line, twice := first[key.Value]
			switch {
			case key.Kind != yaml.ScalarNode || key.Tag != "!!str":
				d.wrong(key, "%s: the key %s is not a string; quote it", name, key.Value)
			case twice:
				d.wrong(key, "duplicate key %s, first in line %d", key.Value, line)
			default:
				first[key.Value] = d.line(key)
				if !yield(key, n.Content[i+1]) {
					return
				}
			}
		}
	}
}

// vocabulary reports words that a field does not allow; known nil: any word is allowed.
func (d *decoder) vocabulary(v reflect.Value, n *yaml.Node, name string, known []string) {
	if known == nil || v.IsZero() {
		return
	}
	words := []string{}
	switch v.Kind() {
	case reflect.String:
		words = append(words, v.String())
	case reflect.Slice:
		for i := range v.Len() {
			words = append(words, v.Index(i).String())
		}
	}
	for _, w := range words {
		if !slices.Contains(known, w) {
			d.wrong(n, "%s: unknown word %s", name, engine.Suggest(w, known))
		}
	}
}

func (d *decoder) list(v reflect.Value, n *yaml.Node, name string) {
	if n.Kind != yaml.SequenceNode {
		d.wrong(n, "%s: expected a list such as [a, b], got %s", name, kindOf(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.into(v.Index(i), item, name)
	}
}

func (d *decoder) table(v reflect.Value, n *yaml.Node, name string) {
	v.Set(reflect.MakeMap(v.Type()))
	for key, value := range d.pairs(n, name) {
		item := reflect.New(v.Type().Elem()).Elem()
		d.into(item, value, name+"."+key.Value)
		v.SetMapIndex(reflect.ValueOf(key.Value), item)
	}
}

func (d *decoder) scalar(v reflect.Value, n *yaml.Node, name string) {
	if n.Kind != yaml.ScalarNode {
		d.wrong(n, "%s: expected %s, got %s", name, wanted(v.Kind()), kindOf(n))
		return
	}
	if v.Kind() == reflect.String {
		if n.Value == "" {
			d.wrong(n, "%s is empty; give it a value or leave it out", name)
		}
		v.SetString(n.Value)
		return
	}
	if n.Tag == "!!str" || n.Decode(v.Addr().Interface()) != nil || v.Kind() == reflect.Float64 && !finite(v.Float()) {
		d.wrong(n, "%s: expected %s, got %q", name, wanted(v.Kind()), n.Value)
	}
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// anything decodes any value that JSON can represent.
func (d *decoder) anything(v reflect.Value, n *yaml.Node, name string) {
	before := len(d.problems)
	d.json(n, name)
	if len(d.problems) > before {
		return
	}
	var value any
	if err := n.Decode(&value); err != nil {
		d.wrong(n, "%s: %v", name, err)
	} else if value != nil {
		v.Set(reflect.ValueOf(value))
	}
}

func (d *decoder) json(n *yaml.Node, name string) {
	var f float64
	switch {
	case n.Kind == yaml.AliasNode:
		d.wrong(n, "%s: aliases are not allowed here; write the value in full", name)
	case n.Kind == yaml.MappingNode:
		for key, value := range d.pairs(n, name) {
			d.json(value, name+"."+key.Value)
		}
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			d.json(item, name)
		}
	case n.Tag == "!!timestamp", n.Tag == "!!binary":
		d.wrong(n, "%s: %s is not a string; quote it", name, n.Value)
	case n.Tag == "!!float" && (n.Decode(&f) != nil || !finite(f)):
		d.wrong(n, "%s: expected a finite number, got %s", name, n.Value)
	}
}

func wanted(k reflect.Kind) string {
	switch k {
	case reflect.Float64:
		return "a number"
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	}
	return "text"
}

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys with values (quote a string that contains ': ' or starts with {)"
	case n.Kind == yaml.SequenceNode:
		return "a list (quote a string that starts with [ or -)"
	case n.Tag == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%q", n.Value)
}
