package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// Calls have the ids that tests expect, and what the model is told is what came after its own
// last words.
func TestModel(t *testing.T) {
	m, err := StartModel(Script{Shell("ls")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	m.FirstStep = 3
	body := `{"tools":[{}],"messages":[
		{"role":"user","content":"old"},{"role":"assistant","content":[{"type":"tool_use","id":"x"}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","is_error":true,"content":[{"type":"text","text":"denied"}]}]},
		{"role":"user","content":"a reminder"}]}`
	answer, err := http.Post(m.URL()+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got := readAll(t, answer.Body); !strings.Contains(got, CallID(4, 1)) || !strings.Contains(got, `"command":"ls"`) {
		t.Errorf("answered %s", got)
	}
	requests, err := m.Requests()
	if err != nil || len(requests) != 1 {
		t.Fatalf("%d requests, %v", len(requests), err)
	}
	if got, want := requests[0].Told(), "denied\na reminder"; got != want {
		t.Errorf("Told() = %q, want %q", got, want)
	}
	if got := requests[0].Results(); len(got) != 1 || got[0] != (Result{Call: "x", Text: "denied", IsError: true}) {
		t.Errorf("Results() = %+v", got)
	}
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
