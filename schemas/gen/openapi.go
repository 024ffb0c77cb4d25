package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// writeOpenAPI writes the description of the HTTP API. top is the root of the module.
func writeOpenAPI(file, top string) error {
	b, err := openAPI(top)
	if err != nil {
		return fmt.Errorf("describe the API: %w", err)
	}
	return os.WriteFile(file, b, 0o644)
}

// openAPI makes an OpenAPI document of the API's operations and the types of their documents.
func openAPI(top string) ([]byte, error) {
	parts := &apiParts{comments: newComments(top), schemas: map[string]any{}, types: map[string]reflect.Type{}}
	paths := map[string]any{}
	errorRef, err := parts.ref(api.Error{})
	if err != nil {
		return nil, err
	}
	for _, op := range api.Operations() {
		described, err := parts.operation(op, errorRef)
		if err != nil {
			return nil, err
		}
		methods, _ := paths[op.Path].(map[string]any)
		if methods == nil {
			methods = map[string]any{}
			paths[op.Path] = methods
		}
		methods[strings.ToLower(op.Method)] = described
	}
	parts.vocabularies()
	doc := map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{"title": "reviewer", "version": "1",
			"description": "The HTTP API of the resident process (reviewer serve --http), on the loopback interface."},
		"servers":  []any{map[string]any{"url": "http://127.0.0.1:9470"}},
		"security": []any{map[string]any{"token": []any{}}},
		"paths":    paths,
		"components": map[string]any{"schemas": parts.schemas, "securitySchemes": map[string]any{
			"token": map[string]any{"type": "http", "scheme": "bearer",
				"description": "The contents of the file api.token in the state directory."},
			"code": map[string]any{"type": "apiKey", "in": "header", "name": api.CodeHeader,
				"description": "The code of `reviewer approvals code`."},
		}},
	}
	b, err := json.MarshalIndent(doc, "", "  ")
	return append(b, '\n'), err
}

// apiParts are the schemas of an OpenAPI document.
type apiParts struct {
	*comments
	schemas map[string]any
	types   map[string]reflect.Type // by the name of their schema
}

var pathParameter = engine.Regexp(`\{(\w+)\}`)

func (p *apiParts) operation(op api.Operation, errorRef any) (map[string]any, error) {
	described := map[string]any{"operationId": op.ID, "summary": op.Summary}
	security := map[string]any{"token": []any{}}
	if op.Code {
		security["code"] = []any{}
		described["security"] = []any{security}
	}
	if op.Open {
		described["security"] = []any{}
	}
	var parameters []any
	for _, m := range pathParameter().FindAllStringSubmatch(op.Path, -1) {
		parameters = append(parameters, parameter("path", m[1], true, "id of the question or session"))
	}
	if op.ID == api.StreamEvents {
		parameters = append(parameters, parameter("header", "Last-Event-ID", false, "id of the last event that the client has"))
	}
	if parameters != nil {
		described["parameters"] = parameters
	}
	if op.Takes != nil {
		schema, err := p.takes(op)
		if err != nil {
			return nil, err
		}
		described["requestBody"] = map[string]any{"required": true, "content": jsonContent(schema)}
	}
	responses, err := p.responses(op, errorRef)
	described["responses"] = responses
	return described, err
}

func jsonContent(schema any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

func parameter(in, name string, required bool, what string) map[string]any {
	return map[string]any{"in": in, "name": name, "required": required, "description": what, "schema": map[string]any{"type": "string"}}
}

// takes returns the schema of a request's document.
func (p *apiParts) takes(op api.Operation) (any, error) {
	if op.ID == api.ReviewEvent {
		return map[string]any{"type": "object", "description": "A hook input of Claude Code, or an event of reviewer: " +
			"id, tool, args, cwd, project, mode, t, phase (pre or post), result."}, nil
	}
	return p.ref(op.Takes)
}

func (p *apiParts) responses(op api.Operation, errorRef any) (map[string]any, error) {
	success := map[string]any{"description": "done"}
	responses := map[string]any{"200": success}
	switch {
	case op.ID == api.StreamEvents:
		ref, err := p.ref(api.Event{})
		if err != nil {
			return nil, err
		}
		success["description"] = "Server-Sent Events; the data of each is one JSON document"
		success["content"] = map[string]any{"text/event-stream": map[string]any{"schema": ref}}
	case op.Gives == nil:
		success["content"] = jsonContent(map[string]any{"type": "object"})
	default:
		ref, err := p.ref(op.Gives)
		if err != nil {
			return nil, err
		}
		success["content"] = jsonContent(ref)
	}
	refuses := append([]int{403}, op.Refuses...)
	if !op.Open {
		refuses = append(refuses, 401, 500)
	}
	for _, status := range refuses {
		responses[strconv.Itoa(status)] = map[string]any{"description": "refused", "content": jsonContent(errorRef)}
	}
	return responses, nil
}

// ref adds the schemas of a type and of those in it, and returns a reference to its own.
func (p *apiParts) ref(of any) (any, error) {
	t := reflect.TypeOf(of)
	schema := engine.Schema(of, "")
	definitions, _ := schema["definitions"].(map[string]any)
	delete(schema, "definitions")
	delete(schema, "$schema")
	delete(schema, "title")
	own := schemaName(t)
	if err := p.name(t); err != nil {
		return nil, err
	}
	p.schemas[own] = schema
	maps.Copy(p.schemas, definitions)
	for _, name := range append(slices.Sorted(maps.Keys(definitions)), own) {
		if err := p.describe(p.schemas[name], p.types[name]); err != nil {
			return nil, err
		}
	}
	b, err := json.Marshal(p.schemas)
	if err != nil {
		return nil, err
	}
	text := strings.ReplaceAll(string(b), "#/definitions/", "#/components/schemas/")
	p.schemas = map[string]any{}
	return map[string]any{"$ref": "#/components/schemas/" + own}, json.Unmarshal([]byte(text), &p.schemas)
}

// name notes the types in a type under the names of their schemas.
func (p *apiParts) name(t reflect.Type) (err error) {
	engine.EachStruct(t, func(t reflect.Type, _ []engine.JSONField) {
		name := schemaName(t)
		if known := p.types[name]; known != nil && known != t {
			err = fmt.Errorf("%s and %s would have the same schema", known, t)
		}
		p.types[name] = t
	})
	return err
}

func schemaName(t reflect.Type) string { return strings.ToLower(t.Name()[:1]) + t.Name()[1:] }

// describe adds the comments of a type's fields to its schema.
func (p *apiParts) describe(schema any, t reflect.Type) error {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	if t == nil || properties == nil {
		return nil
	}
	for _, f := range engine.JSONFields(t) {
		said, err := p.field(t, f.Index)
		property, ok := properties[f.Name].(map[string]any)
		if err != nil {
			return fmt.Errorf("%s: %w", path.Base(t.PkgPath()), err)
		}
		if ok && said != "" {
			property["description"] = said
		}
	}
	return nil
}

// vocabularies adds the values of texts that have a fixed set of them.
func (p *apiParts) vocabularies() {
	for where, values := range map[[2]string][]string{{"error", "code"}: api.Codes(), {"event", "kind"}: api.EventKinds()} {
		schema, _ := p.schemas[where[0]].(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		if property, ok := properties[where[1]].(map[string]any); ok {
			property["enum"] = values
		}
	}
}
