package cases

import (
	"maps"

	"github.com/agent-reviewer/reviewer/engine"
)

// Schema returns the JSON Schema of a case file's document, for editors. It describes the
// keys and their types; Parse checks that an event is only one thing and that a case has
// expectations.
func (Case) Schema(title string) map[string]any {
	kinds := kinds()
	event, expect := fields(kinds["event"]), fields(kinds["expect"])
	row := map[string]any{"name": text(), "todo": text()}
	maps.Copy(row, event)
	maps.Copy(row, expect)
	kinds["event"], kinds["row"] = withTools(event), withTools(row)
	kinds["result"] = either(map[string]any{"enum": []string{"ok", "failed"}}, kinds["result"])
	kinds["form"] = either(text(), map[string]any{"type": "object"})
	kinds["file"] = either(text(), map[string]any{"type": "null"}, object(map[string]any{"link": text()}, "link"),
		object(map[string]any{"same": text()}, "same"))
	fields(kinds["case"])["git"] = map[string]any{"type": "object", "additionalProperties": map[string]any{"enum": GitStates()}}
	one := map[string]any{"$ref": "#/definitions/case"}
	return map[string]any{
		"$schema": engine.SchemaDraft, "title": title, "definitions": kinds,
		"anyOf": []any{one, map[string]any{"type": "array", "items": one}},
	}
}

// kinds returns the schemas of the types that a case consists of, by name.
func kinds() map[string]any {
	schema := engine.Schema(Case{}, "")
	all := map[string]any{}
	if parts, ok := schema["definitions"].(map[string]any); ok {
		maps.Copy(all, parts)
	}
	all["case"] = object(fields(schema), "name")
	return all
}

func text() map[string]any { return map[string]any{"type": "string"} }

func either(schemas ...any) map[string]any { return map[string]any{"anyOf": schemas} }

func object(fields map[string]any, required ...string) map[string]any {
	return map[string]any{"type": "object", "properties": fields, "required": required, "additionalProperties": false}
}

// fields returns the keys of an object's schema; none if it is not an object.
func fields(schema any) map[string]any {
	o, _ := schema.(map[string]any)
	f, _ := o["properties"].(map[string]any)
	return f
}

// withTools returns an object in which a key may be the name of a tool.
func withTools(fields map[string]any) map[string]any {
	return map[string]any{
		"type": "object", "properties": fields, "additionalProperties": false,
		"patternProperties": map[string]any{"^[A-Z]|__": map[string]any{"type": []string{"string", "object"}}},
	}
}
