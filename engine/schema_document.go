package engine

import (
	"encoding/json"
	"reflect"
	"slices"
)

// DocumentSchema is Schema for the output of commands with -f json: an object
// with "v", the version of its form, before the fields of its type.
func DocumentSchema(v any, title string) map[string]any {
	root := Schema(v, title)
	properties := root["properties"].(map[string]any)
	required := root["required"].([]string)
	properties["v"] = map[string]any{"type": "integer", "const": 1}
	if !slices.Contains(required, "v") {
		root["required"] = append([]string{"v"}, required...)
	}
	return root
}

// DocumentSchemaJSON returns DocumentSchema as indented JSON.
func DocumentSchemaJSON(v any, title string) ([]byte, error) {
	b, err := json.MarshalIndent(DocumentSchema(v, title), "", "  ")
	return append(b, '\n'), err
}

// ListDocument is the type of a document whose only field is a list of items of a type,
// under a name.
func ListDocument(name string, item any) any {
	field := reflect.StructField{Name: "List", Type: reflect.SliceOf(reflect.TypeOf(item)), Tag: reflect.StructTag(`json:"` + name + `"`)}
	return reflect.New(reflect.StructOf([]reflect.StructField{field})).Elem().Interface()
}
