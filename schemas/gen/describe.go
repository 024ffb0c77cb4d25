package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/cases"
)

// examplesFile has an example of each field that policy authors use.
const examplesFile = "schemas/gen/examples.yaml"

// describer adds descriptions and examples to schemas, for the types that have
// examples: those that policy authors read or write.
type describer struct {
	*comments
	examples map[string]map[string]any // package.Type -> JSON name of the field -> example
}

func newDescriber(top string) (*describer, error) {
	raw, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(examplesFile)))
	if err != nil {
		return nil, err
	}
	d := &describer{comments: newComments(top)}
	if err := yaml.Unmarshal(raw, &d.examples); err != nil {
		return nil, fmt.Errorf("%s: %w", examplesFile, err)
	}
	return d, nil
}

// describe returns the schema of a type with descriptions of its fields.
func (d *describer) describe(schema []byte, of any) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(schema, &doc); err != nil {
		return nil, err
	}
	root := reflect.TypeOf(of)
	named := definitions(root)
	if err := d.object(doc, root); err != nil {
		return nil, err
	}
	below, _ := doc["definitions"].(map[string]any)
	for name, definition := range below {
		if err := d.object(definition, named[name]...); err != nil {
			return nil, err
		}
	}
	b, err := json.MarshalIndent(doc, "", "  ")
	return append(b, '\n'), err
}

// definitions maps the names of a schema's definitions to types. A row of a case's
// table is an event with its expectations.
func definitions(root reflect.Type) map[string][]reflect.Type {
	all := map[string][]reflect.Type{}
	engine.EachStruct(root, func(t reflect.Type, _ []engine.JSONField) {
		name := strings.ToLower(t.Name()[:1]) + t.Name()[1:]
		all[name] = append(all[name], t)
	})
	if root == reflect.TypeFor[cases.Case]() {
		all["row"] = []reflect.Type{reflect.TypeFor[cases.Event](), reflect.TypeFor[cases.Expect](), root}
	}
	return all
}

// object describes the properties of a schema that any of the types has. If the
// schema has several forms, it describes those that are objects.
func (d *describer) object(schema any, types ...reflect.Type) error {
	s, _ := schema.(map[string]any)
	if forms, ok := s["anyOf"].([]any); ok {
		for _, form := range forms {
			if err := d.object(form, types...); err != nil {
				return err
			}
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for _, t := range types {
		for _, f := range engine.JSONFields(t) {
			property, ok := properties[f.Name].(map[string]any)
			if _, known := property["description"]; !ok || known {
				continue
			}
			if err := d.property(property, t, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *describer) property(schema map[string]any, t reflect.Type, f engine.JSONField) error {
	example, ok := d.examples[t.String()][f.Name]
	if !ok {
		return nil
	}
	said, err := d.field(t, f.Index)
	if err != nil {
		return err
	}
	schema["examples"] = []any{example}
	if said != "" {
		schema["description"] = said
	}
	return nil
}
