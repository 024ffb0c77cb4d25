package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func startModel(t *testing.T, script Script) *Model {
	t.Helper()
	m, err := StartModel(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func post(t *testing.T, m *Model, path, body string) string {
	t.Helper()
	res, err := http.Post(m.URL()+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Only requests that offer tools use up steps, streaming or not.
func TestModelAnswersInOrder(t *testing.T) {
	m := startModel(t, Script{Shell("ls"), {Say: "Fine."}})
	const tools = `"tools":[{}],"messages":[{"role":"user","content":"hi"}]`
	for _, c := range []struct{ body, want string }{
		{`{"messages":[]}`, `"stop_reason":"end_turn"`},
		{`{` + tools + `}`, `"type":"tool_use","id":"` + CallID(1, 1)},
		{`{"messages":[]}`, `"text":"Shop"`},
		{`{"stream":true,` + tools + `}`, `"delta":{"text":"Fine.","type":"text_delta"}`},
		{`{` + tools + `}`, `"text":"Done."`},
	} {
		if got := post(t, m, "/v1/messages", c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s\nanswered %s\nwant %s", c.body, got, c.want)
		}
	}
	if got := len(m.Requests()); got != 3 {
		t.Errorf("kept %d requests, want the 3 that offer tools", got)
	}
}

func TestModelStreamsCalls(t *testing.T) {
	m := startModel(t, Script{Shell("ls")})
	got := post(t, m, "/v1/messages", `{"stream":true,"tools":[{}]}`)
	for _, want := range []string{
		"event: message_start\n", `"content_block":{"id":"` + CallID(1, 1), `"partial_json":"{\"command\":\"ls\"`,
		`"stop_reason":"tool_use"`, "event: message_stop\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestModelAnswersTheRest(t *testing.T) {
	m := startModel(t, nil)
	if got := post(t, m, "/v1/messages/count_tokens", `{}`); !strings.Contains(got, "input_tokens") {
		t.Errorf("count_tokens answered %s", got)
	}
	res, err := http.Head(m.URL() + "/")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("HEAD answered %s", res.Status)
	}
}

// What the model is told is what came after its own last words.
func TestTold(t *testing.T) {
	m := startModel(t, nil)
	post(t, m, "/v1/messages", `{"tools":[{}],"messages":[
		{"role":"user","content":"old"},{"role":"assistant","content":[{"type":"tool_use","id":"x"}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","is_error":true,"content":[{"type":"text","text":"denied"}]}]},
		{"role":"user","content":"a reminder"}]}`)
	r := m.Requests()[0]
	if got, want := r.Told(), "denied\na reminder"; got != want {
		t.Errorf("Told() = %q, want %q", got, want)
	}
	if got := r.Results(); len(got) != 1 || got[0] != (Result{Call: "x", Text: "denied", IsError: true}) {
		t.Errorf("Results() = %+v", got)
	}
}
