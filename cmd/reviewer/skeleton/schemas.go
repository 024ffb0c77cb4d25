package skeleton

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/schemas"
)

// SchemaFolder is the folder of a policy in which editors find the JSON Schemas of its files. It does not
// belong to the policy: nothing in it is read, signed or built.
const SchemaFolder = ".schema"

// schemaNames maps the first element of a file's path to the schema of its documents.
func schemaNames() map[string]string {
	return map[string]string{"settings.yaml": "settings", "rules": "rule", "patterns": "rule", "cases": "case", "access": "access"}
}

// SchemaLine is the first line of a new file of a policy: it tells editors which schema the file has. It is
// empty for files without one.
func SchemaLine(file string) string {
	first, _, _ := strings.Cut(file, "/")
	schema := schemaNames()[first]
	if schema == "" || path.Ext(file) != ".yaml" {
		return ""
	}
	return "# yaml-language-server: $schema=" + strings.Repeat("../", strings.Count(file, "/")) + SchemaFolder + "/" + schema + ".json\n"
}

// Schemas returns the files of SchemaFolder. A file of rules, cases or access lists has one document or a list of them.
func Schemas() ([]File, error) {
	var list []File
	for _, name := range []string{"access", "case", "rule", "settings"} {
		raw, err := schemas.FS.ReadFile(name + ".json")
		if err != nil {
			return nil, fmt.Errorf("read schema %s: %w", name, err)
		}
		if name == "rule" || name == "access" {
			if raw, err = oneOrMany(name, raw); err != nil {
				return nil, fmt.Errorf("schema %s: %w", name, err)
			}
		}
		list = append(list, File{Name: SchemaFolder + "/" + name + ".json", Text: string(raw)})
	}
	return list, nil
}

// oneOrMany turns the schema of a document into that of a document or a list of documents.
func oneOrMany(name string, raw []byte) ([]byte, error) {
	var one map[string]any
	if err := json.Unmarshal(raw, &one); err != nil {
		return nil, err
	}
	many := map[string]any{"$schema": one["$schema"], "title": one["title"]}
	definitions, _ := one["definitions"].(map[string]any)
	if definitions == nil {
		definitions = map[string]any{}
	}
	for _, key := range []string{"$schema", "title", "definitions"} {
		delete(one, key)
	}
	definitions[name] = one
	ref := map[string]any{"$ref": "#/definitions/" + name}
	many["definitions"] = definitions
	many["anyOf"] = []any{ref, map[string]any{"type": "array", "items": ref}}
	out, err := json.MarshalIndent(many, "", "  ")
	return append(out, '\n'), err
}
