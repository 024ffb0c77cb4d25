package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// The description of the API is what its operations and types say today.
func TestOpenAPIIsCurrent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "openapi.json")
	if err := writeOpenAPI(file, "../.."); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(api.OpenAPI), string(want)); diff != "" {
		t.Errorf("engine/serve/api/openapi.json is out of date; run go generate ./schemas\n%s", diff)
	}
}

// openAPIDocument has what OpenAPI 3.1 demands of a document.
type openAPIDocument struct {
	OpenAPI string
	Info    struct{ Title, Version string }
	Paths   map[string]map[string]struct {
		OperationID string `json:"operationId"`
		Parameters  []struct {
			Name, In string
			Required bool
			Schema   map[string]any
		}
		RequestBody *struct{ Content map[string]any }
		Responses   map[string]struct{ Description string }
		Security    *[]map[string][]string
	}
	Components struct {
		Schemas         map[string]any
		SecuritySchemes map[string]struct{ Type, Scheme, In, Name string }
	}
}

func TestOpenAPIIsValid(t *testing.T) {
	var d openAPIDocument
	if err := json.Unmarshal(api.OpenAPI, &d); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.OpenAPI, "3.1.") || d.Info.Title == "" || d.Info.Version == "" {
		t.Errorf("%s, %+v", d.OpenAPI, d.Info)
	}
	for name, s := range d.Components.SecuritySchemes {
		if !(s.Type == "http" && s.Scheme != "" || s.Type == "apiKey" && s.In == "header" && s.Name != "") {
			t.Errorf("security scheme %s: %+v", name, s)
		}
	}
	count := 0
	for path, methods := range d.Paths {
		for method, op := range methods {
			count++
			at := strings.ToUpper(method) + " " + path
			i := slices.IndexFunc(api.Operations(), func(o api.Operation) bool { return o.ID == op.OperationID })
			if i < 0 || api.Operations()[i].Method+" "+api.Operations()[i].Path != at {
				t.Errorf("%s is not an operation of the server", at)
			}
			for status, r := range op.Responses {
				if len(status) != 3 || r.Description == "" {
					t.Errorf("%s: response %s", at, status)
				}
			}
			for _, p := range op.Parameters {
				if p.Schema == nil || p.In == "path" && (!p.Required || !strings.Contains(path, "{"+p.Name+"}")) {
					t.Errorf("%s: parameter %+v", at, p)
				}
			}
			if op.Security != nil {
				for _, one := range *op.Security {
					for name := range one {
						if _, known := d.Components.SecuritySchemes[name]; !known {
							t.Errorf("%s: no security scheme %s", at, name)
						}
					}
				}
			}
		}
	}
	if count != len(api.Operations()) {
		t.Errorf("%d operations, %d in the server", count, len(api.Operations()))
	}
	for _, ref := range strings.Split(string(api.OpenAPI), `"#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(ref, `"`)
		if _, known := d.Components.Schemas[name]; !known {
			t.Errorf("no schema %s", name)
		}
	}
}
