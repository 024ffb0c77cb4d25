package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// schemaOf compiles a schema of the OpenAPI document as JSON Schema 2020-12, which OpenAPI 3.1
// uses.
func schemaOf(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource("https://example.com/api.json", strings.NewReader(string(api.OpenAPI))); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://example.com/api.json#/components/schemas/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemasCompile(t *testing.T) {
	var d struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(api.OpenAPI, &d); err != nil {
		t.Fatal(err)
	}
	for name := range d.Components.Schemas {
		schemaOf(t, name)
	}
}

// What the server answers is what the description says.
func TestAnswersAreAsDescribed(t *testing.T) {
	b := newBench(t)
	q, second := b.ask("s1", 1, time.Minute), b.ask("s1", 2, time.Minute)
	b.ask("s2", 3, time.Minute)
	b.stop("s2")
	for _, c := range []struct {
		method, path string
		doc          any
		schema       string
	}{
		{http.MethodGet, "/v1/approvals", nil, "questions"},
		{http.MethodGet, "/v1/approvals/" + q.ID, nil, "request"},
		{http.MethodGet, "/v1/sessions", nil, "sessions"},
		{http.MethodGet, "/v1/sessions/s1", nil, "sessionDetail"},
		{http.MethodPost, "/v1/review", `{"tool":"Bash","args":{"command":"ls"}}`, "review"},
		{http.MethodPost, "/v1/approvals/" + q.ID + "/answer", api.Answer{Digest: q.Digest, Approve: true}, "answered"},
		{http.MethodPost, "/v1/approvals/" + q.ID + "/answer", api.Answer{Digest: q.Digest, Approve: true}, "error"},
		{http.MethodPost, "/v1/approvals/answer", api.Bulk{Answers: []api.BulkAnswer{{ID: q.ID, Digest: q.Digest}, {ID: second.ID, Digest: second.Digest}}}, "bulkResults"},
	} {
		_, _, text := b.request(c.method, c.path, c.doc)
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := schemaOf(t, c.schema).Validate(v); err != nil {
			t.Errorf("%s %s: %v\n%.300s", c.method, c.path, err, text)
		}
	}
}

// Each refusal that was seen in TestRefusedRequests is described.
func TestRefusalsAreDescribed(t *testing.T) {
	for _, op := range api.Operations() {
		if op.Takes != nil && !slices.Contains(op.Refuses, http.StatusUnsupportedMediaType) {
			t.Error(fmt.Sprint(op.ID, " does not say that a body must be JSON"))
		}
	}
}
