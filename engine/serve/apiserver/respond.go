package apiserver

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// finish writes a document or an error, and counts the request.
func (s *Server) finish(w http.ResponseWriter, operation string, doc any, refused *refusal) {
	status := http.StatusOK
	if refused != nil {
		status, doc = refused.status, &refused.Error
	}
	if doc != nil {
		write(w, status, doc)
	}
	if s.Counted != nil {
		s.Counted(operation, status)
	}
}

func write(w http.ResponseWriter, status int, doc any) {
	b, isText := doc.([]byte)
	if !isText {
		var err error
		if b, err = json.Marshal(doc); err != nil {
			status = http.StatusInternalServerError
			b = []byte(`{"code":"unavailable","error":"the answer could not be written","do":"report this"}`)
		}
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(bytes.Clone(b), '\n')) // a client that is gone has no use for it
}

// read decodes the document of a request strictly: a misspelt key must not be taken for an
// absent one.
func read(r *http.Request, into any) *refusal {
	b, refused := body(r)
	if refused != nil {
		return refused
	}
	if _, err := engine.Canonical(b); err != nil {
		return badDocument("the document is not JSON, or has a duplicate key")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil || !exactKeys(b) {
		return badDocument("the document has unknown keys or values of another type")
	}
	return nil
}

// exactKeys reports whether no key is one that is only similar to a key of the API, which the
// decoder would accept: "Approve", or one with another letter for s.
func exactKeys(b []byte) bool {
	d := json.NewDecoder(bytes.NewReader(b))
	var exact func() bool
	exact = func() bool {
		open, err := d.Token()
		if delim, ok := open.(json.Delim); err != nil || !ok {
			return err == nil
		} else if delim == '{' {
			for d.More() {
				key, _ := d.Token()
				if name, _ := key.(string); strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" || !exact() {
					return false
				}
			}
		} else {
			for d.More() {
				if !exact() {
					return false
				}
			}
		}
		_, err = d.Token()
		return err == nil
	}
	return exact()
}

func badDocument(what string) *refusal {
	return refuse(http.StatusBadRequest, api.CodeDocument, what, "see GET /v1/openapi.json for its form")
}

func (s *Server) openAPI(http.ResponseWriter, *http.Request) (any, *refusal) {
	return bytes.TrimSpace(api.OpenAPI), nil
}

// unavailable hides why the state directory cannot be used: an error can name files.
func unavailable() *refusal {
	return refuse(http.StatusInternalServerError, api.CodeUnavailable, "the state directory cannot be used", "run `reviewer doctor`")
}
