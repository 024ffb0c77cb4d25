package scripted

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

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

// Each protocol answers with the script's calls, streamed or not, and only requests that
// offer tools use up a step.
func TestModelSpeaks(t *testing.T) {
	const gemini = "/v1beta/models/gemini-2.5-flash"
	for _, c := range []struct{ path, body, call, end string }{
		{"/v1/responses", `{"tools":[{}]`, `"arguments":"{\"cmd\":\"ls\"}"`, `"response.completed"`},
		{"/v1/responses", `{"input":[{"type":"additional_tools"}]`, `"arguments":"{\"cmd\":\"ls\"}"`, `"response.completed"`},
		{"/v1/chat/completions", `{"tools":[{}]`, `"arguments":"{\"cmd\":\"ls\"}"`, "[DONE]"},
		{"/v1/messages", `{"tools":[{}]`, `"tool_use"`, `"message_stop"`},
		{gemini + ":generateContent", `{"tools":[{}]`, `"functionCall"`, ""},
		{gemini + ":streamGenerateContent", `{"tools":[{}]`, `"functionCall"`, ""},
	} {
		for _, stream := range []string{"false", "true"} {
			m, err := Start(Script{{Say: "Working.", Calls: []Call{{Tool: "shell", Input: fields{"cmd": "ls"}}}}})
			if err != nil {
				t.Fatal(err)
			}
			title := post(t, m, c.path, `{"model":"m"}`)
			body := c.body + `,"stream":` + stream + "}"
			first, second := post(t, m, c.path, body), post(t, m, c.path, body)
			if !strings.Contains(title, "Shop") || !strings.Contains(first, c.call) || !strings.Contains(second, "Done.") {
				t.Errorf("%s %s:\n%s\n%s\n%s", c.path, body, title, first, second)
			}
			streamed := stream == "true" && !strings.HasSuffix(c.path, ":generateContent") || strings.HasSuffix(c.path, ":streamGenerateContent")
			wantEncoding(t, first, streamed, c.end)
			if n := len(m.Requests()); n != 2 {
				t.Errorf("%s: kept %d requests, want the 2 that offer tools", c.path, n)
			}
			m.Close()
		}
	}
}

// wantEncoding asserts that an answer is one document, or a stream of them with an end.
func wantEncoding(t *testing.T, answer string, streamed bool, end string) {
	t.Helper()
	if !streamed {
		if !json.Valid([]byte(answer)) {
			t.Errorf("not a document: %s", answer)
		}
		return
	}
	if !strings.Contains(answer, end) {
		t.Errorf("no %s in %s", end, answer)
	}
	for lines := bufio.NewScanner(strings.NewReader(answer)); lines.Scan(); {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if is && data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Errorf("not a document: %s", data)
		}
	}
}

// A custom call is one whose input is a string.
func TestModelCustomCall(t *testing.T) {
	m, err := Start(Script{{Say: "Working.", Calls: []Call{{Tool: "apply_patch", Custom: true, Input: "*** Begin Patch\n"}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	got := post(t, m, "/v1/responses", `{"tools":[{}],"stream":true}`)
	for _, want := range []string{"event: response.custom_tool_call_input.done\n", `"input":"*** Begin Patch\n"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestModelAnswersTheRest(t *testing.T) {
	m, err := Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for path, want := range map[string]string{"/v1/models": ModelName, "/v1/models/" + ModelName: ModelName, "/v1/messages/count_tokens": "input_tokens"} {
		if got := post(t, m, path, `{}`); !strings.Contains(got, want) {
			t.Errorf("%s answered %s", path, got)
		}
	}
}
