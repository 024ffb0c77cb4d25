package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/schemas"
)

// forAuthors lists the schemas of what authors of policies read and write: each
// of their fields has a sentence and an example.
func forAuthors() []string {
	return []string{"input.json", "event.json", "action.json", "finding.json", "rule.json", "detector.json", "access.json", "case.json",
		"rego-finding.json", "exception.json", "manifest.json"}
}

func parsed(t *testing.T, file string) map[string]any {
	t.Helper()
	raw, err := schemas.FS.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// eachProperty visits the properties of all objects of a schema, with their
// places as fragments of an address.
func eachProperty(node any, at string, visit func(at string, schema map[string]any)) {
	switch n := node.(type) {
	case map[string]any:
		properties, _ := n["properties"].(map[string]any)
		for name, p := range properties {
			visit(at+"/properties/"+name, p.(map[string]any))
		}
		for key, below := range n {
			if key != "examples" {
				eachProperty(below, at+"/"+key, visit)
			}
		}
	case []any:
		for i, below := range n {
			eachProperty(below, at+"/"+string(rune('0'+i)), visit)
		}
	}
}

func TestEachFieldIsDescribed(t *testing.T) {
	for _, file := range forAuthors() {
		eachProperty(parsed(t, file), "#", func(at string, schema map[string]any) {
			said, _ := schema["description"].(string)
			if !strings.HasSuffix(said, ".") || len(said) < len("A word.") {
				t.Errorf("%s %s: %q is not a sentence; write one as the comment of the field in Go", file, at, said)
			}
			if list, _ := schema["examples"].([]any); len(list) == 0 {
				t.Errorf("%s %s has no example; give one in %s", file, at, examplesFile)
			}
		})
	}
}

// An example is what the field may hold; what an object in it leaves out does
// not matter.
func TestExamplesConform(t *testing.T) {
	for _, file := range forAuthors() {
		doc := parsed(t, file)
		raw, err := json.Marshal(without(doc, "required"))
		if err != nil {
			t.Fatal(err)
		}
		eachProperty(doc, "#", func(at string, schema map[string]any) {
			for _, example := range schema["examples"].([]any) {
				if err := conforms(file+at, file, raw, example); err != nil {
					t.Errorf("%s %s: %v", file, at, err)
				}
			}
		})
	}
}

func conforms(at, file string, schema []byte, v any) error {
	c := jsonschema.NewCompiler()
	if err := c.AddResource(file, bytes.NewReader(schema)); err != nil {
		return err
	}
	s, err := c.Compile(at)
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// without drops a key from all objects of a document.
func without(node any, key string) any {
	switch n := node.(type) {
	case map[string]any:
		less := map[string]any{}
		for k, v := range n {
			if _, list := v.([]any); k != key || !list {
				less[k] = without(v, key)
			}
		}
		return less
	case []any:
		less := []any{}
		for _, v := range n {
			less = append(less, without(v, key))
		}
		return less
	}
	return node
}

// No example outlives its field.
func TestExamplesAreOfFields(t *testing.T) {
	say, err := newDescriber("../..")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, d := range documents() {
		engine.EachStruct(reflect.TypeOf(d.of), func(typ reflect.Type, fields []engine.JSONField) {
			for _, f := range fields {
				known[typ.String()+"."+f.Name] = true
			}
		})
	}
	for typ, fields := range say.examples {
		for name := range fields {
			if !known[typ+"."+name] {
				t.Errorf("%s: unknown field %s.%s", examplesFile, typ, name)
			}
		}
	}
}

// What has no examples is not for authors, and stays as it is.
func TestOtherTypesStayBare(t *testing.T) {
	type bare struct {
		Name string `json:"name"`
	}
	say, err := newDescriber("../..")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := engine.SchemaJSON(bare{}, "bare")
	if err == nil {
		schema, err = say.describe(schema, bare{})
	}
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(schema), "description") || strings.Contains(string(schema), "examples") {
		t.Errorf("%s", schema)
	}
}

// Each setting has a sentence, or is a cell of a table, whose entries the section
// above describes together.
func TestSettingsAreDescribed(t *testing.T) {
	var visit func(at string, node map[string]any, table bool)
	visit = func(at string, node map[string]any, table bool) {
		_, refused := node["x-unavailable"]
		said, _ := node["description"].(string)
		properties, _ := node["properties"].(map[string]any)
		if len(properties) == 0 && !refused && said == "" && !table {
			t.Errorf("settings.json: %s has no description", at)
		}
		for key, below := range properties {
			name := strings.TrimPrefix(at+"."+key, ".")
			visit(name, below.(map[string]any), table && said == "" || said != "" && strings.Contains(at, ".") || at == "matrix")
		}
	}
	visit("", parsed(t, "settings.json"), false)
}
